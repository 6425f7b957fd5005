//! A store on a server, used without a journal: for tools that look at a log or add to it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use logkeep_crypto::{BatchKey, OsRandom, Sealer};
use logkeep_protocol::{SealedEntries, read_remote_batches, write_entries, write_entries_plaintext};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::backoff::Backoff;
use super::error::SyncError;
use super::link::{Connector, Traffic};
use super::open::open;
use super::receive::{next_or_quiet, receive};
use super::rpc::Rpc;
use super::session::Session;
use crate::{Entry, Identity, RemoteEntry};

/// After this long without a byte there is nothing more to read, whatever the server said.
const QUIET: Duration = Duration::from_secs(3);

/// A store of an identity on one server.
pub struct RemoteStore {
    connector: Arc<dyn Connector>,
    identity: Identity,
    key: BatchKey,
    store: String,
}

/// What is found in a store.
#[derive(Debug)]
pub enum Found {
    /// An entry.
    Entry(RemoteEntry),
    /// A batch that does not open.
    Unopened {
        /// The sequence of its first entry.
        sequence: u64,
        /// How many entries it claims to hold.
        entries: usize,
        /// Why it does not open.
        reason: String,
    },
}

impl RemoteStore {
    /// The store of that name. No connection is made yet.
    pub fn new(connector: Arc<dyn Connector>, identity: Identity, store: impl Into<String>) -> Self {
        Self { connector, key: identity.batch_key(), identity, store: store.into() }
    }

    /// Uploads one entry and returns its sequence.
    ///
    /// # Errors
    /// If the server cannot be reached, refuses the entry, or does not acknowledge it.
    pub async fn append(&self, sealer: &mut Sealer, entry: &Entry) -> Result<u64, SyncError> {
        let plaintext = write_entries_plaintext(std::slice::from_ref(entry));
        let sealed = sealer.seal(&self.store, &[entry.id.0], plaintext)?;
        let batch = SealedEntries { entry_ids: vec![entry.id], iv: sealed.iv, encrypted: sealed.ciphertext };
        let link = self.connector.connect().await?;
        let (rpc, incoming) = Rpc::new(link);
        let write = async {
            let session = Session::open(&rpc, &self.identity, &self.store).await?;
            session.write(&write_entries(session.scope(), &[batch]).into()).await
        };
        let acks = tokio::select! {
            biased;
            ended = rpc.run(incoming) => return Err(ended.into()),
            acks = write => acks?,
        };
        let ack = acks.iter().find(|ack| ack.entry_id == entry.id);
        ack.map(|ack| ack.sequence)
            .ok_or_else(|| SyncError::Failed("the entry was not acknowledged".to_owned()))
    }

    /// Hands everything from the sequence `from` on to `visit`, until it breaks, or until there is
    /// no more, unless `follow`ing.
    ///
    /// # Errors
    /// If the connection fails; what was handed over before stays valid.
    pub async fn read(
        &self,
        from: u64,
        follow: bool,
        visit: &mut (dyn FnMut(Found) -> ControlFlow<()> + Send),
    ) -> Result<(), SyncError> {
        let link = self.connector.connect().await?;
        let traffic = link.traffic.clone();
        let (rpc, incoming) = Rpc::new(link);
        tokio::select! {
            biased;
            ended = rpc.run(incoming) => Err(ended.into()),
            read = self.read_session(&rpc, &traffic, from, follow, visit) => read,
        }
    }

    /// Hands everything from the sequence `from` on to `visit`, until it breaks. Connects again
    /// when the connection fails.
    ///
    /// # Errors
    /// If trying again does not help.
    pub async fn follow(
        &self,
        from: u64,
        visit: &mut (dyn FnMut(Found) -> ControlFlow<()> + Send),
    ) -> Result<(), SyncError> {
        let (mut next, mut backoff) = (from, Backoff::new());
        loop {
            let before = next;
            let mut remember = |found: Found| {
                next = found.end();
                visit(found)
            };
            let error = match self.read(before, true, &mut remember).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_lasting() => return Err(error),
                Err(error) => error,
            };
            if next > before {
                backoff.reset();
            }
            tracing::warn!("{error}; trying again");
            sleep(backoff.next(&OsRandom)).await;
        }
    }

    async fn read_session(
        &self,
        rpc: &Rpc,
        traffic: &Traffic,
        from: u64,
        follow: bool,
        visit: &mut (dyn FnMut(Found) -> ControlFlow<()> + Send),
    ) -> Result<(), SyncError> {
        let session = Session::open(rpc, &self.identity, &self.store).await?;
        let head = session.head().await?;
        let start = from.max(session.first_sequence);
        if !follow && head.is_some_and(|head| start as i64 > head) {
            return Ok(());
        }
        let mut stream = session.changes(start).await?;
        let (sender, mut messages) = mpsc::channel(1);
        let end = head.filter(|_| !follow);
        let hand_over = async {
            while let Some(messages) = next(&mut messages, traffic, follow).await {
                if self.hand_over(&messages, start, end, visit)?.is_break() {
                    break;
                }
            }
            Ok(())
        };
        tokio::select! {
            ended = receive(&mut stream, sender) => ended.map(|never| match never {}),
            done = hand_over => done,
        }
    }

    fn hand_over(
        &self,
        messages: &[Bytes],
        start: u64,
        end: Option<i64>,
        visit: &mut (dyn FnMut(Found) -> ControlFlow<()> + Send),
    ) -> Result<ControlFlow<()>, SyncError> {
        for message in messages {
            for batch in read_remote_batches(message)? {
                let last = batch.sequence.saturating_add(batch.entry_ids.len() as u64) - 1;
                let found: Vec<Found> = match open(&self.key, &self.store, &batch) {
                    Ok(entries) => (batch.sequence..)
                        .zip(entries)
                        .filter(|(sequence, _)| *sequence >= start)
                        .map(|(sequence, entry)| Found::Entry(RemoteEntry { sequence, entry }))
                        .collect(),
                    Err(reason) => {
                        let (sequence, entries) = (batch.sequence, batch.entry_ids.len());
                        [Found::Unopened { sequence, entries, reason }].into()
                    }
                };
                if found.into_iter().any(|found| visit(found).is_break()) {
                    return Ok(ControlFlow::Break(()));
                }
                if end.is_some_and(|end| last as i64 >= end) {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Found {
    /// The first sequence behind it.
    fn end(&self) -> u64 {
        match self {
            Self::Entry(found) => found.sequence + 1,
            Self::Unopened { sequence, entries, .. } => sequence + *entries as u64,
        }
    }
}

impl std::fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteStore").field("store", &self.store).finish_non_exhaustive()
    }
}

/// What comes next, or nothing after a while without news.
async fn next(
    messages: &mut mpsc::Receiver<Vec<Bytes>>,
    traffic: &Traffic,
    follow: bool,
) -> Option<Vec<Bytes>> {
    if follow {
        return messages.recv().await;
    }
    next_or_quiet(messages, traffic, QUIET).await.flatten()
}
