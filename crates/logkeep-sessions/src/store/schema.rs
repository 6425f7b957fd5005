//! Tables, and how older files get them.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// Marks the file as ours: "LKSS".
const APPLICATION_ID: i64 = 0x4c4b_5353;

/// Statements that lead from version N to N + 1, for N = 0, 1, …
const STEPS: [&str; 1] = [VERSION_1];

const VERSION_1: &str = "
CREATE TABLE event_sequence (
    aggregate_id TEXT PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL,
    owner_id TEXT
);
CREATE TABLE event (
    id TEXT PRIMARY KEY NOT NULL,
    aggregate_id TEXT NOT NULL REFERENCES event_sequence ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (aggregate_id, seq)
);
CREATE TABLE project (
    id TEXT PRIMARY KEY NOT NULL,
    worktree TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE TABLE session (
    id TEXT PRIMARY KEY NOT NULL,
    project_id TEXT NOT NULL,
    parent_id TEXT,
    directory TEXT NOT NULL,
    title TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_updated INTEGER NOT NULL,
    time_archived INTEGER,
    messages INTEGER NOT NULL DEFAULT 0,
    parts INTEGER NOT NULL DEFAULT 0,
    data TEXT NOT NULL
);
CREATE INDEX session_by_time ON session (time_updated, id);
CREATE TABLE message (
    id TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES session ON DELETE CASCADE,
    time_created INTEGER NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX message_in_order ON message (session_id, time_created, id);
CREATE TABLE part (
    id TEXT PRIMARY KEY NOT NULL,
    message_id TEXT NOT NULL REFERENCES message ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX part_in_order ON part (message_id, time_created, id);
CREATE INDEX part_by_session ON part (session_id);
CREATE TABLE todo (
    session_id TEXT NOT NULL REFERENCES session ON DELETE CASCADE,
    position INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, position)
) WITHOUT ROWID;
CREATE TABLE permission (
    project_id TEXT PRIMARY KEY NOT NULL,
    data TEXT NOT NULL
);
CREATE TABLE session_share (
    session_id TEXT PRIMARY KEY NOT NULL REFERENCES session ON DELETE CASCADE,
    data TEXT NOT NULL
);
CREATE TABLE session_diff (
    session_id TEXT PRIMARY KEY NOT NULL REFERENCES session ON DELETE CASCADE,
    data TEXT NOT NULL
);
CREATE TABLE imported_session (
    session_id TEXT PRIMARY KEY NOT NULL,
    info TEXT NOT NULL
);
CREATE TABLE imported_item (
    id TEXT PRIMARY KEY NOT NULL,
    owner TEXT NOT NULL,
    digest BLOB NOT NULL
) WITHOUT ROWID;
";

/// Refuses files of newer versions and of other programs, before anything is written.
pub(super) fn check(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    let found = version(connection)?;
    let known = STEPS.len() as i64;
    if found > known {
        return Err(StoreError::Newer { file: file.to_owned(), found, known });
    }
    // In this order: another process may create the tables just now, and the id with them.
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION_ID && tables > 0 {
        return Err(StoreError::Foreign { file: file.to_owned() });
    }
    Ok(())
}

/// Brings the file to the newest version, in one transaction.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection)? == STEPS.len() as i64 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let done = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
