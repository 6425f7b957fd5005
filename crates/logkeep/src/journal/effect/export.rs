//! Writing our journal as one of effect.

use std::path::{Path, PathBuf};

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, params};

use super::{EffectError, EffectTables, Names, quote};
use crate::EntryId;
use crate::journal::{Cause, Journal};

/// What an export to effect's journal wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectExport {
    /// How many entries.
    pub entries: u64,
    /// The progress of how many remotes.
    pub remotes: u64,
}

impl Journal {
    /// Writes a new database at `path` that effect opens as its journal: entries in insertion
    /// order, the remote each one came from, cursors and checkpoints. The file appears when it is
    /// complete.
    ///
    /// `progress` is told (entries written, entries in all) from time to time.
    ///
    /// # Errors
    /// If the file exists, or either database or the disk fails. Then there is no file.
    pub fn export_effect(
        &self,
        path: &Path,
        tables: &EffectTables,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EffectExport, EffectError> {
        if path.exists() {
            return Err(EffectError::Exists(path.to_owned()));
        }
        let partial = partial_path(path);
        remove(&partial)?;
        let written = self.write_out(&partial, tables, progress).inspect_err(|_| drop(remove(&partial)))?;
        // Fails if somebody else was faster, where a rename would overwrite the file.
        std::fs::hard_link(&partial, path).map_err(|error| EffectError::Io(path.to_owned(), error))?;
        remove(&partial)?;
        Ok(written)
    }

    fn write_out(
        &self,
        path: &Path,
        tables: &EffectTables,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EffectExport, EffectError> {
        let failed = |error| EffectError::Sqlite(path.to_owned(), error);
        let mut connection = Connection::open(path).map_err(failed)?;
        let transaction = connection.transaction().map_err(failed)?;
        let mut target = Target { connection: &transaction, names: Names::of(tables), path };
        target.create()?;
        let done = self.snapshot(|journal| Copy { journal, target: &mut target }.run(progress))?;
        target.create_indexes(&tables.entries)?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    }

    /// Runs `read` on one unchanging state of the journal.
    fn snapshot<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, EffectError>,
    ) -> Result<T, EffectError> {
        let transaction = self.connection.unchecked_transaction().map_err(ours)?;
        read(&transaction)
    }
}

fn ours(error: rusqlite::Error) -> EffectError {
    Cause::from(error).into()
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

fn remove(path: &Path) -> Result<(), EffectError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(EffectError::Io(path.to_owned(), error))
        }
        _ => Ok(()),
    }
}

/// The database that is being written.
struct Target<'a> {
    connection: &'a Connection,
    names: Names,
    path: &'a Path,
}

impl Target<'_> {
    /// Effect's tables (EL-101).
    fn create(&self) -> Result<(), EffectError> {
        let Names { entries, sequence, sources, checkpoints, cursors, .. } = &self.names;
        self.run(&format!(
            "CREATE TABLE {entries} (id BLOB PRIMARY KEY, event TEXT NOT NULL, primary_key TEXT NOT NULL,
                payload BLOB NOT NULL, timestamp INTEGER NOT NULL);
             CREATE TABLE {sequence} (sequence INTEGER PRIMARY KEY, entry_id BLOB NOT NULL UNIQUE);
             CREATE TABLE {checkpoints} (remote_id BLOB PRIMARY KEY, sequence INTEGER NOT NULL);
             CREATE TABLE {cursors} (remote_id BLOB PRIMARY KEY, next_sequence INT NOT NULL);
             CREATE TABLE {sources} (entry_id BLOB PRIMARY KEY, remote_id BLOB NOT NULL);"
        ))
    }

    /// Effect's indexes (EL-102), made last because that is faster.
    fn create_indexes(&self, table: &str) -> Result<(), EffectError> {
        let (by_event, by_time) =
            (quote(&format!("{table}_event_idx")), quote(&format!("{table}_timestamp_idx")));
        let entries = &self.names.entries;
        self.run(&format!(
            "CREATE INDEX {by_event} ON {entries} (event, primary_key, timestamp);
             CREATE INDEX {by_time} ON {entries} (timestamp);"
        ))
    }

    fn run(&self, sql: &str) -> Result<(), EffectError> {
        self.connection.execute_batch(sql).map_err(|error| self.failed(error))
    }

    fn insert(&self, table: &str, values: impl rusqlite::Params, places: &str) -> Result<(), EffectError> {
        let insert = || {
            let sql = format!("INSERT INTO {table} VALUES ({places})");
            self.connection.prepare_cached(&sql)?.execute(values).map(drop)
        };
        insert().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: rusqlite::Error) -> EffectError {
        EffectError::Sqlite(self.path.to_owned(), error)
    }
}

/// Copies rows from our journal to the new database.
struct Copy<'a, 'b> {
    journal: &'a Connection,
    target: &'a mut Target<'b>,
}

impl Copy<'_, '_> {
    fn run(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<EffectExport, EffectError> {
        Ok(EffectExport { entries: self.entries(progress)?, remotes: self.remotes()? })
    }

    fn entries(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, EffectError> {
        let count = self.journal.query_row("SELECT count(*) FROM entries", [], |row| row.get::<_, i64>(0));
        let total = count.map_err(ours)?.unsigned_abs();
        let select = "SELECT e.position, e.id, t.name, e.primary_key, e.payload, r.id
             FROM entries e CROSS JOIN tags t ON t.tag = e.tag LEFT JOIN remotes r ON r.remote = e.source
             ORDER BY e.position";
        let mut statement = self.journal.prepare(select).map_err(ours)?;
        let mut rows = statement.query([]).map_err(ours)?;
        let mut written = 0;
        while let Some(row) = rows.next().map_err(ours)? {
            self.entry(row)?;
            written += 1;
            if written % 1000 == 0 || written == total {
                progress(written, total);
            }
        }
        Ok(written)
    }

    fn entry(&self, row: &rusqlite::Row<'_>) -> Result<(), EffectError> {
        let names = &self.target.names;
        let column = |index| row.get_ref(index).map(ToSqlOutput::Borrowed).map_err(ours);
        let id: [u8; 16] = row.get(1).map_err(ours)?;
        let millis = EntryId(id).millis() as i64;
        let values = params![id, column(2)?, column(3)?, column(4)?, millis];
        self.target.insert(&names.entries, values, "?, ?, ?, ?, ?")?;
        self.target.insert(&names.sequence, params![column(0)?, id], "?, ?")?;
        match row.get::<_, Option<[u8; 16]>>(5).map_err(ours)? {
            Some(remote) => self.target.insert(&names.sources, params![id, remote], "?, ?"),
            None => Ok(()),
        }
    }

    /// Progress of 0 is what effect assumes of a remote without a row.
    fn remotes(&self) -> Result<u64, EffectError> {
        let mut statement =
            self.journal.prepare("SELECT id, cursor, checkpoint FROM remotes").map_err(ours)?;
        let mut rows = statement.query([]).map_err(ours)?;
        let mut written = 0;
        while let Some(row) = rows.next().map_err(ours)? {
            let id: [u8; 16] = row.get(0).map_err(ours)?;
            for (index, table) in [(1, &self.target.names.cursors), (2, &self.target.names.checkpoints)] {
                let number: i64 = row.get(index).map_err(ours)?;
                if number > 0 {
                    self.target.insert(table, params![id, number], "?, ?")?;
                }
            }
            written += 1;
        }
        Ok(written)
    }
}
