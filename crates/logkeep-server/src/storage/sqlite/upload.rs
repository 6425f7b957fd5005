//! Uploads: writes too large for memory and for one transaction.
//!
//! Their batches are written where they will stay, behind the store's head, a few megabytes in each transaction.
//! Nothing behind the head is visible, so moving the head in the last transaction shows all of them at
//! once. A row in the table `upload` tells that a store may have such rows. If the upload does not come to its
//! end they are deleted again, before anything else is written to the store.

use std::io;

use logkeep_protocol::Scope;
use rusqlite::Connection;

use super::group::{Cache, checked_ids};
use super::ids;
use super::rows::{self, BlobIds, PART_BYTES, Parts};
use super::stores::Store;
use crate::storage::{Batch, Millis, Placed, StorageError, Upload, Written};

/// About how many bytes are written in a transaction.
const STEP_BYTES: usize = PART_BYTES;

/// An upload that is under way.
pub(super) struct Running {
    pub(super) scope: Scope,
    batches: Box<dyn Iterator<Item = io::Result<Batch>> + Send>,
    answered_ids: usize,
    placed: Vec<Placed>,
    begun: Option<Begun>,
}

/// The store of an upload, from the first step on.
struct Begun {
    store: Store,
    head_before: u64,
    parts: Option<Parts>,
}

impl Running {
    /// An upload of which nothing has been written.
    pub(super) fn new(upload: Upload) -> Self {
        Self {
            scope: upload.scope,
            batches: upload.batches,
            answered_ids: upload.answered_ids,
            placed: Vec::new(),
            begun: None,
        }
    }

    /// Writes the next megabytes in the transaction that is open on `db`; `true` when all is written and
    /// visible.
    pub(super) fn step(
        &mut self,
        db: &Connection,
        cache: &mut Cache,
        blobs: &mut BlobIds,
        now: Millis,
    ) -> Result<bool, StorageError> {
        let begun = match &mut self.begun {
            Some(begun) => begun,
            None => self.begun.insert(Begun::new(db, cache.load(db, &self.scope, now)?)?),
        };
        let mut written = 0;
        while written < STEP_BYTES {
            if let Some(parts) = &mut begun.parts {
                match parts.write_next(db)? {
                    0 => begun.parts = None,
                    bytes => written += bytes,
                }
                continue;
            }
            let Some(batch) = self.batches.next() else {
                begun.finish(db, now)?;
                return Ok(true);
            };
            let batch = batch.map_err(|error| StorageError::Failed(format!("reading an upload: {error}")))?;
            let ids = checked_ids(&batch)?;
            let (place, parts) = begun.store.place(db, blobs, &batch, &ids)?;
            written += batch.entry_ids.len() + if parts.is_none() { batch.sealed.len() } else { 0 };
            begun.parts = parts;
            if self.answered_ids > 0 {
                self.answered_ids = self.answered_ids.saturating_sub(ids.len());
                self.placed.push(place);
            }
        }
        begun.store.fold(db)?;
        Ok(false)
    }

    /// The store's number, from the first step on.
    pub(super) fn store(&self) -> Option<i64> {
        self.begun.as_ref().map(|begun| begun.store.number)
    }

    /// The answer, and the store for the cache, after the last transaction has been committed.
    pub(super) fn done(self) -> Option<(Scope, Store, Written)> {
        let store = self.begun?.store;
        let written = Written { placed: self.placed, head: store.next - 1, batches: Vec::new() };
        Some((self.scope, store, written))
    }
}

impl Begun {
    fn new(db: &Connection, store: Store) -> Result<Self, StorageError> {
        db.prepare_cached("INSERT INTO upload (store) VALUES (?1)")?.execute([store.number])?;
        let head_before = store.next - 1;
        Ok(Self { store, head_before, parts: None })
    }

    fn finish(&mut self, db: &Connection, now: Millis) -> Result<(), StorageError> {
        if self.store.next - 1 > self.head_before {
            self.store.touch(db, self.head_before, now)?;
        }
        self.store.fold(db)?;
        self.store.save(db)?;
        delete_mark(db, self.store.number)
    }
}

/// The stores of uploads that did not come to their end.
pub(super) fn unfinished(db: &Connection) -> Result<Vec<i64>, StorageError> {
    let mut select = db.prepare_cached("SELECT store FROM upload")?;
    let stores = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(stores)
}

/// How many rows are deleted in a transaction, and how many parts of a large batch.
const DISCARDED_ROWS: usize = 256;
const DISCARDED_PARTS: usize = 2;

/// Deletes some of what an unfinished upload left behind the head of `store`, in the transaction that is open
/// on `db`; `true` when nothing is left.
pub(super) fn discard_some(db: &Connection, store: i64) -> Result<bool, StorageError> {
    let next: u64 = db
        .prepare_cached("SELECT next_sequence FROM store WHERE number = ?1")?
        .query_row([store], |row| row.get(0))?;
    let mut parts = 0;
    for _ in 0..DISCARDED_ROWS {
        let Some(last) = last_row_from(db, store, next)? else {
            db.prepare_cached(
                "UPDATE store SET indexed_through = min(indexed_through, next_sequence - 1) WHERE number = ?1",
            )?
            .execute([store])?;
            delete_mark(db, store)?;
            return Ok(true);
        };
        parts += rows::delete_parts(db, store, last, DISCARDED_PARTS)?;
        if parts >= DISCARDED_PARTS {
            break;
        }
        let (count, entry_ids) = rows::delete(db, store, last)?;
        let ids = ids::parse(count, &entry_ids)
            .ok_or_else(|| StorageError::Damaged(format!("entry ids of batch {last} of store {store}")))?;
        ids::forget(db, store, &ids, next)?;
    }
    Ok(false)
}

fn last_row_from(db: &Connection, store: i64, next: u64) -> Result<Option<u64>, StorageError> {
    let mut select = db.prepare_cached("SELECT max(last) FROM batch WHERE store = ?1 AND last >= ?2")?;
    Ok(select.query_row((store, next), |row| row.get(0))?)
}

fn delete_mark(db: &Connection, store: i64) -> Result<(), StorageError> {
    db.prepare_cached("DELETE FROM upload WHERE store = ?1")?.execute([store])?;
    Ok(())
}
