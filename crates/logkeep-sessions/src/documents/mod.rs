//! JSON documents in files: one file a document, whole or not at all.
//!
//! A [`DocumentStore`] opens the `storage` folder of a data directory as coding
//! agents leave it. A document is read as it is or not at all: a write goes to a
//! file of its own, is synced, and takes the place of the old one in one step.
//! So readers need no lock, and a crash leaves the old or the new content.
//! Writers of one document wait for each other, in one process and between
//! processes ([`DocumentError::Locked`] after [`DocumentStore::PATIENCE`]).
//!
//! Opening a store changes nothing. Locks and files in the making live in the
//! folder `.logkeep` inside the root, which lists pass over. Migrations run when
//! asked: see [`migrate`].

mod error;
mod filesystem;
mod key;
mod listing;
pub mod migrate;
mod place;
mod quarantine;
mod replace;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use sha2::{Digest, Sha256};

pub use error::DocumentError;
pub use filesystem::network_file_system;
pub use key::{Key, Prefix};
pub use listing::{Listing, Order};
pub use quarantine::Quarantined;

use crate::json::{self, Json, Limits, SyntaxError};
use crate::lock::NameLock;
use place::Root;

/// Folder for locks, temporary files and what was set aside, inside the root.
const PRIVATE: &str = ".logkeep";

/// Documents below one root.
#[derive(Debug)]
pub struct DocumentStore {
    root: Root,
    swept: Once,
}

impl DocumentStore {
    /// How long a writer waits for another one before it gives up.
    pub const PATIENCE: Duration = Duration::from_secs(30);

    /// Opens the store of a data directory: its folder `storage`, which need not exist yet.
    ///
    /// # Errors
    /// [`DocumentError::NoDirectory`] when the data directory does not exist.
    pub fn open(data: &Path) -> Result<Self, DocumentError> {
        Ok(Self { root: Root::new(data)?, swept: Once::new() })
    }

    /// The folder all documents lie below.
    pub fn root(&self) -> &Path {
        &self.root.path
    }

    /// Reads a document (DS-012).
    ///
    /// # Errors
    /// [`DocumentError::NotFound`] only if there is no file; [`DocumentError::Corrupt`] if it is no JSON.
    pub fn read(&self, key: &Key) -> Result<Json, DocumentError> {
        let path = self.root.file(key)?;
        let file = File::open(path).map_err(|error| self.reading(key, error))?;
        match json::parse_reader(file, Limits::NONE) {
            Ok(parsed) => Ok(parsed.value),
            Err(SyntaxError::Io(error)) => Err(self.reading(key, error)),
            Err(reason) => Err(DocumentError::Corrupt { key: key.clone(), reason }),
        }
    }

    /// Writes a document, replacing what was there (DS-010).
    ///
    /// # Errors
    /// The old content stays when writing fails.
    pub fn write(&self, key: &Key, value: &Json) -> Result<(), DocumentError> {
        let _lock = self.lock(key)?;
        self.put(key, value)
    }

    /// Reads a document, lets `edit` change it, and writes it back (DS-016). Returns what was written.
    ///
    /// # Errors
    /// [`DocumentError::NotFound`] without calling `edit`; [`DocumentError::Edit`] when
    /// `edit` fails, with the document unchanged.
    pub fn update<E>(
        &self,
        key: &Key,
        edit: impl FnOnce(&mut Json) -> Result<(), E>,
    ) -> Result<Json, DocumentError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let _lock = self.lock(key)?;
        let mut value = self.read(key)?;
        edit(&mut value).map_err(|source| DocumentError::Edit { key: key.clone(), source: source.into() })?;
        self.put(key, &value)?;
        Ok(value)
    }

    /// Removes a document; one that is missing counts as removed (DS-017).
    ///
    /// # Errors
    /// Whatever the operating system reports beside "not found".
    pub fn remove(&self, key: &Key) -> Result<(), DocumentError> {
        let path = self.root.file(key)?;
        if matches!(fs::symlink_metadata(&path), Err(error) if error.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        let _lock = self.lock(key)?;
        match fs::remove_file(&path) {
            Ok(()) => replace::sync_folder_of(&path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(DocumentError::io(format!("removing {key}")))
    }

    /// Lists the documents below a prefix (DS-018 to DS-022).
    ///
    /// # Errors
    /// Only for the prefix itself; what fails below it is part of the [`Listing`].
    pub fn list(&self, prefix: &Prefix, order: Order) -> Result<Listing, DocumentError> {
        listing::list(&self.root, prefix, order)
    }

    /// Writes without taking the lock.
    fn put(&self, key: &Key, value: &Json) -> Result<(), DocumentError> {
        let path = self.root.file(key)?;
        replace::replace(&path, &self.private(key, "tmp"), value.pretty().as_bytes())
            .map_err(DocumentError::io(format!("writing {key}")))
    }

    fn lock(&self, key: &Key) -> Result<NameLock, DocumentError> {
        self.swept.call_once(|| self.sweep());
        let lock = NameLock::acquire(&self.private(key, "lock"), Self::PATIENCE)
            .map_err(DocumentError::io(format!("locking {key}")))?;
        lock.ok_or_else(|| DocumentError::Locked { key: key.clone() })
    }

    /// A file of our own that belongs to a key.
    fn private(&self, key: &Key, suffix: &str) -> PathBuf {
        let digest = Sha256::digest(key.joined());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.root.path.join(PRIVATE).join(format!("{name}.{suffix}"))
    }

    /// Removes temporary files that a dead process left (DS-042): those whose lock is free.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.root.path.join(PRIVATE)) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let stale = path.extension().is_some_and(|suffix| suffix == "tmp");
            if stale && let Ok(Some(_lock)) = NameLock::acquire(&path.with_extension("lock"), Duration::ZERO)
            {
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn reading(&self, key: &Key, error: io::Error) -> DocumentError {
        match error.kind() {
            io::ErrorKind::NotFound => DocumentError::NotFound { key: key.clone() },
            _ => DocumentError::io(format!("reading {key}"))(error),
        }
    }
}
