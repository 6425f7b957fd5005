//! Giving space that became free back to the file system.

use rusqlite::Connection;

use crate::storage::StorageError;

/// How many free pages stay in the file, for what is written next: 2 MiB.
const KEPT_PAGES: u32 = 256;
/// How many pages are given back in a transaction: each may move another page.
const STEP_PAGES: u32 = 512;

/// Whether there are more free pages than are kept.
pub(super) fn is_left_over(db: &Connection) -> Result<bool, StorageError> {
    let free: u32 = db.prepare_cached("PRAGMA freelist_count")?.query_row([], |row| row.get(0))?;
    Ok(free > KEPT_PAGES)
}

/// Cuts some free pages off the file, in the transaction that is open on `db`.
pub(super) fn give_back(db: &Connection) -> Result<(), StorageError> {
    let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}
