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
