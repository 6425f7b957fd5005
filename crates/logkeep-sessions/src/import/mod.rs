//! Taking over the sessions of OpenCode, iroder and their kin.
//!
//! [`import`] reads a data directory in whatever state it is (one folder a
//! project, one folder a kind of document, a database, or several of these) and
//! brings what changed since the last import into a [`SessionStore`]. The source
//! is not touched. What is damaged, doubled or orphaned is named in the
//! [`Report`] and stops nothing else.
//!
//! Each session is imported in a transaction of its own, so an import that is
//! killed leaves whole sessions, and the next one does the rest. The events an
//! import makes depend on nothing but the source: two machines that import the
//! same data have the same log.

mod beside;
mod contents;
mod database;
mod document;
mod documents;
mod early;
mod folder;
mod normalise;
mod plan;
mod report;
mod session;
mod tree;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use report::{Counts, Finding, Progress, Report};

use crate::lock::NameLock;
use crate::store::{SessionStore, StoreError};
use contents::Contents;
use plan::Plan;

/// What an import does.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Find out what would happen, and change nothing.
    pub dry_run: bool,
    /// Take over diffs of sessions.
    pub diffs: bool,
    /// Documents and rows larger than this many bytes lose their long strings,
    /// and diffs larger than this are left out.
    pub limit: usize,
    /// Folder for a copy of a database that cannot be read in place. It is created and removed again.
    /// Imports with the same folder run one after the other.
    pub scratch: PathBuf,
}

/// Why an import could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// There is no such source, or it cannot be looked into.
    #[error("cannot read {}: {source}", path.display())]
    Source {
        /// The source.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Another import into the same data directory is at work for too long.
    #[error("another import is running")]
    Busy,
    /// The folder for copies cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Scratch {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The database of sessions failed. What was imported before is kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports a data directory.
///
/// # Errors
/// [`ImportError::Source`] if there is nothing to read. What cannot be read
/// inside the source is no error but part of the report; see also [`Report::is_failure`].
pub fn import(
    source: &Path,
    store: &mut SessionStore,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, ImportError> {
    let failed = |error| ImportError::Source { path: source.to_owned(), source: error };
    let chosen = Chosen::of(source).map_err(failed)?;
    let _scratch = Scratch::take(&options.scratch)?;
    let mut importing = Importing {
        source: &chosen.directory,
        connection: &store.connection,
        report: Report::default(),
        limit: options.limit,
        dry_run: options.dry_run,
        database_sessions: HashMap::new(),
        database_projects: HashSet::new(),
        stored: HashSet::new(),
        progress,
        position: Progress { current: 0, total: 0 },
    };
    importing.begin_dry_run()?;
    let imported = importing.run(options, &chosen);
    importing.end_dry_run()?;
    imported?;
    Ok(importing.report)
}

/// The folder for copies, ours alone and empty.
struct Scratch {
    folder: PathBuf,
    _lock: NameLock,
}

impl Scratch {
    /// How long an import waits for another one.
    const PATIENCE: Duration = Duration::from_secs(600);

    fn take(folder: &Path) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Scratch { path: folder.to_owned(), source };
        let lock = NameLock::acquire(&folder.with_extension("lock"), Self::PATIENCE).map_err(failed)?;
        let lock = lock.ok_or(ImportError::Busy)?;
        let scratch = Self { folder: folder.to_owned(), _lock: lock };
        // What an import that was killed left behind.
        scratch.clear().map_err(failed)?;
        Ok(scratch)
    }

    fn clear(&self) -> std::io::Result<()> {
        if self.folder.exists() { std::fs::remove_dir_all(&self.folder) } else { Ok(()) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

/// What of a source is read.
struct Chosen {
    /// The data directory.
    directory: PathBuf,
    /// Only this database in it.
    database: Option<PathBuf>,
}

impl Chosen {
    /// A data directory; its folder `storage` stands for it, and a file for the database it is.
    fn of(source: &Path) -> std::io::Result<Self> {
        let source = &std::path::absolute(source)?;
        let around = source.parent().unwrap_or(source).to_owned();
        if std::fs::metadata(source)?.is_file() {
            return Ok(Self { directory: around, database: Some(source.clone()) });
        }
        std::fs::read_dir(source)?;
        let is_storage = source.file_name().is_some_and(|name| name == "storage")
            && ["session", "message"].iter().any(|folder| source.join(folder).is_dir());
        Ok(Self { directory: if is_storage { around } else { source.clone() }, database: None })
    }
}

/// An import at work.
struct Importing<'a> {
    source: &'a Path,
    connection: &'a Connection,
    report: Report,
    limit: usize,
    dry_run: bool,
    /// Sessions that were taken from a database, with its name.
    database_sessions: HashMap<String, String>,
    database_projects: HashSet<String>,
    /// Sessions that are stored.
    stored: HashSet<String>,
    progress: &'a mut dyn FnMut(Progress),
    position: Progress,
}

impl Importing<'_> {
    fn run(&mut self, options: &ImportOptions, chosen: &Chosen) -> Result<(), ImportError> {
        let plan = match chosen.database {
            Some(_) => Plan::default(),
            None => Plan::new(self.source, &mut self.report, self.limit, options.diffs),
        };
        self.position.total = plan.sessions.len();
        database::import(self, chosen.database.as_deref(), &options.scratch)?;
        documents::import(self, &plan)
    }

    /// Names a session that is taken from elsewhere, and what it holds that is missing there.
    fn overridden(&mut self, contents: &mut dyn Contents, session: &str) -> Result<(), StoreError> {
        let counts = self.database_sessions.get(session).cloned().unwrap_or_default();
        self.report
            .find(contents.place(None, None), format!("session {session} is taken from {counts}; set aside"));
        let lacks = format!("session {session} is taken from {counts}, which lacks this; set aside");
        for message in contents.messages(&mut self.report) {
            if !self.is_imported(&message)? {
                self.report.find(contents.place(Some(&message), None), &*lacks);
            }
            for part in contents.parts(&message, &mut self.report) {
                if !self.is_imported(&part)? {
                    self.report.find(contents.place(Some(&message), Some(&part)), &*lacks);
                }
            }
        }
        Ok(())
    }

    fn find(&mut self, path: &Path, reason: impl Into<String>) {
        self.report.find(folder::shown(self.source, path), reason);
    }

    fn step(&mut self) {
        self.position.current += 1;
        (self.progress)(self.position);
    }

    fn is_imported(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.connection.prepare_cached("SELECT 1 FROM imported_item WHERE id = ?1")?.exists([id])?)
    }

    /// Runs a step in a transaction; in a dry run, one transaction spans all steps.
    fn in_transaction<T>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.dry_run {
            return step(self);
        }
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = step(self);
        if done.is_ok() {
            self.connection.execute_batch("COMMIT")?;
        } else {
            // After some errors SQLite has rolled back already; the first error is the one to tell.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn begin_dry_run(&self) -> Result<(), StoreError> {
        if self.dry_run {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
        }
        Ok(())
    }

    fn end_dry_run(&self) -> Result<(), StoreError> {
        if self.dry_run {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }
}
