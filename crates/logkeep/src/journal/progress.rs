//! How far each remote has got: its checkpoint for uploads, its cursor for downloads.

use rusqlite::{Connection, TransactionBehavior, params};

use super::error::{Cause, JournalError};
use super::{Journal, rows};
use crate::{Entry, EntryId, RemoteId};

/// How much is taken from the journal at once. At least one entry is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingLimits {
    /// Most entries.
    pub entries: usize,
    /// Most payload bytes.
    pub payload_bytes: usize,
}

const UNLIMITED: PendingLimits = PendingLimits { entries: usize::MAX, payload_bytes: usize::MAX };

/// Entries that a remote does not have yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The entries in id order; at least one.
    pub entries: Vec<Entry>,
    /// What to tell [`Journal::uploaded`] once the remote has them.
    pub through: i64,
}

impl Journal {
    /// The first entries in insertion order that `remote` may not have: everything behind its
    /// checkpoint that did not come from it. `None` if there is nothing to upload.
    ///
    /// Entries committed later stay pending, whatever their ids. Until [`Journal::uploaded`] is told, the
    /// same entries are offered again, also after a crash and whatever the limits: a server
    /// recognizes an upload that it has by its batches, so they must not be cut anew.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn pending(
        &mut self,
        remote: RemoteId,
        limits: PendingLimits,
    ) -> Result<Option<Pending>, JournalError> {
        pending(&mut self.connection, remote, limits).map_err(JournalError::during("reading what is pending"))
    }

    /// How many entries `remote` may not have.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn pending_count(&self, remote: RemoteId) -> Result<u64, JournalError> {
        pending_count(&self.connection, remote).map_err(JournalError::during("counting what is pending"))
    }

    /// Records that `remote` has everything up to `through`. An earlier position than the
    /// recorded one changes nothing.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn uploaded(&mut self, remote: RemoteId, through: i64) -> Result<(), JournalError> {
        self.advance(remote, |_| Ok((0, through))).map_err(JournalError::during("recording an upload"))
    }

    /// The first sequence of `remote` that was not seen yet; 0 for a remote never heard of.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn next_sequence(&self, remote: RemoteId) -> Result<u64, JournalError> {
        let known =
            rows::remote(&self.connection, remote).map_err(JournalError::during("reading the cursor"))?;
        Ok(known.map_or(0, |known| known.cursor.unsigned_abs()))
    }

    /// Moves the cursor over acknowledged sequences, as far as they follow on it without a gap.
    /// `first_sequence` is the lowest one the remote assigns.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn acknowledge(
        &mut self,
        remote: RemoteId,
        acks: &[(EntryId, u64)],
        first_sequence: u64,
    ) -> Result<(), JournalError> {
        if acks.is_empty() {
            return Ok(());
        }
        let mut sequences: Vec<u64> = acks.iter().map(|(_, sequence)| *sequence).collect();
        sequences.sort_unstable();
        let advance = |cursor: i64| {
            let next = contiguous(cursor.unsigned_abs().max(first_sequence), &sequences);
            Ok((rows::column(next)?, 0))
        };
        self.advance(remote, advance).map_err(JournalError::during("recording acknowledgements"))
    }

    /// Moves cursor and checkpoint to what `next` makes of the cursor.
    pub(super) fn advance(
        &mut self,
        remote: RemoteId,
        next: impl FnOnce(i64) -> Result<(i64, i64), Cause>,
    ) -> Result<(), Cause> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = rows::ensure_remote(&transaction, remote)?;
        let (cursor, checkpoint) = next(known.cursor)?;
        rows::advance_remote(&transaction, known.number, cursor, checkpoint)?;
        Ok(transaction.commit()?)
    }
}

/// The first number from `start` on that is missing in the ascending `sequences` (EL-081).
fn contiguous(start: u64, sequences: &[u64]) -> u64 {
    sequences
        .iter()
        .fold(start, |next, sequence| if *sequence == next { next.saturating_add(1) } else { next })
}

fn pending(
    connection: &mut Connection,
    remote: RemoteId,
    limits: PendingLimits,
) -> Result<Option<Pending>, Cause> {
    let latest = rows::latest_position(connection)?;
    if rows::remote(connection, remote)?.map_or(0, |known| known.checkpoint) >= latest {
        return Ok(None);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = rows::ensure_remote(&transaction, remote)?;
    let tried = known.attempt > known.checkpoint;
    let (limits, latest) = if tried { (UNLIMITED, known.attempt) } else { (limits, latest) };
    let (mut entries, through) = read_pending(&transaction, known, latest, limits)?;
    if entries.is_empty() {
        // Only entries of the remote itself: nobody has to look at them again (EL-072).
        rows::advance_remote(&transaction, known.number, 0, latest)?;
    } else if !tried {
        rows::set_attempt(&transaction, known.number, through)?;
    }
    transaction.commit()?;
    entries.sort_unstable_by_key(|entry| entry.id);
    Ok(if entries.is_empty() { None } else { Some(Pending { entries, through }) })
}

/// Entries up to the limits, and the position up to which that was everything.
fn read_pending(
    connection: &Connection,
    known: rows::Remote,
    latest: i64,
    limits: PendingLimits,
) -> Result<(Vec<Entry>, i64), Cause> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {}, e.position FROM entries e JOIN tags t ON t.tag = e.tag
         WHERE e.position > ?1 AND e.position <= ?2 AND e.source IS NOT ?3 ORDER BY e.position",
        rows::COLUMNS
    ))?;
    let mut found = statement.query(params![known.checkpoint, latest, known.number])?;
    let (mut entries, mut bytes, mut through) = (Vec::new(), 0_usize, known.checkpoint);
    while let Some(row) = found.next()? {
        let entry = rows::entry(row)?;
        bytes = bytes.saturating_add(entry.payload.len());
        if !entries.is_empty() && (entries.len() >= limits.entries || bytes > limits.payload_bytes) {
            return Ok((entries, through));
        }
        through = row.get(4)?;
        entries.push(entry);
    }
    Ok((entries, latest))
}

fn pending_count(connection: &Connection, remote: RemoteId) -> Result<u64, Cause> {
    let known = rows::remote(connection, remote)?;
    let (number, checkpoint) = known.map_or((0, 0), |known| (known.number, known.checkpoint));
    let mut statement =
        connection.prepare_cached("SELECT count(*) FROM entries WHERE position > ?1 AND source IS NOT ?2")?;
    Ok(statement.query_row([checkpoint, number], |row| row.get::<_, i64>(0))?.unsigned_abs())
}
