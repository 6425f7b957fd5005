//! Reading effect's journal into ours.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, TransactionBehavior};

use super::open::{Seal, open_untouched};
use super::{EffectError, EffectTables, Names};
use crate::journal::rows::{self, Tags};
use crate::journal::{Cause, Journal};
use crate::{Entry, EntryId, RemoteId};

/// What an import of effect's journal did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectImport {
    /// Entries that were new here.
    pub stored: u64,
    /// Entries that were here already.
    pub duplicates: u64,
    /// Remotes whose progress was taken over.
    pub remotes: u64,
}

impl Journal {
    /// Takes over the entries of effect's journal at `path`, in its insertion order, with the
    /// remote each one came from, and the cursors and checkpoints of all remotes. Journals of
    /// earlier versions are read as effect would migrate them. The file is not changed.
    ///
    /// Checkpoints count only if this journal had nothing pending for the remote; else some
    /// entries are offered to it once more, which is harmless.
    ///
    /// `progress` is told (entries read, entries in all) from time to time.
    ///
    /// # Errors
    /// If the file is no such journal, has a row that makes no sense, or either database fails.
    /// Then nothing was taken over.
    pub fn import_effect(
        &mut self,
        path: &Path,
        tables: &EffectTables,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EffectImport, EffectError> {
        let source = Source::open(path, tables)?;
        self.take_over(&source, progress).inspect_err(|_| self.tags = Tags::default())
    }

    fn take_over(
        &mut self,
        source: &Source,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EffectImport, EffectError> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(Cause::from)?;
        let mut target = Target::new(&transaction, &mut self.tags, source)?;
        let total = source.count()?;
        let mut read = 0;
        source.each_entry(&mut |found| {
            target.take(found)?;
            read += 1;
            if read % 1000 == 0 || read == total {
                progress(read, total);
            }
            Ok(())
        })?;
        let done = target.finish()?;
        if !source.seal.is_intact() {
            return Err(EffectError::InUse(source.path.clone()));
        }
        let position = rows::latest_position(&transaction)?;
        transaction.commit().map_err(Cause::from)?;
        self.commits.send_replace(position);
        Ok(done)
    }
}

/// An entry as effect stores it.
struct Found {
    entry: Entry,
    /// Its place in effect's insertion order, if it has one.
    sequence: Option<i64>,
    source: Option<RemoteId>,
}

/// Effect's database, opened for reading, with all rows of progress read.
struct Source {
    connection: Connection,
    seal: Seal,
    path: PathBuf,
    table: String,
    names: Names,
    numbered: bool,
    cursors: Vec<(RemoteId, i64)>,
    checkpoints: Vec<(RemoteId, i64)>,
}

impl Source {
    fn open(path: &Path, tables: &EffectTables) -> Result<Self, EffectError> {
        let failed = |error| EffectError::Sqlite(path.to_owned(), error);
        let names = Names::of(tables);
        let (connection, seal) = open_untouched(path).map_err(failed)?;
        // One snapshot for all that is read.
        connection.execute_batch("BEGIN").map_err(failed)?;
        let has = |quoted: &str| has_table(&connection, quoted).map_err(failed);
        if !has(&names.entries)? {
            return Err(EffectError::NoJournal(path.to_owned(), tables.entries.clone()));
        }
        unify(&connection, &names, [has(&names.sources)?, has(&names.cursors)?, has(&names.remotes)?])
            .map_err(failed)?;
        let mut source = Self {
            numbered: has(&names.sequence)?,
            path: path.to_owned(),
            table: tables.entries.clone(),
            names,
            cursors: Vec::new(),
            checkpoints: Vec::new(),
            connection,
            seal,
        };
        source.cursors = source.progress("temp.cursors", "next_sequence")?;
        if has_table(&source.connection, &source.names.checkpoints).map_err(failed)? {
            source.checkpoints = source.progress(&source.names.checkpoints, "sequence")?;
        }
        Ok(source)
    }

    fn failed(&self, error: rusqlite::Error) -> EffectError {
        EffectError::Sqlite(self.path.clone(), error)
    }

