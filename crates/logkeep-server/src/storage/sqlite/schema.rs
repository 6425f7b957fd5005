//! The tables, and how a database of an older format becomes one of this format.
//!
//! `docs/server-database.md` describes them to the column and byte.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks a file as a Logkeep server database: `LKsv`.
pub(super) const APPLICATION_ID: i32 = 0x4c4b_7376;

/// The format this version writes. Kept in the file's `user_version`.
pub(super) const VERSION: i32 = MIGRATIONS.len() as i32;

/// Step `n` makes a database of format `n` one of format `n + 1`; format 0 is an empty file.
const MIGRATIONS: [&str; 1] = [FORMAT_1];

const FORMAT_1: &str = "
CREATE TABLE server (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    remote_id BLOB NOT NULL CHECK (length(remote_id) = 16)
) STRICT;

CREATE TABLE binding (
    public_key  TEXT NOT NULL PRIMARY KEY,
    signing_key BLOB NOT NULL CHECK (length(signing_key) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE store (
    number          INTEGER PRIMARY KEY,
    public_key      TEXT NOT NULL,
    name            TEXT NOT NULL,
    next_sequence   INTEGER NOT NULL,
    indexed_through INTEGER NOT NULL,
    written_at      INTEGER NOT NULL,
    UNIQUE (public_key, name)
) STRICT;

CREATE TABLE batch (
    store     INTEGER NOT NULL,
    last      INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    blob      INTEGER,
    size      INTEGER,
    entry_ids BLOB NOT NULL,
    sealed    BLOB,
    PRIMARY KEY (store, last)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
    id    INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE id_chunk (
    store   INTEGER NOT NULL,
    fence   BLOB NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (store, fence)
) STRICT, WITHOUT ROWID;

CREATE TABLE time_mark (
    store  INTEGER NOT NULL,
    second INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    PRIMARY KEY (store, second)
) STRICT, WITHOUT ROWID;

CREATE TABLE upload (
    store INTEGER PRIMARY KEY
) STRICT;
";

/// Brings a database of format `found` to [`VERSION`], in one transaction.
pub(super) fn migrate(db: &mut Connection, found: i32) -> rusqlite::Result<()> {
    let tx = Transaction::new(db, TransactionBehavior::Immediate)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", VERSION)?;
    tx.commit()
}
