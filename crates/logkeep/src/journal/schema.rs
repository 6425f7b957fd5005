//! The tables of a journal and how a file becomes one; described in `docs/journal-format.md`.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::error::{Cause, JournalError};
use super::{Journal, rows};
use crate::Scope;

/// Marks the file as a Logkeep journal ("LogK" in its header).
const APPLICATION_ID: i32 = 0x4c6f_674b;

/// The schema version this program writes. Higher ones are refused.
pub const SCHEMA_VERSION: u32 = STEPS.len() as u32;

/// One step from each version to the next; the first one makes an empty journal.
const STEPS: [&str; 1] = ["
    CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE tags (tag INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE remotes (
        remote INTEGER PRIMARY KEY,
        id BLOB NOT NULL UNIQUE,
        cursor INTEGER NOT NULL DEFAULT 0,
        checkpoint INTEGER NOT NULL DEFAULT 0,
        attempt INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE entries (
        position INTEGER PRIMARY KEY,
        id BLOB NOT NULL,
        tag INTEGER NOT NULL,
        primary_key TEXT NOT NULL,
        payload BLOB NOT NULL,
        source INTEGER
    ) STRICT;
    CREATE TABLE unopened (
        remote INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        entry_ids BLOB NOT NULL,
        iv BLOB NOT NULL,
        encrypted BLOB NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (remote, sequence)
    ) STRICT;
    CREATE UNIQUE INDEX entries_by_id ON entries (id);
    CREATE INDEX entries_by_key ON entries (primary_key, id, tag);
    CREATE INDEX entries_by_tag ON entries (tag, id);
"];

/// Checks that the connection is to a journal, or to nothing yet, and brings it up to date.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Cause> {
    connection.busy_timeout(Duration::from_secs(5))?;
    // Looked at before anything is written, so that a file that is refused stays untouched.
    let version = version_of(connection)?;
    if version == 0 {
        connection.pragma_update(None, "page_size", 8192)?;
    }
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "cache_size", -32 * 1024)?;
    connection.set_prepared_statement_cache_capacity(64);
    if version < SCHEMA_VERSION { migrate(connection) } else { Ok(()) }
}

/// The schema version of the file, 0 for an empty one.
fn version_of(connection: &Connection) -> Result<u32, Cause> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version, tables) {
        (0, 0, 0) => Ok(0),
        (APPLICATION_ID, version, _) if version <= SCHEMA_VERSION => Ok(version),
        (APPLICATION_ID, version, _) => Err(Cause::NewerVersion(version, SCHEMA_VERSION)),
        _ => Err(Cause::NotAJournal),
    }
}

fn migrate(connection: &mut Connection) -> Result<(), Cause> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let version = version_of(&transaction)?;
    for step in STEPS.iter().skip(version as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(transaction.commit()?)
}

/// A commit in full synchronous mode reaches the disk with everything before it in the log.
pub(super) fn sync_to_disk(connection: &Connection) -> Result<(), Cause> {
    let position = rows::latest_position(connection)?;
    connection.pragma_update(None, "synchronous", "full")?;
    let written = set_meta(connection, "synced", position);
    connection.pragma_update(None, "synchronous", "normal")?;
    written
}

pub(super) fn clear(connection: &mut Connection) -> Result<(), Cause> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for table in ["entries", "unopened", "remotes", "tags", "meta"] {
        transaction.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(transaction.commit()?)
}

pub(super) fn meta<T: rusqlite::types::FromSql>(
    connection: &Connection,
    name: &str,
) -> Result<Option<T>, Cause> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn set_meta(
    connection: &Connection,
    name: &str,
    value: impl rusqlite::ToSql,
) -> Result<(), Cause> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")?;
    statement.execute(params![name, value])?;
    Ok(())
}

impl Journal {
    /// The store and identity this journal belongs to, once it is bound.
    ///
    /// # Errors
    /// If the database fails.
    pub fn scope(&self) -> Result<Option<Scope>, JournalError> {
        scope(&self.connection).map_err(JournalError::during("reading the scope"))
    }

    /// Binds the journal to a store of an identity, for ever. Binding it again to the same does
    /// nothing.
    ///
    /// # Errors
    /// If it is bound to another store or identity, or the database fails.
    pub fn bind(&mut self, wanted: &Scope) -> Result<(), JournalError> {
        bind(&mut self.connection, wanted).map_err(JournalError::during("binding the journal"))
    }
}

fn scope(connection: &Connection) -> Result<Option<Scope>, Cause> {
    let public_key: Option<String> = meta(connection, "public_key")?;
    let store: Option<String> = meta(connection, "store")?;
    Ok(public_key.zip(store).map(|(public_key, store)| Scope::new(public_key, store)))
}

fn bind(connection: &mut Connection, wanted: &Scope) -> Result<(), Cause> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match scope(&transaction)? {
        Some(found) if found == *wanted => return Ok(()),
        Some(found) => {
            return Err(Cause::OtherScope {
                found_store: found.store.to_string(),
                found_key: found.public_key.to_string(),
                store: wanted.store.to_string(),
                key: wanted.public_key.to_string(),
            });
        }
        None => {
            set_meta(&transaction, "public_key", &*wanted.public_key)?;
            set_meta(&transaction, "store", &*wanted.store)?;
        }
    }
    Ok(transaction.commit()?)
}