    fn count(&self) -> Result<u64, EffectError> {
        let count = format!("SELECT count(*) FROM {}", self.names.entries);
        let count = self.connection.query_row(&count, [], |row| row.get::<_, i64>(0));
        count.map(i64::unsigned_abs).map_err(|error| self.failed(error))
    }

    fn progress(&self, table: &str, column: &str) -> Result<Vec<(RemoteId, i64)>, EffectError> {
        let read = || {
            let mut statement =
                self.connection.prepare(&format!("SELECT rowid, remote_id, {column} FROM {table}"))?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, id_of(row.get_ref(1)?), natural(row.get_ref(2)?)))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        let rows = read().map_err(|error| self.failed(error))?;
        let checked = rows.into_iter().map(|(row, id, number)| {
            let id = id.ok_or_else(|| self.bad_row(table, row, "the remote id is not 16 bytes"))?;
            let number =
                number.ok_or_else(|| self.bad_row(table, row, "the sequence is not a natural number"))?;
            Ok((RemoteId(id), number))
        });
        checked.collect()
    }

    /// Hands over every entry: the numbered ones in insertion order, then the others by age, as
    /// effect would number them.
    fn each_entry(&self, visit: &mut dyn FnMut(Found) -> Result<(), EffectError>) -> Result<(), EffectError> {
        let Names { entries, sequence, .. } = &self.names;
        let columns = "e.rowid, e.id, e.event, e.primary_key, e.payload, r.remote_id";
        let source = "LEFT JOIN temp.sources r ON r.entry_id = e.id";
        let by_age = format!("SELECT {columns}, NULL FROM {entries} e {source}");
        let oldest_first = "ORDER BY e.timestamp, e.id";
        if !self.numbered {
            return self.select(&format!("{by_age} {oldest_first}"), visit);
        }
        self.select(
            &format!(
                "SELECT {columns}, s.sequence FROM {sequence} s CROSS JOIN {entries} e ON e.id = s.entry_id
                 {source} ORDER BY s.sequence"
            ),
            visit,
        )?;
        let unnumbered = format!("WHERE e.id NOT IN (SELECT entry_id FROM {sequence})");
        self.select(&format!("{by_age} {unnumbered} {oldest_first}"), visit)
    }

    fn select(
        &self,
        sql: &str,
        visit: &mut dyn FnMut(Found) -> Result<(), EffectError>,
    ) -> Result<(), EffectError> {
        let failed = |error| self.failed(error);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let number = row.get(0).map_err(failed)?;
            visit(found(row).map_err(|problem| self.bad_row(&self.table, number, &problem))?)?;
        }
        Ok(())
    }

    fn bad_row(&self, table: &str, row: i64, problem: &str) -> EffectError {
        let (file, table) = (self.path.clone(), table.trim_matches('"').to_owned());
        EffectError::BadRow { file, table, row, problem: problem.to_owned() }
    }
}

/// Gathers sources and cursors in temporary tables, the rows of an earlier version behind those
/// of this one: the first source of an entry counts, and a cursor counts more than what an
/// earlier version downloaded (EL-110).
fn unify(
    connection: &Connection,
    names: &Names,
    [sources, cursors, remotes]: [bool; 3],
) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TEMP TABLE sources (entry_id BLOB PRIMARY KEY, remote_id BLOB) WITHOUT ROWID;
         CREATE TEMP TABLE cursors (remote_id BLOB PRIMARY KEY, next_sequence ANY);",
    )?;
    let copy = |condition: bool, sql: String| {
        if condition { connection.execute(&sql, []).map(drop) } else { Ok(()) }
    };
    let source = "INSERT OR IGNORE INTO temp.sources SELECT entry_id, remote_id FROM";
    copy(sources, format!("{source} {}", names.sources))?;
    copy(remotes, format!("{source} {} WHERE entry_id IS NOT NULL", names.remotes))?;
    let cursor = "INSERT OR IGNORE INTO temp.cursors SELECT remote_id,";
    copy(cursors, format!("{cursor} next_sequence FROM {}", names.cursors))?;
    copy(remotes, format!("{cursor} max(sequence) + 1 FROM {} GROUP BY remote_id", names.remotes))
}

fn has_table(connection: &Connection, quoted: &str) -> rusqlite::Result<bool> {
    let name = quoted.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(quoted);
    let name = name.replace("\"\"", "\"");
    let mut statement =
        connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?;
    statement.exists([name])
}

