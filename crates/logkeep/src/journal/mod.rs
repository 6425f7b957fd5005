//! The journal: entries on a device, and how far each remote has got with them.
//!
//! A journal is one SQLite file (its layout: `docs/journal-format.md`) that belongs to one store
//! of one identity. Every method is one transaction: it happens in full or not at all. Methods
//! block; asynchronous callers run them on a thread of their own.
//!
//! - `write`: local entries get their ids and are stored together with what an action does.
//! - `import`: entries from a remote are stored, conflicts found, the cursor moved.
//! - `pending`, `uploaded`, `acknowledge`: what a remote does not have yet.
//! - `read`, `count`, `tail`: queries that stream their results.
//! - `import_effect`, `export_effect`: from and to the SQLite journal of effect.

mod conflicts;
mod effect;
mod error;
mod import;
mod progress;
mod query;
mod rows;
mod schema;
mod servers;
mod write;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::watch;

use crate::ids::IdSource;
use rows::Tags;

pub use effect::{EffectError, EffectExport, EffectImport, EffectTables};
pub use error::{Cause, JournalError, WriteError};
pub use import::{Anchored, Imported, Replay, Replayed};
pub use progress::{Pending, PendingLimits};
pub use query::{Inserted, Order, Query};
pub use schema::SCHEMA_VERSION;
pub use servers::Unopened;

/// An open journal.
pub struct Journal {
    connection: Connection,
    ids: Arc<IdSource>,
    tags: Tags,
    /// The highest position committed through this journal.
    commits: watch::Sender<i64>,
}

impl Journal {
    /// Opens the journal at `path` and creates it if it does not exist. Ids are taken from `ids`,
    /// usually [`IdSource::process`].
    ///
    /// # Errors
    /// If the file is no journal, was written by a newer version, or cannot be opened.
    pub fn open(path: impl AsRef<Path>, ids: Arc<IdSource>) -> Result<Self, JournalError> {
        let path = path.as_ref();
        let open = || Self::prepared(Connection::open(path)?, ids);
        open().map_err(|cause: Cause| JournalError::opening(path, cause))
    }

    /// A journal in memory, gone when it is dropped.
    ///
    /// # Errors
    /// Only if SQLite cannot allocate.
    pub fn in_memory(ids: Arc<IdSource>) -> Result<Self, JournalError> {
        let open = || Self::prepared(Connection::open_in_memory()?, ids);
        open().map_err(|cause: Cause| JournalError::opening(Path::new(":memory:"), cause))
    }

    fn prepared(mut connection: Connection, ids: Arc<IdSource>) -> Result<Self, Cause> {
        schema::prepare(&mut connection)?;
        let commits = watch::Sender::new(rows::latest_position(&connection)?);
        Ok(Self { connection, ids, tags: Tags::default(), commits })
    }

    /// Tells of every commit that stored entries through this journal, local or imported, by the
    /// position of the last one.
    pub fn commits(&self) -> watch::Receiver<i64> {
        self.commits.subscribe()
    }

    /// Forces everything committed so far to the disk. Without it, a power cut can take back the
    /// last commits (never parts of one, and never one without all later ones).
    ///
    /// # Errors
    /// If the disk fails; then nothing may be taken as durable.
    pub fn sync_to_disk(&mut self) -> Result<(), JournalError> {
        schema::sync_to_disk(&self.connection)
            .map_err(JournalError::during("forcing the journal to the disk"))
    }

    /// Removes all entries, all progress and the binding to a store; the schema stays.
    ///
    /// # Errors
    /// If the database fails.
    pub fn destroy(&mut self) -> Result<(), JournalError> {
        self.tags = Tags::default();
        schema::clear(&mut self.connection).map_err(JournalError::during("clearing the journal"))?;
        self.commits.send_replace(0);
        Ok(())
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("path", &self.connection.path()).finish_non_exhaustive()
    }
}
