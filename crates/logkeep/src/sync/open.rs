//! From a server's messages to stored entries.

use std::sync::Arc;

use bytes::Bytes;
use logkeep_crypto::BatchKey;
use logkeep_protocol::{Malformed, RemoteBatch, read_entries, read_remote_batches};

use super::error::SyncError;
use super::replica::BoxReplay;
use super::state::Notice;
use crate::journal::{Unopened, WriteError};
use crate::{Entry, Journal, RemoteEntry, RemoteId};

/// Messages of a change stream and all it takes to open them.
pub(super) struct Delivery {
    pub(super) messages: Vec<Bytes>,
    pub(super) remote: RemoteId,
    pub(super) store: String,
    pub(super) key: Arc<BatchKey>,
    /// The sequence that was asked for; entries below are dropped (EL-179).
    pub(super) start: u64,
    /// Whether the key is known to be the right one.
    pub(super) proven: bool,
    /// The highest sequence delivered before on this stream.
    pub(super) last: Option<u64>,
}

/// What became of a delivery.
pub(super) struct Opened {
    /// Entries that were new.
    pub(super) stored: u64,
    /// The cursor afterwards.
    pub(super) cursor: u64,
    /// The highest sequence delivered so far.
    pub(super) last: Option<u64>,
    /// Whether the key is known to be the right one now.
    pub(super) proven: bool,
    pub(super) notices: Vec<Notice>,
}

/// Opens a delivery's batches and stores their entries. Batches that are stored already are not
/// opened; batches that do not open are set aside, unless nothing has ever opened.
pub(super) fn open_and_store(
    journal: &mut Journal,
    replay: Option<&mut BoxReplay>,
    delivery: &Delivery,
) -> Result<Opened, SyncError> {
    let mut sorted = Sorted { last: delivery.last, proven: delivery.proven, ..Sorted::default() };
    for message in &delivery.messages {
        for batch in read_remote_batches(message)? {
            sorted.take(journal, delivery, &batch)?;
        }
    }
    if !sorted.proven && !sorted.unopened.is_empty() {
        return Err(SyncError::WrongKey);
    }
    if !sorted.unopened.is_empty() {
        journal.set_aside(delivery.remote, &sorted.unopened)?;
    }
    let imported = match replay {
        Some(replay) => {
            journal.import(delivery.remote, &sorted.entries, &mut **replay).map_err(|error| match error {
                WriteError::Journal(error) => SyncError::Journal(error),
                WriteError::Action(error) => SyncError::Replay(error),
            })?
        }
        None => journal.store(delivery.remote, &sorted.entries)?,
    };
    let stored = imported.stored as u64;
    journal.seen(delivery.remote, sorted.last.map_or(0, |last| last + 1))?;
    Ok(Opened {
        stored,
        cursor: journal.next_sequence(delivery.remote)?,
        last: sorted.last,
        proven: sorted.proven,
        notices: sorted.notices,
    })
}

/// A delivery, sorted out.
#[derive(Default)]
struct Sorted {
    entries: Vec<RemoteEntry>,
    unopened: Vec<Unopened>,
    notices: Vec<Notice>,
    last: Option<u64>,
    proven: bool,
}

impl Sorted {
    fn take(
        &mut self,
        journal: &Journal,
        delivery: &Delivery,
        batch: &RemoteBatch<'_>,
    ) -> Result<(), SyncError> {
        let end = batch.sequence.saturating_add(batch.entry_ids.len() as u64) - 1;
        let late = self.last.is_some_and(|last| batch.sequence <= last);
        self.last = self.last.max(Some(end));
        if end < delivery.start || journal.contains_all(&batch.entry_ids)? {
            return Ok(());
        }
        if late {
            self.notices.push(Notice::OutOfOrder(batch.sequence));
        }
        match open(&delivery.key, &delivery.store, batch) {
            Ok(entries) => {
                self.proven = true;
                let numbered = (batch.sequence..).zip(entries);
                let wanted = numbered.filter(|(sequence, _)| *sequence >= delivery.start);
                self.entries.extend(wanted.map(|(sequence, entry)| RemoteEntry { sequence, entry }));
            }
            Err(reason) => self.set_aside(batch, reason),
        }
        Ok(())
    }

    fn set_aside(&mut self, batch: &RemoteBatch<'_>, reason: String) {
        let (sequence, entries) = (batch.sequence, batch.entry_ids.len());
        self.notices.push(Notice::SetAside { sequence, entries, reason: reason.clone() });
        self.unopened.push(Unopened {
            sequence,
            entry_ids: batch.entry_ids.to_vec(),
            iv: batch.iv.to_vec(),
            encrypted: batch.encrypted.to_vec(),
            reason,
        });
    }
}

/// The entries of a batch, which must be those it lists (WIRE-134).
pub(super) fn open(key: &BatchKey, store: &str, batch: &RemoteBatch<'_>) -> Result<Vec<Entry>, String> {
    let ids: Vec<[u8; 16]> = batch.entry_ids.iter().map(|id| id.0).collect();
    let plaintext = key.open(store, &ids, batch.iv, batch.encrypted);
    let plaintext = plaintext.map_err(|error| error.to_string())?;
    let entries =
        read_entries(&plaintext).map_err(|error: Malformed| format!("its entries do not decode: {error}"))?;
    if entries.iter().map(|entry| entry.id).eq(batch.entry_ids.iter().copied()) {
        Ok(entries)
    } else {
        Err("its entries are not the ones it lists".to_owned())
    }
}
