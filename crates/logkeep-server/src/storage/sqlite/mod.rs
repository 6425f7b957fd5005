//! Storage in one SQLite database; the format is described in `docs/server-database.md`.

mod checkpoint;
mod error;
mod group;
mod ids;
mod open;
mod reader;
mod recent;
mod rows;
mod schema;
mod space;
mod splice;
mod stores;
mod upload;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use logkeep_protocol::RemoteId;
use rusqlite::Connection;

use super::{Reader, Storage, StorageError, Writer};
use checkpoint::{Checkpoints, Poison};
pub use open::OpenError;
use reader::SqliteReader;
use writer::SqliteWriter;

/// How a storage is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// What an acknowledged write survives.
    pub durability: Durability,
}

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process and of the power: each commit is synced to disk.
    #[default]
    Full,
    /// The end of the process only.
    Relaxed,
}

/// A storage in one SQLite database, on disk or in memory.
pub struct SqliteStorage {
    place: Place,
    options: Options,
    remote_id: RemoteId,
    writer_taken: AtomicBool,
}

enum Place {
    Disk {
        database: PathBuf,
        lock: Arc<File>,
    },
    /// One connection for all halves: a database in memory belongs to its connection.
    Memory(Handle),
}

/// A connection; only those of a storage in memory are shared.
#[derive(Clone)]
struct Handle {
    db: Arc<Mutex<Connection>>,
    /// The directory stays locked as long as any connection is open.
    _lock: Option<Arc<File>>,
}

impl Handle {
    fn new(db: Connection, lock: Option<&Arc<File>>) -> Self {
        Self { db: Arc::new(Mutex::new(db)), _lock: lock.cloned() }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqliteStorage {
    /// Opens the storage in the directory `dir`, creating what is missing. A new storage gets the remote id
    /// `fresh`; otherwise `fresh` is not used.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(dir: &Path, options: Options, fresh: RemoteId) -> Result<Self, OpenError> {
        let opened = open::open(dir, &options, fresh)?;
        let place = Place::Disk { database: opened.database, lock: Arc::new(opened.lock) };
        Ok(Self { place, options, remote_id: opened.remote_id, writer_taken: AtomicBool::new(false) })
    }

    /// Makes a storage with the remote id `fresh` that is gone when it is dropped.
    ///
    /// # Errors
    /// If SQLite fails.
    pub fn in_memory(fresh: RemoteId) -> Result<Self, StorageError> {
        let options = Options::default();
        let mut db = Connection::open_in_memory()?;
        open::configure_writer(&db, &options)?;
        let remote_id = open::create_or_migrate(&mut db, 0, fresh)?;
        let place = Place::Memory(Handle::new(db, None));
        Ok(Self { place, options, remote_id, writer_taken: AtomicBool::new(false) })
    }
}

impl Storage for SqliteStorage {
    fn remote_id(&self) -> RemoteId {
        self.remote_id
    }

    fn writer(&self) -> Result<Box<dyn Writer>, StorageError> {
        if self.writer_taken.swap(true, Ordering::AcqRel) {
            return Err(StorageError::Failed("the writing half was taken already".into()));
        }
        let poison = Poison::default();
        let (db, checkpoints) = match &self.place {
            Place::Disk { database, lock } => {
                let mut db = open::open_writer(database, &self.options)?;
                let checkpoints = Checkpoints::start(&mut db, database, &self.options, Arc::clone(&poison))?;
                (Handle::new(db, Some(lock)), Some(checkpoints))
            }
            Place::Memory(db) => (db.clone(), None),
        };
        Ok(Box::new(SqliteWriter::new(db, checkpoints, poison)?))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, StorageError> {
        let db = match &self.place {
            Place::Disk { database, lock } => Handle::new(open::open_reader(database)?, Some(lock)),
            Place::Memory(db) => db.clone(),
        };
        Ok(Box::new(SqliteReader::new(db)))
    }
}
