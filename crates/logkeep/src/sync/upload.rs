//! Bringing the journal's entries to the server, in bounded parts.

use std::collections::HashSet;
use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use logkeep_protocol::{ErrorCode, WriteAck};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::Until;
use super::backoff::Backoff;
use super::error::SyncError;
use super::pace::Pace;
use super::replica::Replica;
use super::session::Session;
use super::state::{Notice, StateCell};
use crate::EntryId;
use crate::journal::{Pending, PendingLimits};

/// Entries in one upload at most; keeps sealing and acknowledging short.
const MAX_ENTRIES: usize = 10_000;

/// How often the journal is looked at for entries that another process wrote.
const OTHER_PROCESSES: Duration = Duration::from_secs(1);

pub(super) struct Upload<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) replica: &'a Replica,
    pub(super) state: &'a StateCell,
    pub(super) until: Until,
}

impl Upload<'_> {
    /// Uploads what is pending and what is written later, once `gate` opens. A refused upload is
    /// tried again; only a failing connection ends it, or the refusal of an exchange that is to end
    /// by itself, once everything has come down.
    pub(super) async fn run(&self, mut gate: watch::Receiver<bool>) -> Result<Infallible, SyncError> {
        let _ = gate.wait_for(|open| *open).await;
        let mut commits = self.replica.journal().commits();
        let (mut pace, mut backoff) = (Pace::new(), Backoff::new());
        loop {
            commits.mark_unchanged();
            let Some(pending) = self.next(&pace).await? else {
                self.state.update(|state| state.pending = 0);
                let _ = timeout(OTHER_PROCESSES, commits.changed()).await;
                continue;
            };
            match self.upload(pending, &mut pace).await {
                Ok(()) => {
                    backoff.reset();
                    self.state.update(|state| state.last_error = None);
                }
                Err(error) if is_refusal(&error) => {
                    tracing::warn!("upload: {error}");
                    self.state.update(|state| state.last_error = Some(error.to_string().into()));
                    if self.until == Until::CaughtUp {
                        let _ = self.state.subscribe().wait_for(|state| state.caught_up).await;
                        return Err(error);
                    }
                    sleep(backoff.next(self.replica.random())).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn next(&self, pace: &Pace) -> Result<Option<Pending>, SyncError> {
        let limits = PendingLimits { entries: MAX_ENTRIES, payload_bytes: pace.bytes() };
        let remote = self.session.remote;
        let next = self.replica.with_journal(move |journal| {
            let pending = journal.pending(remote, limits)?;
            if pending.is_some() {
                // A power cut must not take back what the server is about to get.
                journal.sync_to_disk()?;
            }
            Ok(pending)
        });
        next.await?
    }

    async fn upload(&self, pending: Pending, pace: &mut Pace) -> Result<(), SyncError> {
        let ids: HashSet<EntryId> = pending.entries.iter().map(|entry| entry.id).collect();
        let count = ids.len() as u64;
        let (frame, key_is_worn) = self.replica.seal(pending.entries).await?;
        if key_is_worn {
            self.state.notice(Notice::KeyWorn);
        }
        let start = Instant::now();
        let acks = self.session.write(&Bytes::from(frame)).await?;
        pace.took(start.elapsed());
        // Told before the journal knows: whoever waits for the journal finds the state right.
        self.state.update(|state| {
            state.uploaded += count;
            state.pending = state.pending.saturating_sub(count);
        });
        self.record(acks, &ids, pending.through).await
    }

    /// Acknowledgements of entries that were not in the upload say nothing.
    async fn record(
        &self,
        acks: Vec<WriteAck>,
        ids: &HashSet<EntryId>,
        through: i64,
    ) -> Result<(), SyncError> {
        let (ours, foreign): (Vec<_>, Vec<_>) = acks.into_iter().partition(|ack| ids.contains(&ack.entry_id));
        if !foreign.is_empty() {
            self.state.notice(Notice::ForeignAcks(foreign.len()));
        }
        let (remote, first) = (self.session.remote, self.session.first_sequence);
        let recorded = self.replica.with_journal(move |journal| {
            let acks: Vec<_> = ours.iter().map(|ack| (ack.entry_id, ack.sequence)).collect();
            journal.acknowledge(remote, &acks, first)?;
            journal.uploaded(remote, through)?;
            journal.next_sequence(remote)
        });
        let cursor = recorded.await??;
        self.state.update(|state| state.cursor = cursor.max(state.cursor));
        Ok(())
    }
}

/// A refusal that concerns this upload and not the connection.
fn is_refusal(error: &SyncError) -> bool {
    matches!(error, SyncError::Refused { code, .. } if *code != ErrorCode::Forbidden)
}
