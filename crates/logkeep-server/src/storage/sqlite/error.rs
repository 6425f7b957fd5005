//! What a failure of SQLite means to the caller.

use rusqlite::ffi;
use rusqlite::{Error, ErrorCode};

use crate::storage::StorageError;

impl From<Error> for StorageError {
    fn from(error: Error) -> Self {
        match &error {
            Error::SqliteFailure(failure, _) => match (failure.code, failure.extended_code) {
                (_, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC) => {
                    Self::Poisoned(error.to_string())
                }
                (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => Self::Damaged(error.to_string()),
                _ => Self::Failed(error.to_string()),
            },
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..) => Self::Damaged(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(code: i32) -> StorageError {
        Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    #[test]
    fn only_a_failed_sync_poisons() {
        assert!(matches!(meaning(ffi::SQLITE_IOERR_FSYNC), StorageError::Poisoned(_)));
        assert!(matches!(meaning(ffi::SQLITE_IOERR_DIR_FSYNC), StorageError::Poisoned(_)));
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_BUSY] {
            assert!(matches!(meaning(code), StorageError::Failed(_)), "{code}");
        }
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_CORRUPT_INDEX, ffi::SQLITE_NOTADB] {
            assert!(matches!(meaning(code), StorageError::Damaged(_)), "{code}");
        }
    }
}
