//! Import and export of the SQLite journal of effect 4.1.0 (EL-100…EL-116).
//!
//! The two programs never live in one file: a journal is copied, with the source of every entry
//! and the progress of every remote, in either direction.

mod export;
mod import;
mod open;

pub use export::EffectExport;
pub use import::EffectImport;

use std::path::PathBuf;

/// The names of the tables in effect's database. The default is effect's own default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectTables {
    /// The table of entries; two others are named after it.
    pub entries: String,
    /// The table of remotes of earlier versions; one other is named after it.
    pub remotes: String,
    /// The table of cursors; `None` names it after `remotes`.
    pub cursors: Option<String>,
}

impl Default for EffectTables {
    fn default() -> Self {
        Self {
            entries: "effect_event_journal".to_owned(),
            remotes: "effect_event_remotes".to_owned(),
            cursors: None,
        }
    }
}

/// Why a journal of effect could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EffectError {
    /// SQLite refused or the disk failed; holds the file.
    #[error("{file}: {1}", file = .0.display())]
    Sqlite(PathBuf, #[source] rusqlite::Error),
    /// The file has no table of entries; holds the file and the table's name.
    #[error("{file}: there is no table {1:?}, so this is no event journal of effect", file = .0.display())]
    NoJournal(PathBuf, String),
    /// A row that effect could not have written.
    #[error("{}: table {table:?}, row {row}: {problem}", .file.display())]
    BadRow {
        /// The file.
        file: PathBuf,
        /// The table.
        table: String,
        /// The row id.
        row: i64,
        /// What is wrong with it.
        problem: String,
    },
    /// Another program wrote to the file while it was read; holds the file.
    #[error("{file}: another program uses the file; close it and try again", file = .0.display())]
    InUse(PathBuf),
    /// The file to be written exists.
    #[error("{file}: the file exists already; choose another or remove it first", file = .0.display())]
    Exists(PathBuf),
    /// The file could not be put in place; holds the file.
    #[error("{file}: {1}", file = .0.display())]
    Io(PathBuf, #[source] std::io::Error),
    /// Our own journal failed.
    #[error("journal: {0}")]
    Journal(#[from] super::Cause),
}

/// The names of all tables, quoted for use in statements.
struct Names {
    entries: String,
    sequence: String,
    sources: String,
    remotes: String,
    checkpoints: String,
    cursors: String,
}

impl Names {
    fn of(tables: &EffectTables) -> Self {
        let EffectTables { entries, remotes, cursors } = tables;
        let named_after_remotes = format!("{remotes}_cursors");
        Self {
            entries: quote(entries),
            sequence: quote(&format!("{entries}_sequence")),
            sources: quote(&format!("{entries}_sources")),
            remotes: quote(remotes),
            checkpoints: quote(&format!("{remotes}_checkpoints")),
            cursors: quote(cursors.as_ref().unwrap_or(&named_after_remotes)),
        }
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
