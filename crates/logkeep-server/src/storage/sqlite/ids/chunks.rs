//! The chunks of a store in the database: finding an id, merging new ones in, taking them out.
//!
//! Each chunk has a *fence*: no id in it is lower, and all ids of the next chunk are at or above that one's
//! fence. The first fence of a store is 0, so every id belongs to exactly one chunk.

use rusqlite::{Connection, OptionalExtension};

use super::chunk::{Entry, Id, MAX_BYTES, decode, encode, find as find_in};
use crate::storage::StorageError;

struct Chunk {
    fence: Id,
    entries: Vec<Entry>,
}

/// Where `id` was first stored, if a chunk knows it.
pub(super) fn find(db: &Connection, store: i64, id: Id) -> Result<Option<u64>, StorageError> {
    let found = with_chunk_of(db, store, id, |_, bytes| find_in(bytes, id))?;
    found.map_or(Ok(None), |found| found.ok_or_else(|| damaged(store, id)))
}

/// The greatest id in any chunk of the store.
pub(super) fn greatest(db: &Connection, store: i64) -> Result<Option<Id>, StorageError> {
    let chunk = chunk_of(db, store, Id::MAX)?;
    Ok(chunk.and_then(|chunk| chunk.entries.last().map(|(id, _)| *id)))
}

/// Merges as many of `pending` (ascending, not empty) as belong to the chunk of the first one; answers how
/// many. Ids that are there already keep their sequence.
pub(super) fn merge(db: &Connection, store: i64, pending: &[Entry]) -> Result<usize, StorageError> {
    let Some(&(first, _)) = pending.first() else { return Ok(0) };
    let chunk = chunk_of(db, store, first)?.unwrap_or(Chunk { fence: 0, entries: Vec::new() });
    let next = next_fence(db, store, chunk.fence)?;
    let belonging = pending.partition_point(|(id, _)| next.is_none_or(|next| *id < next));
    let merged = merge_sorted(&chunk.entries, pending.get(..belonging).unwrap_or_default());
    if merged.len() > chunk.entries.len() {
        replace(db, store, chunk.fence, &merged, next.is_none())?;
    }
    Ok(belonging)
}

/// Takes the given ids out again where their sequence is `from` or above.
pub(in super::super) fn forget(
    db: &Connection,
    store: i64,
    ids: &[Id],
    from: u64,
) -> Result<(), StorageError> {
    for &id in ids {
        if find(db, store, id)?.is_none_or(|sequence| sequence < from) {
            continue;
        }
        let Some(mut chunk) = chunk_of(db, store, id)? else { continue };
        chunk.entries.retain(|(_, sequence)| *sequence < from);
        if chunk.entries.is_empty() && chunk.fence != 0 {
            db.prepare_cached("DELETE FROM id_chunk WHERE store = ?1 AND fence = ?2")?
                .execute((store, chunk.fence.to_be_bytes()))?;
        } else {
            replace(db, store, chunk.fence, &chunk.entries, false)?;
        }
    }
    Ok(())
}

/// Writes `entries` in place of the chunk at `fence`, as several chunks if they are too many. Behind the
/// last chunk of a store ids are appended, so chunks are filled; elsewhere room is left.
fn replace(
    db: &Connection,
    store: i64,
    fence: Id,
    entries: &[Entry],
    last: bool,
) -> Result<(), StorageError> {
    let mut write = db.prepare_cached(
        "INSERT INTO id_chunk (store, fence, entries) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET entries = excluded.entries",
    )?;
    let (mut bytes, mut count) = encode(entries, MAX_BYTES);
    let limit = if last || count == entries.len() { MAX_BYTES } else { MAX_BYTES * 2 / 3 };
    if limit < MAX_BYTES {
        (bytes, count) = encode(entries, limit);
    }
    write.execute((store, fence.to_be_bytes(), bytes))?;
    let mut rest = entries.get(count..).unwrap_or_default();
    while let Some((id, _)) = rest.first() {
        let (bytes, count) = encode(rest, limit);
        write.execute((store, id.to_be_bytes(), bytes))?;
        rest = rest.get(count..).unwrap_or_default();
    }
    Ok(())
}

fn merge_sorted(old: &[Entry], new: &[Entry]) -> Vec<Entry> {
    let mut merged = Vec::with_capacity(old.len() + new.len());
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let take_old = match (old.peek(), new.peek()) {
            (None, None) => return merged,
            (Some((a, _)), Some((b, _))) => {
                if a == b {
                    new.next();
                }
                a <= b
            }
            (known, _) => known.is_some(),
        };
        merged.extend(if take_old { old.next() } else { new.next() });
    }
}

fn chunk_of(db: &Connection, store: i64, id: Id) -> Result<Option<Chunk>, StorageError> {
    let chunk = with_chunk_of(db, store, id, |fence, bytes| {
        let fence = Id::from_be_bytes(fence.try_into().ok()?);
        decode(bytes).map(|entries| Chunk { fence, entries })
    })?;
    chunk.map_or(Ok(None), |chunk| chunk.map(Some).ok_or_else(|| damaged(store, id)))
}

/// Calls `with` on fence and bytes of the chunk an id belongs to, if the store has chunks.
fn with_chunk_of<T>(
    db: &Connection,
    store: i64,
    id: Id,
    with: impl FnOnce(&[u8], &[u8]) -> T,
) -> Result<Option<T>, StorageError> {
    let mut select = db.prepare_cached(
        "SELECT fence, entries FROM id_chunk WHERE store = ?1 AND fence <= ?2 ORDER BY fence DESC LIMIT 1",
    )?;
    let found = select.query_row((store, id.to_be_bytes()), |row| {
        let (fence, entries) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
        Ok(with(fence, entries))
    });
    Ok(found.optional()?)
}

fn next_fence(db: &Connection, store: i64, fence: Id) -> Result<Option<Id>, StorageError> {
    let mut select = db.prepare_cached(
        "SELECT fence FROM id_chunk WHERE store = ?1 AND fence > ?2 ORDER BY fence LIMIT 1",
    )?;
    let next: Option<[u8; 16]> =
        select.query_row((store, fence.to_be_bytes()), |row| row.get(0)).optional()?;
    Ok(next.map(Id::from_be_bytes))
}

fn damaged(store: i64, id: Id) -> StorageError {
    StorageError::Damaged(format!("id chunk of store {store} for id {id:032x}"))
}
