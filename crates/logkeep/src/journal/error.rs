//! What can go wrong with a journal.

use std::path::Path;

use crate::ids::IdError;

/// A journal operation failed; nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[error("{operation}: {cause}")]
pub struct JournalError {
    /// What was tried.
    pub operation: String,
    /// Why it failed.
    #[source]
    pub cause: Cause,
}

/// Why a journal operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// SQLite refused or the disk failed.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file was written by a newer version; holds its schema version and ours.
    #[error("the file has schema version {0}, this program knows versions up to {1}: update the program")]
    NewerVersion(u32, u32),
    /// The file is a database of something else.
    #[error("the file is a database, but not a Logkeep journal")]
    NotAJournal,
    /// The journal belongs to another store or identity.
    #[error(
        "it belongs to store {found_store:?} of identity {found_key:?}, not to store {store:?} of identity {key:?}"
    )]
    OtherScope {
        /// The store the journal is bound to.
        found_store: String,
        /// The public key the journal is bound to.
        found_key: String,
        /// The store that was asked for.
        store: String,
        /// The public key that was asked for.
        key: String,
    },
    /// A row that no version of this program writes.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A sequence beyond what a database can hold.
    #[error("sequence {0} is too large")]
    Sequence(u64),
    /// No id could be made for a local entry.
    #[error(transparent)]
    Ids(#[from] IdError),
}

/// Why a write or an import did not happen.
#[derive(Debug, thiserror::Error)]
pub enum WriteError<E> {
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The caller's own action failed; holds its error unchanged.
    #[error(transparent)]
    Action(E),
}

impl JournalError {
    pub(crate) fn during(operation: &str) -> impl FnOnce(Cause) -> Self {
        move |cause| Self { operation: operation.to_owned(), cause }
    }

    pub(crate) fn opening(path: &Path, cause: Cause) -> Self {
        Self { operation: format!("opening {}", path.display()), cause }
    }
}

/// A failure inside a transaction, before the operation's name is put to it.
pub(super) enum Failure<E> {
    Cause(Cause),
    Action(E),
}

impl<E> Failure<E> {
    pub(super) fn during(self, operation: &str) -> WriteError<E> {
        match self {
            Self::Cause(cause) => WriteError::Journal(JournalError::during(operation)(cause)),
            Self::Action(error) => WriteError::Action(error),
        }
    }
}

impl<E, C: Into<Cause>> From<C> for Failure<E> {
    fn from(cause: C) -> Self {
        Self::Cause(cause.into())
    }
}
