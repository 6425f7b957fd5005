//! Which ids a store has seen and where each was first stored (SV-042…044), without a table row per id.
//!
//! Old ids are in *chunks* (table `id_chunk`): together a sorted list of all ids up to the sequence
//! `indexed_through`, cut in pieces that fit a quarter of a page. Younger ids, the *tail*, are in memory; they are
//! read from the batches' rows when the store is first written to. When the tail has grown long it is
//! folded into the chunks, a bounded part of it in each transaction. Ids in time order fall behind the
//! last chunk, so that folding only appends; ids in random order rewrite a chunk each.

mod chunk;
mod chunks;
mod wire;

use std::collections::HashMap;

use rusqlite::Connection;

use crate::storage::StorageError;
use chunk::Entry;
pub(super) use chunk::Id;
pub(super) use chunks::forget;
pub(super) use wire::parse;

/// How many ids a tail holds before it is folded.
const FOLD_AT: usize = 4_096;

/// How many chunks a transaction rewrites at least, if there is something to fold.
const MIN_CHUNKS: usize = 64;

/// The ids of one store, as far as they are in memory.
pub(super) struct IdIndex {
    store: i64,
    indexed_through: u64,
    greatest_in_chunks: Option<Id>,
    folding: Option<Folding>,
    tail: HashMap<Id, u64>,
    inserted_since_fold: usize,
}

/// A former tail on its way into the chunks.
struct Folding {
    entries: Vec<Entry>,
    folded: usize,
    through: u64,
}

impl IdIndex {
    /// The index of a store that holds nothing.
    pub(super) fn empty(store: i64) -> Self {
        Self {
            store,
            indexed_through: 0,
            greatest_in_chunks: None,
            folding: None,
            tail: HashMap::new(),
            inserted_since_fold: 0,
        }
    }

    /// Reads the tail of a store whose chunks cover everything up to the sequence `indexed_through`.
    pub(super) fn load(db: &Connection, store: i64, indexed_through: u64) -> Result<Self, StorageError> {
        let greatest_in_chunks = chunks::greatest(db, store)?;
        let mut index = Self { indexed_through, greatest_in_chunks, ..Self::empty(store) };
        let mut select = db.prepare_cached(
            "SELECT last, count, entry_ids FROM batch WHERE store = ?1 AND last > ?2 ORDER BY last",
        )?;
        let mut rows = select.query((store, indexed_through))?;
        while let Some(row) = rows.next()? {
            let (last, count): (u64, u32) = (row.get(0)?, row.get(1)?);
            let ids = parse(count, row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?);
            let first = (last + 1).checked_sub(u64::from(count));
            let (Some(ids), Some(first)) = (ids, first) else {
                return Err(StorageError::Damaged(format!("entry ids of batch {last} of store {store}")));
            };
            index.insert_all(&ids, first);
        }
        index.inserted_since_fold = 0;
        Ok(index)
    }

    /// Up to which sequence the chunks cover everything.
    pub(super) const fn indexed_through(&self) -> u64 {
        self.indexed_through
    }

    /// How many ids are held in memory.
    pub(super) fn len_in_memory(&self) -> usize {
        self.tail.len() + self.folding.as_ref().map_or(0, |folding| folding.entries.len())
    }

    /// Whether ids were inserted since the last fold.
    pub(super) const fn has_new(&self) -> bool {
        self.inserted_since_fold > 0
    }

    /// Where `id` was first stored. The older a place, the earlier it is asked.
    pub(super) fn first_sequence(&self, db: &Connection, id: Id) -> Result<Option<u64>, StorageError> {
        if self.greatest_in_chunks.is_some_and(|greatest| id <= greatest) {
            let found = chunks::find(db, self.store, id)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let folding = self.folding.as_ref().and_then(|folding| folding.find(id));
        Ok(folding.or_else(|| self.tail.get(&id).copied()))
    }

    /// Remembers ids that occupy the sequences from `first` on, where they are not known already.
    pub(super) fn insert_all(&mut self, ids: &[Id], first: u64) {
        for (id, sequence) in ids.iter().zip(first..) {
            self.tail.entry(*id).or_insert(sequence);
        }
        self.inserted_since_fold += ids.len();
    }

    /// Folds some of the ids into the chunks if the tail is long: the more were inserted since the last
    /// call the more, so that the tail stays bounded. `head` is the sequence of the last id inserted.
    pub(super) fn fold(&mut self, db: &Connection, head: u64) -> Result<(), StorageError> {
        let chunks = MIN_CHUNKS + 2 * std::mem::take(&mut self.inserted_since_fold);
        if self.folding.is_none() && self.tail.len() >= FOLD_AT {
            self.folding = Some(Folding::new(std::mem::take(&mut self.tail), head));
        }
        let Some(folding) = &mut self.folding else { return Ok(()) };
        for _ in 0..chunks {
            let Some(pending) = folding.entries.get(folding.folded..).filter(|pending| !pending.is_empty())
            else {
                break;
            };
            folding.folded += chunks::merge(db, self.store, pending)?;
        }
        if folding.folded == folding.entries.len() {
            self.indexed_through = folding.through;
            self.greatest_in_chunks = self.greatest_in_chunks.max(folding.entries.last().map(|(id, _)| *id));
            self.folding = None;
        }
        Ok(())
    }
}

impl Folding {
    fn new(tail: HashMap<Id, u64>, through: u64) -> Self {
        let mut entries: Vec<Entry> = tail.into_iter().collect();
        entries.sort_unstable();
        Self { entries, folded: 0, through }
    }

    fn find(&self, id: Id) -> Option<u64> {
        let at = self.entries.binary_search_by_key(&id, |entry| entry.0).ok()?;
        self.entries.get(at).map(|entry| entry.1)
    }
}
