//! Bringing a store of an older layout up to date.
//!
//! There are two migrations, and the file `migration` in the root counts those
//! that are done (DS-050). They run when asked, one process at a time, and are
//! safe to repeat: a document that exists is never overwritten with an older
//! one. What cannot be migrated is named, everything else is migrated
//! regardless, and the marker moves on only when nothing was left behind, so the
//! next run finishes the work.

mod diffs;
mod legacy;
mod marker;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{DocumentError, DocumentStore, Key, PRIVATE};
use crate::json::Json;
use crate::lock::NameLock;

/// How many migrations there are; a fully migrated store carries this number.
pub const MIGRATIONS: u32 = 2;

/// Finds the id of a work tree's project: its first root commit. `None`: no repository or no commit.
pub type RootCommit<'a> = &'a dyn Fn(&Path) -> io::Result<Option<String>>;

/// What the migrations cannot know from the documents alone.
#[derive(Clone)]
pub struct MigrationOptions<'a> {
    /// Work trees by the slug of their legacy folder, instead of what the messages say.
    pub worktrees: HashMap<String, String>,
    /// Project ids by work tree, instead of asking `root_commit`. The tree need not exist.
    pub root_commits: HashMap<String, String>,
    /// Asked for the project id of an existing work tree.
    pub root_commit: RootCommit<'a>,
    /// The time new project documents carry, in milliseconds since 1970.
    pub now: i64,
    /// Run all migrations, whatever the marker says.
    pub again: bool,
}

impl std::fmt::Debug for MigrationOptions<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("MigrationOptions")
            .field("worktrees", &self.worktrees)
            .field("root_commits", &self.root_commits)
            .field("now", &self.now)
            .field("again", &self.again)
            .finish_non_exhaustive()
    }
}

/// What a run did.
#[derive(Debug, Default)]
pub struct MigrationReport {
    /// The marker before.
    pub from: u32,
    /// The marker now.
    pub to: u32,
    /// Documents that were written.
    pub written: usize,
    /// Documents that were there already with other content, and were left alone.
    pub kept: Vec<String>,
    /// What these migrations do not carry over, for instance messages without a session.
    pub left_behind: Vec<String>,
    /// What could not be migrated, and why. The run stopped after the migration these belong to.
    pub failures: Vec<String>,
}

impl DocumentStore {
    /// How many migrations are done, as the marker says.
    pub fn migrations_done(&self) -> u32 {
        marker::read(&self.marker())
    }

    /// Runs the migrations that are not done.
    ///
    /// # Errors
    /// Only what concerns the store as a whole; the rest is in [`MigrationReport::failures`].
    pub fn migrate(&self, options: &MigrationOptions<'_>) -> Result<MigrationReport, DocumentError> {
        let lock = NameLock::acquire(&self.root.path.join(PRIVATE).join("migration.lock"), Self::PATIENCE)
            .map_err(DocumentError::io("locking the migrations"))?;
        if lock.is_none() {
            return Err(DocumentError::Io {
                what: "locking the migrations".to_owned(),
                source: io::Error::other("another process runs them"),
            });
        }
        let done = self.migrations_done();
        let mut report = MigrationReport { from: done, to: done, ..Default::default() };
        let first = if options.again { 0 } else { done };
        for number in first..MIGRATIONS {
            let mut run = Run { store: self, report: &mut report };
            match number {
                0 => legacy::migrate(&mut run, options),
                _ => diffs::migrate(&mut run),
            }
            if !report.failures.is_empty() {
                break;
            }
            report.to = report.to.max(number + 1);
            marker::write(&self.marker(), &self.root.path.join(PRIVATE), report.to)
                .map_err(DocumentError::io("writing the migration marker"))?;
        }
        Ok(report)
    }

    /// Where the documents are that migrations changed, as they were before.
    pub fn migration_backup(&self) -> PathBuf {
        self.root.path.join(PRIVATE).join("backup")
    }

    /// Gives up the copies in [`Self::migration_backup`].
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn confirm_migrations(&self) -> Result<(), DocumentError> {
        match fs::remove_dir_all(self.migration_backup()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(DocumentError::io("removing the copies of migrated documents")(error))
            }
            _ => {
                let _ = fs::remove_dir(self.root.path.join(PRIVATE));
                Ok(())
            }
        }
    }

    fn marker(&self) -> PathBuf {
        self.root.path.join("migration")
    }
}

/// A migration at work.
struct Run<'a> {
    store: &'a DocumentStore,
    report: &'a mut MigrationReport,
}

impl Run<'_> {
    /// Writes a document unless there is one already. A damaged one is set aside first.
    fn create(&mut self, key: &Key, value: &Json) {
        let outcome = self.store.create(key, value);
        match outcome {
            Ok(Created::Written) => self.report.written += 1,
            Ok(Created::Same) => {}
            Ok(Created::Other) => self.report.kept.push(key.joined()),
            Err(error) => self.fail(&key.joined(), &error),
        }
    }

    fn fail(&mut self, what: &str, reason: &dyn std::fmt::Display) {
        self.report.failures.push(format!("{what}: {reason}"));
    }

    /// Entries of a folder by name, without hidden ones. A missing folder has none.
    fn entries(&mut self, folder: &Path) -> Vec<(String, PathBuf)> {
        match sorted_entries(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                self.fail(&self.shown(folder), &error);
                Vec::new()
            }
        }
    }

    /// Documents of a folder: name without suffix, and path.
    fn documents(&mut self, folder: &Path) -> Vec<(String, PathBuf)> {
        let entries = self.entries(folder).into_iter();
        entries.filter_map(|(name, path)| Some((name.strip_suffix(".json")?.to_owned(), path))).collect()
    }

    /// A path for people: relative to the data directory.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.store.root.data).unwrap_or(path).display().to_string()
    }
}

fn sorted_entries(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string();
        let name = name.map_err(|name| io::Error::other(format!("{} is not UTF-8", name.display())))?;
        if !name.starts_with('.') {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    Ok(entries)
}

enum Created {
    Written,
    Same,
    Other,
}

impl DocumentStore {
    fn create(&self, key: &Key, value: &Json) -> Result<Created, DocumentError> {
        match self.read(key) {
            Ok(found) if found == *value => return Ok(Created::Same),
            Ok(_) => return Ok(Created::Other),
            Err(DocumentError::Corrupt { .. }) => drop(self.quarantine(key)?),
            Err(DocumentError::NotFound { .. }) => {}
            Err(other) => return Err(other),
        }
        let _lock = self.lock(key)?;
        match self.read(key) {
            Err(DocumentError::NotFound { .. }) => self.put(key, value).map(|()| Created::Written),
            _ => Ok(Created::Other),
        }
    }
}
