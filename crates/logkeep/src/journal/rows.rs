//! Entries and remotes as rows.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::error::Cause;
use crate::{Entry, EntryId, RemoteId};

/// The columns that [`entry`] reads, from `entries e` joined with `tags t`.
pub(super) const COLUMNS: &str = "e.id, t.name, e.primary_key, e.payload";

/// The numbers that stand for event tags in rows, as far as they have been looked up.
///
/// Must be forgotten when a transaction is rolled back, since it may have assigned some.
#[derive(Debug, Default)]
pub(super) struct Tags(HashMap<String, i64>);

/// An application has few tags; the limit is against a log that is full of different ones.
const MAX_CACHED_TAGS: usize = 10_000;

impl Tags {
    /// The number of a tag, which is assigned if the tag is new.
    fn number(&mut self, connection: &Connection, name: &str) -> Result<i64, Cause> {
        if let Some(tag) = self.0.get(name) {
            return Ok(*tag);
        }
        connection.prepare_cached("INSERT OR IGNORE INTO tags (name) VALUES (?)")?.execute([name])?;
        let tag = tag_number(connection, name)?
            .ok_or_else(|| Cause::Damaged(format!("tag {name:?} cannot be stored")))?;
        if self.0.len() < MAX_CACHED_TAGS {
            self.0.insert(name.to_owned(), tag);
        }
        Ok(tag)
    }
}

/// The number of a tag, if any entry ever had it.
pub(super) fn tag_number(connection: &Connection, name: &str) -> Result<Option<i64>, Cause> {
    let mut statement = connection.prepare_cached("SELECT tag FROM tags WHERE name = ?")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

/// Appends an entry to the insertion order. `source` is the number of the remote it came from.
pub(super) fn insert(
    connection: &Connection,
    tags: &mut Tags,
    entry: &Entry,
    source: Option<i64>,
) -> Result<(), Cause> {
    let tag = tags.number(connection, &entry.event)?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO entries (id, tag, primary_key, payload, source) VALUES (?, ?, ?, ?, ?)",
    )?;
    statement.execute(params![entry.id.0, tag, entry.primary_key, entry.payload, source])?;
    Ok(())
}

/// Reads an entry from a row that begins with [`COLUMNS`].
pub(super) fn entry(row: &Row<'_>) -> Result<Entry, rusqlite::Error> {
    Ok(Entry { id: EntryId(row.get(0)?), event: row.get(1)?, primary_key: row.get(2)?, payload: row.get(3)? })
}

/// The greatest id stored.
pub(super) fn greatest_id(connection: &Connection) -> Result<Option<EntryId>, Cause> {
    let mut statement = connection.prepare_cached("SELECT max(id) FROM entries")?;
    Ok(statement.query_row([], |row| row.get::<_, Option<[u8; 16]>>(0))?.map(EntryId))
}

pub(super) fn contains(connection: &Connection, id: EntryId) -> Result<bool, Cause> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM entries WHERE id = ?")?;
    Ok(statement.exists([id.0])?)
}

/// The position of the entry that was stored last, 0 if there is none.
pub(super) fn latest_position(connection: &Connection) -> Result<i64, Cause> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(position), 0) FROM entries")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// What is kept about a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Remote {
    /// Its number in this file.
    pub(super) number: i64,
    /// The next sequence to read from it.
    pub(super) cursor: i64,
    /// The position up to which everything was uploaded to it.
    pub(super) checkpoint: i64,
    /// The position up to which an upload was begun.
    pub(super) attempt: i64,
}

pub(super) fn remote(connection: &Connection, id: RemoteId) -> Result<Option<Remote>, Cause> {
    let mut statement =
        connection.prepare_cached("SELECT remote, cursor, checkpoint, attempt FROM remotes WHERE id = ?")?;
    let found = statement.query_row([id.0], |row| {
        Ok(Remote { number: row.get(0)?, cursor: row.get(1)?, checkpoint: row.get(2)?, attempt: row.get(3)? })
    });
    Ok(found.optional()?)
}

/// The remote's row, made if it is new.
pub(super) fn ensure_remote(connection: &Connection, id: RemoteId) -> Result<Remote, Cause> {
    if let Some(remote) = remote(connection, id)? {
        return Ok(remote);
    }
    connection.execute("INSERT INTO remotes (id) VALUES (?)", [id.0])?;
    Ok(Remote { number: connection.last_insert_rowid(), cursor: 0, checkpoint: 0, attempt: 0 })
}

/// Moves cursor and checkpoint of a remote forward; neither ever moves back.
pub(super) fn advance_remote(
    connection: &Connection,
    number: i64,
    cursor: i64,
    checkpoint: i64,
) -> Result<(), Cause> {
    let mut statement = connection.prepare_cached(
        "UPDATE remotes SET cursor = max(cursor, ?2), checkpoint = max(checkpoint, ?3) WHERE remote = ?1",
    )?;
    statement.execute([number, cursor, checkpoint])?;
    Ok(())
}

pub(super) fn set_attempt(connection: &Connection, number: i64, attempt: i64) -> Result<(), Cause> {
    let mut statement = connection.prepare_cached("UPDATE remotes SET attempt = ?2 WHERE remote = ?1")?;
    statement.execute([number, attempt])?;
    Ok(())
}

/// A sequence of a remote as a column value.
pub(super) fn column(sequence: u64) -> Result<i64, Cause> {
    i64::try_from(sequence).map_err(|_| Cause::Sequence(sequence))
}
