//! The sessions of this device, in one SQLite file.
//!
//! The log of a session is the truth: every change is an event with the next
//! sequence number of its session, and the rows people see are what the events
//! make of it. Both are written in one transaction. `docs/sessions-database.md`
//! describes the file.

mod events;
mod project;
mod read;
mod relink;
mod schema;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use events::{LoggedEvent, SessionEvent};
pub use read::{MessageRow, PartRow, SessionLine};
pub use relink::{RelinkOptions, Relinked};
pub(crate) use write::SessionWriter;

use crate::documents::network_file_system;

/// Name of the database in a data directory.
pub const FILE_NAME: &str = "sessions.db";

/// Why the database of sessions could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A newer program wrote the file; this one leaves it alone.
    #[error("{} has schema version {found}; this program understands versions up to {known}", file.display())]
    Newer {
        /// The database.
        file: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version this program understands.
        known: i64,
    },
    /// The file is a database of another program.
    #[error("{} is not a database of sessions", file.display())]
    Foreign {
        /// The database.
        file: PathBuf,
    },
    /// A stored value is not what this program wrote.
    #[error("the database holds a damaged {what}")]
    Damaged {
        /// The value, by kind and id.
        what: String,
    },
    /// SQLite failed.
    #[error("database of sessions: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The data directory cannot be used.
    #[error("data directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// An open database of sessions.
#[derive(Debug)]
pub struct SessionStore {
    pub(crate) connection: Connection,
}

impl SessionStore {
    /// Opens the database of a data directory, creating both where they are missing.
    ///
    /// On a network file system, where SQLite's write-ahead log does not work, it
    /// uses a rollback journal.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Foreign`], and what SQLite and the operating system report.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Directory { path: directory.to_owned(), source };
        create_private(directory).map_err(failed)?;
        let file = directory.join(FILE_NAME);
        let connection = Connection::open(&file)?;
        let journal = if network_file_system(directory).is_some() { "DELETE" } else { "WAL" };
        Self::prepare(connection, &file, journal)
    }

    /// Opens a database that is gone when it is closed; large ones spill to a temporary file.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn temporary() -> Result<Self, StoreError> {
        Self::prepare(Connection::open("")?, Path::new("temporary"), "DELETE")
    }

    fn prepare(mut connection: Connection, file: &Path, journal: &str) -> Result<Self, StoreError> {
        connection.busy_timeout(std::time::Duration::from_secs(30))?;
        schema::check(&connection, file)?;
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        connection.set_prepared_statement_cache_capacity(64);
        schema::migrate(&mut connection)?;
        Ok(Self { connection })
    }
}

/// Creates a directory that other users may not look into.
fn create_private(directory: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
