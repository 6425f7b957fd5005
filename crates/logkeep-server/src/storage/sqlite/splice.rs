//! Building the rows of a [`Page`] out of stored bytes, without looking into them.

use std::ops::{Range, RangeInclusive};

use rusqlite::Connection;
use schema_binary::wire::{Reader, put_uvarint, uvarint_len};

use super::rows::{parts, read_parts};
use crate::storage::{LARGE_BATCH, LargeBatch, Page, Row, StorageError};

/// The row's shape, `sequence iv encryptedBatch entryIds`, was declared by the row before all others.
const KNOWN_SHAPE: u8 = 1;

/// How much room a page begins with.
const FIRST_RESERVE: usize = 64 << 10;

/// A page that is being built.
pub(super) struct Splice {
    budget: usize,
    rows: Vec<Row>,
    bytes: Vec<u8>,
    large: Option<LargeBatch>,
}

/// Where the sealed part of a batch is.
enum Sealed<'a> {
    Inline(&'a [u8]),
    Blob { first: i64, size: u64 },
}

impl Splice {
    /// A page of at most `budget` bytes, or of one row.
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, rows: Vec::new(), bytes: Vec::with_capacity(budget.min(FIRST_RESERVE)), large: None }
    }

    /// The page, of a store whose next sequence is `next`.
    pub(super) fn page(self, next: u64, end: bool) -> Page {
        let last = self.large.as_ref().map(|large| large.last).or_else(|| Some(self.rows.last()?.last));
        let behind = last.map_or(next, |last| last + 1);
        Page {
            rows: self.rows,
            bytes: self.bytes.into(),
            head: next - 1,
            next: if end { next } else { behind },
            end,
            large: self.large,
        }
    }

    /// Appends the batches whose last sequence is in `sequences` until the budget is used up; `true` if
    /// there are no more.
    pub(super) fn read(
        &mut self,
        db: &Connection,
        store: i64,
        sequences: Range<u64>,
    ) -> Result<bool, StorageError> {
        let mut select = db.prepare_cached(
            "SELECT last, count, blob, size, entry_ids, sealed FROM batch
             WHERE store = ?1 AND last >= ?2 AND last < ?3 ORDER BY last",
        )?;
        let mut found = select.query((store, sequences.start, sequences.end))?;
        while let Some(row) = found.next()? {
            let (last, count): (u64, u64) = (row.get(0)?, row.get(1)?);
            let first = (last + 1).checked_sub(count).filter(|first| *first > 0 && *first <= last);
            let first = first.ok_or_else(|| StorageError::Damaged(format!("count of batch {last}")))?;
            let entry_ids = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
            let sealed = match row.get(2)? {
                Some(first) => Sealed::Blob { first, size: row.get(3)? },
                None => Sealed::Inline(row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?),
            };
            if let Sealed::Blob { first: blob, size } = sealed
                && size + entry_ids.len() as u64 > self.budget.max(LARGE_BATCH) as u64
            {
                if self.rows.is_empty() {
                    self.large = Some(describe(db, first..=last, entry_ids, blob, size)?);
                }
                return Ok(self.large.is_some() && last + 1 == sequences.end);
            }
            if !self.append(db, first, &sealed, entry_ids)? {
                return Ok(false);
            }
            self.rows.push(Row { first, last, end: self.bytes.len() });
        }
        Ok(true)
    }

    /// Appends one row; `false` if the budget does not allow it.
    fn append(
        &mut self,
        db: &Connection,
        first: u64,
        sealed: &Sealed<'_>,
        entry_ids: &[u8],
    ) -> Result<bool, StorageError> {
        let (sequence, ids_size) = (2 * first, entry_ids.len() as u64);
        let sequence_size = uvarint_len(sequence) as u64;
        let sealed_size = match sealed {
            Sealed::Inline(bytes) => bytes.len() as u64,
            Sealed::Blob { size, .. } => *size,
        };
        let size = 2 + sequence_size + sealed_size + uvarint_len(2 * ids_size) as u64 + ids_size;
        if !self.rows.is_empty() && (self.bytes.len() + uvarint_len(size)) as u64 + size > self.budget as u64
        {
            return Ok(false);
        }
        put_uvarint(&mut self.bytes, size);
        self.bytes.push(KNOWN_SHAPE);
        put_uvarint(&mut self.bytes, 2 * sequence_size);
        put_uvarint(&mut self.bytes, sequence);
        match *sealed {
            Sealed::Inline(bytes) => self.bytes.extend_from_slice(bytes),
            Sealed::Blob { first, size } => self.append_blob(db, first, size)?,
        }
        put_uvarint(&mut self.bytes, 2 * ids_size);
        self.bytes.extend_from_slice(entry_ids);
        Ok(true)
    }

    fn append_blob(&mut self, db: &Connection, first: i64, size: u64) -> Result<(), StorageError> {
        let damaged = || StorageError::Damaged(format!("blob {first}, which should have {size} bytes"));
        let start = self.bytes.len();
        let count = usize::try_from(size).map_err(|_| damaged()).map(parts)?;
        let mut select = db.prepare_cached("SELECT bytes FROM blob WHERE id = ?1")?;
        for n in 0..count as i64 {
            select
                .query_row([first.wrapping_add(n)], |row| {
                    self.bytes.extend_from_slice(row.get_ref(0)?.as_blob()?);
                    Ok(())
                })
                .map_err(|error| match error {
                    rusqlite::Error::QueryReturnedNoRows => damaged(),
                    error => error.into(),
                })?;
        }
        let complete = (self.bytes.len() - start) as u64 == size;
        if complete { Ok(()) } else { Err(damaged()) }
    }
}

/// Describes a batch instead of reading it.
fn describe(
    db: &Connection,
    sequences: RangeInclusive<u64>,
    entry_ids: &[u8],
    blob: i64,
    size: u64,
) -> Result<LargeBatch, StorageError> {
    // A nonce has 12 bytes, and whoever chose another length is not sent a longer one.
    const LONGEST_IV: u64 = 4096;
    let (first, last) = sequences.into_inner();
    let damaged = || StorageError::Damaged(format!("the nonce of batch {last}"));
    let beginning = read_parts(db, blob, size, 0, LONGEST_IV.min(size) as usize)?;
    let mut reader = Reader::new(&beginning);
    let code = reader.uvarint().map_err(|_| damaged())?;
    let length = (beginning.len() - reader.rest().len()) as u64 + code / 2;
    let iv = usize::try_from(length).ok().filter(|length| *length <= beginning.len());
    let iv = beginning.slice(..iv.ok_or_else(damaged)?);
    Ok(LargeBatch { first, last, entry_ids: entry_ids.to_vec().into(), sealed: size, iv })
}
