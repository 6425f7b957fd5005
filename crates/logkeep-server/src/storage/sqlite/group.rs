//! One group of writes: planned write by write against the stores' state in memory, inside one transaction.
//!
//! The stores that a group touches are taken out of the cache. They go back when the transaction has been
//! committed, and are dropped (to be read anew) when it failed; so a failed group leaves no trace.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use logkeep_protocol::Scope;
use rusqlite::Connection;

use super::ids::{self, Id};
use super::recent::Recent;
use super::rows::{self, BlobIds};
use super::stores::Store;
use crate::storage::{Batch, Millis, Placed, StorageError, Write};

/// What became of one write.
pub(super) struct Stored {
    pub(super) placed: Vec<Placed>,
    pub(super) head: u64,
}

/// A group that is being planned and written.
pub(super) struct Group<'a> {
    db: &'a Connection,
    cache: &'a mut Cache,
    blobs: &'a mut BlobIds,
    now: Millis,
    touched: HashMap<Scope, Store>,
}

impl<'a> Group<'a> {
    /// Begins a group in the transaction that is open on `db`.
    pub(super) fn new(db: &'a Connection, cache: &'a mut Cache, blobs: &'a mut BlobIds, now: Millis) -> Self {
        Self { db, cache, blobs, now, touched: HashMap::new() }
    }

    /// Plans and writes one write. The inner error is the write's own; it came before anything was changed.
    pub(super) fn add(&mut self, write: &Write) -> Result<Result<Stored, StorageError>, StorageError> {
        let ids = match write.batches.iter().map(checked_ids).collect::<Result<Vec<_>, _>>() {
            Ok(ids) => ids,
            Err(refused) => return Ok(Err(refused)),
        };
        let db = self.db;
        let store = match self.touched.entry(write.scope.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(self.cache.load(db, &write.scope, self.now)?),
        };
        let before = store.next - 1;
        let mut placed = Vec::with_capacity(ids.len());
        for (batch, ids) in write.batches.iter().zip(&ids) {
            let (place, parts) = store.place(db, self.blobs, batch, ids)?;
            parts.map_or(Ok(()), |parts| parts.write_all(db))?;
            placed.push(place);
        }
        let head = store.next - 1;
        if head > before {
            store.touch(db, before, self.now)?;
        }
        Ok(Ok(Stored { placed, head }))
    }

    /// Writes what is left to write; answers the stores, for the cache once the transaction is committed.
    pub(super) fn finish(mut self) -> Result<HashMap<Scope, Store>, StorageError> {
        for store in self.touched.values_mut().filter(|store| store.ids.has_new()) {
            store.fold(self.db)?;
            store.save(self.db)?;
        }
        Ok(self.touched)
    }
}

/// Reads the ids of a batch, refusing what does not have the promised form.
pub(super) fn checked_ids(batch: &Batch) -> Result<Vec<Id>, StorageError> {
    rows::check_size(batch)?;
    ids::parse(batch.count, &batch.entry_ids).ok_or_else(|| {
        StorageError::Refused(format!("its entry ids are not {} ids of 16 bytes", batch.count))
    })
}

/// The stores that were written to recently.
pub(super) struct Cache(Recent<Scope, Store>);

impl Cache {
    /// How many ids are kept in memory at most, over all stores.
    const MAX_IDS: usize = 100_000;
    /// As how many ids a store counts beside those it holds.
    const STORE_WEIGHT: usize = 16;

    /// An empty cache.
    pub(super) fn new() -> Self {
        Self(Recent::new(Self::MAX_IDS))
    }

    /// Takes a store out, reads it, or creates it.
    pub(super) fn load(
        &mut self,
        db: &Connection,
        scope: &Scope,
        now: Millis,
    ) -> Result<Store, StorageError> {
        if let Some(store) = self.0.take(scope) {
            return Ok(store);
        }
        Store::load(db, scope)?.map_or_else(|| Store::create(db, scope, now), Ok)
    }

    /// Puts a store in whose changes have been committed.
    pub(super) fn put(&mut self, scope: Scope, store: Store) {
        let weight = store.ids.len_in_memory() + Self::STORE_WEIGHT;
        self.0.put(scope, store, weight);
    }
}
