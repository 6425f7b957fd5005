//! What can go wrong with a document.

use std::io;
use std::path::PathBuf;

use super::Key;
use crate::json::SyntaxError;

/// Why an operation on a document failed.
///
/// Messages name keys, never absolute paths of the machine, so that they may
/// leave it (DS-012).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The elements do not form a key (DS-004). Nothing was touched.
    #[error("not a valid key: {reason} in element {element:?}")]
    InvalidKey {
        /// The element at fault; empty for the empty key.
        element: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no such document. Callers may take this as "create it".
    #[error("NotFoundError: document not found: {key}")]
    NotFound {
        /// The key asked for.
        key: Key,
    },
    /// The document exists, but is no JSON: empty, cut off, or overwritten (DS-014, DS-015).
    #[error("document {key} is damaged: {reason}")]
    Corrupt {
        /// The key asked for.
        key: Key,
        /// What was wrong and at which byte.
        reason: SyntaxError,
    },
    /// A symbolic link leads out of the store (DS-006).
    #[error("document {key} lies behind a link that leads out of the store")]
    Outside {
        /// The key asked for.
        key: Key,
    },
    /// The file system does not tell this key from one that is stored already (DS-005).
    #[error("document {key} would fall together with {stored:?}, which this file system cannot tell from it")]
    Collision {
        /// The key asked for.
        key: Key,
        /// The name as it is stored.
        stored: String,
    },
    /// Another writer held the document for too long.
    #[error("document {key} is locked by another writer")]
    Locked {
        /// The key asked for.
        key: Key,
    },
    /// The caller's edit failed; the document is unchanged.
    #[error("document {key} was not updated: {source}")]
    Edit {
        /// The key asked for.
        key: Key,
        /// What the edit said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The data directory, which must exist, does not.
    #[error("no data directory at {}", path.display())]
    NoDirectory {
        /// The directory asked for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{what} failed: {source}")]
    Io {
        /// The operation and its object.
        what: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl DocumentError {
    /// Tells which operation an error of the operating system belongs to.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
