//! Writing and deleting the rows of a batch.
//!
//! What is small is in the batch's own row. What is large is appended to the table `blob`, in parts with
//! consecutive ids, so that the rows stay close together and a page of ids does not drag ciphertext along.

use bytes::Bytes;
use rusqlite::{Connection, MAIN_DB};

use crate::storage::{Batch, StorageError};

/// Up to this many bytes of ids and sealed data a batch is kept in its row: then four of them fit a page.
const MAX_INLINE: usize = 1_960;

/// The length of each part of a large batch but the last.
pub(super) const PART_BYTES: usize = 4 << 20;

/// The most bytes of ids SQLite keeps in a row.
const MAX_IDS: usize = 900_000_000;

/// How many parts `size` bytes are cut in.
pub(super) const fn parts(size: usize) -> usize {
    size.div_ceil(PART_BYTES)
}

/// Hands out ids for blobs: ascending, so that blobs are appended.
pub(super) struct BlobIds {
    next: i64,
}

impl BlobIds {
    /// Goes on behind the greatest id in use.
    pub(super) fn load(db: &Connection) -> Result<Self, StorageError> {
        let next = db.query_row("SELECT coalesce(max(id), 0) + 1 FROM blob", [], |row| row.get(0))?;
        Ok(Self { next })
    }

    fn take(&mut self, count: usize) -> i64 {
        let first = self.next;
        self.next += count as i64;
        first
    }
}

/// The parts of a large batch that are still to be written.
pub(super) struct Parts {
    id: i64,
    rest: bytes::Bytes,
}

/// Refuses a batch that does not fit the database.
pub(super) fn check_size(batch: &Batch) -> Result<(), StorageError> {
    if batch.entry_ids.len() > MAX_IDS {
        let size = batch.entry_ids.len();
        return Err(StorageError::Refused(format!("{size} bytes of entry ids, {MAX_IDS} are possible")));
    }
    Ok(())
}

/// Writes the row of a batch whose last sequence is `last`. If it is large its parts remain to be written.
pub(super) fn insert(
    db: &Connection,
    blobs: &mut BlobIds,
    store: i64,
    last: u64,
    batch: &Batch,
) -> Result<Option<Parts>, StorageError> {
    let mut insert = db.prepare_cached(
        "INSERT INTO batch (store, last, count, blob, size, entry_ids, sealed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let (ids, sealed) = (&batch.entry_ids[..], &batch.sealed[..]);
    if ids.len() + sealed.len() <= MAX_INLINE {
        insert.execute((store, last, batch.count, None::<i64>, None::<u64>, ids, Some(sealed)))?;
        return Ok(None);
    }
    let id = blobs.take(parts(sealed.len()));
    insert.execute((store, last, batch.count, Some(id), Some(sealed.len() as u64), ids, None::<&[u8]>))?;
    Ok(Some(Parts { id, rest: batch.sealed.clone() }))
}

impl Parts {
    /// Writes the next part; answers its length, 0 if there is none left.
    pub(super) fn write_next(&mut self, db: &Connection) -> Result<usize, StorageError> {
        let part = self.rest.split_to(self.rest.len().min(PART_BYTES));
        if !part.is_empty() {
            db.prepare_cached("INSERT INTO blob (id, bytes) VALUES (?1, ?2)")?
                .execute((self.id, &part[..]))?;
            self.id += 1;
        }
        Ok(part.len())
    }

    /// Writes all parts that are left.
    pub(super) fn write_all(mut self, db: &Connection) -> Result<(), StorageError> {
        while self.write_next(db)? > 0 {}
        Ok(())
    }
}

/// Deletes up to `limit` parts of a batch, if it is a large one; answers how many.
pub(super) fn delete_parts(
    db: &Connection,
    store: i64,
    last: u64,
    limit: usize,
) -> Result<usize, StorageError> {
    let mut select = db.prepare_cached("SELECT blob, size FROM batch WHERE store = ?1 AND last = ?2")?;
    let (blob, size): (Option<i64>, Option<usize>) =
        select.query_row((store, last), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(first), Some(size)) = (blob, size) else { return Ok(0) };
    let mut delete = db.prepare_cached(
        "DELETE FROM blob WHERE id IN (SELECT id FROM blob WHERE id >= ?1 AND id < ?2 LIMIT ?3)",
    )?;
    Ok(delete.execute((first, first.wrapping_add(parts(size) as i64), limit))?)
}

/// Deletes the row of a batch; answers its count and entry ids.
pub(super) fn delete(db: &Connection, store: i64, last: u64) -> Result<(u32, Vec<u8>), StorageError> {
    let mut delete =
        db.prepare_cached("DELETE FROM batch WHERE store = ?1 AND last = ?2 RETURNING count, entry_ids")?;
    Ok(delete.query_row((store, last), |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Reads `length` bytes, from `offset` on, of a large batch of `size` bytes whose first part is `blob`.
pub(super) fn read_parts(
    db: &Connection,
    blob: i64,
    size: u64,
    offset: u64,
    length: usize,
) -> Result<Bytes, StorageError> {
    let damaged = || StorageError::Damaged(format!("blob {blob}, which should have {size} bytes"));
    if offset.checked_add(length as u64).is_none_or(|end| end > size) {
        return Err(damaged());
    }
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while let Some(target) = bytes.get_mut(filled..).filter(|target| !target.is_empty()) {
        let position = offset + filled as u64;
        let id = blob.wrapping_add((position / PART_BYTES as u64) as i64);
        let part = db.blob_open(MAIN_DB, "blob", "bytes", id, true)?;
        let read = part.read_at(target, (position % PART_BYTES as u64) as usize)?;
        if read == 0 {
            return Err(damaged());
        }
        filled += read;
    }
    Ok(bytes.into())
}