fn found(row: &Row<'_>) -> Result<Found, String> {
    let value = |index| row.get_ref(index).map_err(|error| error.to_string());
    let text = |index, name| match value(index)? {
        ValueRef::Text(text) => {
            std::str::from_utf8(text).map(str::to_owned).map_err(|_| format!("{name} is not UTF-8"))
        }
        _ => Err(format!("{name} is not a text")),
    };
    let payload = value(4)?.as_blob().map_err(|_| "payload is not a blob")?.to_vec();
    Ok(Found {
        entry: Entry {
            id: id_of(value(1)?).map(EntryId).ok_or("id is not a blob of 16 bytes")?,
            event: text(2, "event")?,
            primary_key: text(3, "primary_key")?,
            payload,
        },
        source: match value(5)? {
            ValueRef::Null => None,
            remote => Some(id_of(remote).map(RemoteId).ok_or("its source is not a blob of 16 bytes")?),
        },
        sequence: natural(value(6)?),
    })
}

fn id_of(value: ValueRef<'_>) -> Option<[u8; 16]> {
    value.as_blob().ok()?.try_into().ok()
}

/// A number as any driver may have stored it (EL-120).
fn natural(value: ValueRef<'_>) -> Option<i64> {
    let number = match value {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => number as i64,
        ValueRef::Text(digits) => std::str::from_utf8(digits).ok()?.parse().ok()?,
        _ => return None,
    };
    (number >= 0).then_some(number)
}

/// Our journal while it takes entries over.
struct Target<'a> {
    connection: &'a Connection,
    tags: &'a mut Tags,
    remotes: Vec<Progress>,
    done: EffectImport,
}

/// The progress of one remote.
struct Progress {
    id: RemoteId,
    known: rows::Remote,
    /// Effect's checkpoint, in effect's insertion order.
    uploaded: i64,
    /// The last entry at or below it, in our insertion order.
    checkpoint: i64,
    cursor: i64,
}

impl<'a> Target<'a> {
    fn new(connection: &'a Connection, tags: &'a mut Tags, source: &Source) -> Result<Self, Cause> {
        let done = EffectImport { stored: 0, duplicates: 0, remotes: 0 };
        let mut target = Self { connection, tags, remotes: Vec::new(), done };
        let latest = rows::latest_position(connection)?;
        for (id, cursor) in &source.cursors {
            target.remote(*id)?.cursor = *cursor;
        }
        for (id, checkpoint) in &source.checkpoints {
            let remote = target.remote(*id)?;
            if remote.known.checkpoint == latest {
                remote.uploaded = *checkpoint;
            }
        }
        Ok(target)
    }

    fn remote(&mut self, id: RemoteId) -> Result<&mut Progress, Cause> {
        if let Some(index) = self.remotes.iter().position(|remote| remote.id == id) {
            return self.remotes.get_mut(index).ok_or_else(|| Cause::Damaged("lost a remote".to_owned()));
        }
        let known = rows::ensure_remote(self.connection, id)?;
        Ok(self.remotes.push_mut(Progress { id, known, uploaded: 0, checkpoint: 0, cursor: 0 }))
    }

    fn take(&mut self, found: Found) -> Result<(), Cause> {
        if rows::contains(self.connection, found.entry.id)? {
            self.done.duplicates += 1;
            return Ok(());
        }
        let source = found.source.map(|id| self.remote(id)).transpose()?.map(|remote| remote.known.number);
        rows::insert(self.connection, self.tags, &found.entry, source)?;
        self.done.stored += 1;
        let position = self.connection.last_insert_rowid();
        let uploaded_to =
            |remote: &&mut Progress| found.sequence.is_some_and(|sequence| sequence <= remote.uploaded);
        self.remotes.iter_mut().filter(uploaded_to).for_each(|remote| remote.checkpoint = position);
        Ok(())
    }

    fn finish(mut self) -> Result<EffectImport, Cause> {
        for remote in &self.remotes {
            rows::advance_remote(self.connection, remote.known.number, remote.cursor, remote.checkpoint)?;
        }
        self.done.remotes = self.remotes.len() as u64;
        Ok(self.done)
    }
}
