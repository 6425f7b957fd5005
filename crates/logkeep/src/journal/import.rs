//! Imports: what a remote delivered is sorted out, replayed and stored, and the cursor moves.

use std::collections::HashSet;
use std::convert::Infallible;

use rusqlite::{Connection, TransactionBehavior};

use super::Journal;
use super::conflicts::Conflicts;
use super::error::{Cause, Failure, JournalError, WriteError};
use super::rows::{self, Tags};
use crate::{Entry, EntryId, RemoteEntry, RemoteId};

/// Ids further ahead of the local clock than this are worth a warning (EL-014).
const AHEAD_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// What happens to imported entries besides being stored.
pub trait Replay {
    /// The caller's own failure; it ends the import without effect.
    type Error;

    /// Replaces the new entries of an import by others for [`apply`](Self::apply). What is stored
    /// stays the same. `None` keeps them as they are.
    fn compact(&mut self, _new: &[&RemoteEntry]) -> Result<Option<Vec<Anchored>>, Self::Error> {
        Ok(None)
    }

    /// Sees the batch in the order of its anchors, inside the transaction that stores it; called
    /// only if there is something to see. Must not end the transaction.
    fn apply(&mut self, connection: &Connection, batch: &[Replayed<'_>]) -> Result<(), Self::Error>;
}

/// An entry that stands for others, at the place of its anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchored {
    /// What the handler gets to see.
    pub entry: Entry,
    /// The id that decides about order and conflicts.
    pub anchor: EntryId,
}

/// An element of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// The stored entries of the same tag and primary key that are newer than its anchor, in id
    /// order. Never entries of the same batch.
    pub conflicts: &'a [Entry],
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported<'a> {
    /// How many entries were new and are stored now.
    pub stored: usize,
    /// The delivered entries that were stored before, in the order of delivery.
    pub duplicates: Vec<&'a Entry>,
}

impl Journal {
    /// Stores what `remote` delivered and moves its cursor, without replaying anything.
    ///
    /// # Errors
    /// If the journal fails; then nothing was stored and the cursor did not move.
    pub fn store<'a>(
        &mut self,
        remote: RemoteId,
        delivered: &'a [RemoteEntry],
    ) -> Result<Imported<'a>, JournalError> {
        let import = self.import_with::<Infallible>(remote, delivered, None);
        import.map_err(|error| match error {
            WriteError::Journal(error) => error,
            WriteError::Action(never) => match never {},
        })
    }

    /// Stores what `remote` delivered, lets `replay` see what is new and moves the cursor, all in
    /// one transaction.
    ///
    /// # Errors
    /// The replay's own error, unchanged, or the journal's. Either way nothing was stored and the
    /// cursor did not move.
    pub fn import<'a, E>(
        &mut self,
        remote: RemoteId,
        delivered: &'a [RemoteEntry],
        replay: &mut dyn Replay<Error = E>,
    ) -> Result<Imported<'a>, WriteError<E>> {
        self.import_with(remote, delivered, Some(replay))
    }

    fn import_with<'a, E>(
        &mut self,
        remote: RemoteId,
        delivered: &'a [RemoteEntry],
        replay: Option<&mut dyn Replay<Error = E>>,
    ) -> Result<Imported<'a>, WriteError<E>> {
        self.import_all(remote, delivered, replay).map_err(|failure| {
            self.tags = Tags::default();
            failure.during("importing entries")
        })
    }

    fn import_all<'a, E>(
        &mut self,
        remote: RemoteId,
        delivered: &'a [RemoteEntry],
        replay: Option<&mut dyn Replay<Error = E>>,
    ) -> Result<Imported<'a>, Failure<E>> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Sorted { new, duplicates } = sort_out(&transaction, delivered)?;
        if let Some(replay) = replay {
            replay_batch(&transaction, &new, replay)?;
        }
        let before = rows::latest_position(&transaction)?;
        let known = rows::ensure_remote(&transaction, remote)?;
        for new in &new {
            rows::insert(&transaction, &mut self.tags, &new.entry, Some(known.number))?;
        }
        let position = rows::latest_position(&transaction)?;
        let cursor = delivered.iter().map(|entry| entry.sequence.saturating_add(1)).max().unwrap_or(0);
        // If nothing was pending for this remote, its own entries are not pending either.
        let checkpoint = if known.checkpoint == before { position } else { 0 };
        rows::advance_remote(&transaction, known.number, rows::column(cursor)?, checkpoint)?;
        transaction.commit()?;
        self.warn_if_ahead(&new);
        if !new.is_empty() {
            self.commits.send_replace(position);
        }
        Ok(Imported { stored: new.len(), duplicates })
    }

    fn warn_if_ahead(&self, new: &[&RemoteEntry]) {
        let Some(latest) = new.iter().map(|new| new.entry.id).max() else { return };
        let ahead = latest.millis().saturating_sub(self.ids.clock().now_millis());
        if ahead > AHEAD_MILLIS {
            let hours = (ahead + 1_800_000) / 3_600_000;
            tracing::warn!(entry_id = %latest, "imported an entry id {hours} hours ahead of the local clock");
        }
    }
}

/// A delivery, sorted out (EL-050).
struct Sorted<'a> {
    new: Vec<&'a RemoteEntry>,
    duplicates: Vec<&'a Entry>,
}

fn sort_out<'a>(connection: &Connection, delivered: &'a [RemoteEntry]) -> Result<Sorted<'a>, Cause> {
    let greatest = rows::greatest_id(connection)?;
    let mut seen = HashSet::with_capacity(delivered.len());
    let mut sorted = Sorted { new: Vec::with_capacity(delivered.len()), duplicates: Vec::new() };
    for remote_entry in delivered {
        let id = remote_entry.entry.id;
        // News usually sorts after everything stored, which saves looking it up.
        if greatest.is_some_and(|greatest| id <= greatest) && rows::contains(connection, id)? {
            sorted.duplicates.push(&remote_entry.entry);
        } else if seen.insert(id) {
            sorted.new.push(remote_entry);
        }
    }
    Ok(sorted)
}

/// Lets the replay see the batch, after all conflicts have been read.
fn replay_batch<E>(
    connection: &Connection,
    new: &[&RemoteEntry],
    replay: &mut dyn Replay<Error = E>,
) -> Result<(), Failure<E>> {
    let compacted = replay.compact(new).map_err(Failure::Action)?;
    let mut batch: Vec<(&Entry, EntryId)> = match &compacted {
        Some(entries) => entries.iter().map(|anchored| (&anchored.entry, anchored.anchor)).collect(),
        None => new.iter().map(|new| (&new.entry, new.entry.id)).collect(),
    };
    if batch.is_empty() {
        return Ok(());
    }
    // Stable: entries that share an anchor keep the order in which they were given (EL-055).
    batch.sort_by_key(|(_, anchor)| *anchor);
    let conflicts = Conflicts::read(connection, batch.iter().copied())?;
    let batch: Vec<Replayed<'_>> = batch
        .iter()
        .map(|(entry, anchor)| Replayed { entry, conflicts: conflicts.of(entry, *anchor) })
        .collect();
    replay.apply(connection, &batch).map_err(Failure::Action)
}
