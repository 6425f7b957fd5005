//! The reading half.

use bytes::Bytes;
use logkeep_protocol::Scope;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::Handle;
use super::rows::read_parts;
use super::splice::Splice;
use super::stores::check_next;
use crate::storage::{FIRST_SEQUENCE, Page, Reader, StorageError};

/// A connection that reads, one short transaction a call.
pub(super) struct SqliteReader {
    db: Handle,
}

impl SqliteReader {
    pub(super) fn new(db: Handle) -> Self {
        Self { db }
    }
}

impl Reader for SqliteReader {
    fn binding(&mut self, public_key: &str) -> Result<Option<[u8; 32]>, StorageError> {
        let db = self.db.lock();
        let mut select = db.prepare_cached("SELECT signing_key FROM binding WHERE public_key = ?1")?;
        Ok(select.query_row([public_key], |row| row.get(0)).optional()?)
    }

    fn head(&mut self, scope: &Scope) -> Result<u64, StorageError> {
        Ok(store_and_next(&self.db.lock(), scope)?.map_or(FIRST_SEQUENCE, |(_, next)| next) - 1)
    }

    fn page(&mut self, scope: &Scope, from: u64, budget: usize) -> Result<Page, StorageError> {
        let mut db = self.db.lock();
        let tx = Transaction::new(&mut db, TransactionBehavior::Deferred)?;
        let Some((store, next)) = store_and_next(&tx, scope)? else {
            return Ok(Splice::new(0).page(FIRST_SEQUENCE, true));
        };
        let mut splice = Splice::new(budget);
        let end = splice.read(&tx, store, from..next)?;
        Ok(splice.page(next, end))
    }

    fn slice(&mut self, scope: &Scope, last: u64, offset: u64, length: usize) -> Result<Bytes, StorageError> {
        let mut db = self.db.lock();
        let tx = Transaction::new(&mut db, TransactionBehavior::Deferred)?;
        let gone = || StorageError::Damaged(format!("batch {last}, which is gone or not a large one"));
        let (store, _) = store_and_next(&tx, scope)?.ok_or_else(gone)?;
        let mut select = tx.prepare_cached(
            "SELECT blob, size FROM batch WHERE store = ?1 AND last = ?2 AND blob IS NOT NULL",
        )?;
        let found = select.query_row((store, last), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (blob, size) = found.ok_or_else(gone)?;
        read_parts(&tx, blob, size, offset, length)
    }
}

fn store_and_next(db: &Connection, scope: &Scope) -> Result<Option<(i64, u64)>, StorageError> {
    let mut select =
        db.prepare_cached("SELECT number, next_sequence FROM store WHERE public_key = ?1 AND name = ?2")?;
    let found = select
        .query_row((&scope.public_key, &scope.store), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    found.map_or(Ok(()), |(store, next)| check_next(store, next))?;
    Ok(found)
}
