//! Taking in what the server has: join, open, store, in that order and never more at once than
//! the server may send without an acknowledgement.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use logkeep_protocol::{JoinLimits, Joined, Joining, Malformed, Received, read_items};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::error::SyncError;
use super::link::{LinkError, Traffic};
use super::open::{Delivery, Opened, open_and_store};
use super::replica::Replica;
use super::rpc::{Stream, StreamEvent};
use super::session::{Session, success};
use super::state::StateCell;

/// After this long without a byte, a server that does not tell its head is taken to have no more.
const QUIET: Duration = Duration::from_millis(500);

/// The same for a server that tells: it may have nothing to deliver below its head. Also how long
/// an upload waits for a first batch that proves the key.
const LONG_QUIET: Duration = Duration::from_secs(3);

/// A message in parts may be this long in all; a batch is one entry at least, however large.
const JOIN_LIMITS: JoinLimits =
    JoinLimits { open_messages: 16, parts: 4096, message_bytes: 1024 * 1024 * 1024 };

pub(super) struct Consume<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) replica: &'a Replica,
    pub(super) state: &'a StateCell,
    /// The head of the store, if the server tells.
    pub(super) head: Option<i64>,
    /// Opens once it is certain that the key is the right one for this store.
    pub(super) gate: &'a watch::Sender<bool>,
    pub(super) traffic: &'a Traffic,
}

impl Consume<'_> {
    /// Follows the store until the connection fails or the server ends the stream.
    pub(super) async fn run(&self) -> Result<Infallible, SyncError> {
        let remote = self.session.remote;
        let known = self.replica.with_journal(move |journal| {
            Ok::<_, SyncError>((journal.next_sequence(remote)?, journal.has_seen(remote)?))
        });
        let (cursor, proven) = known.await??;
        let start = cursor.max(self.session.first_sequence);
        self.gate.send_replace(proven || self.is_empty());
        self.progress(start);
        let mut stream = self.session.changes(start).await?;
        let (sender, receiver) = mpsc::channel(1);
        tokio::try_join!(receive(&mut stream, sender), self.store(start, receiver)).map(|(never, _)| never)
    }

    fn is_empty(&self) -> bool {
        self.head.is_some_and(|head| head < self.session.first_sequence as i64)
    }

    async fn store(&self, start: u64, mut messages: mpsc::Receiver<Vec<Bytes>>) -> Result<(), SyncError> {
        let mut last = None;
        while let Some(messages) = self.next(&mut messages).await {
            let delivery = Delivery {
                messages,
                remote: self.session.remote,
                store: self.replica.scope().store_id.to_owned(),
                key: self.replica.key(),
                start,
                proven: *self.gate.borrow(),
                last,
            };
            let opened =
                self.replica.with_journal(move |journal| open_and_store(journal, &delivery)).await??;
            last = opened.last;
            self.tell(opened);
        }
        Ok(())
    }

    /// What comes next; silence is noticed meanwhile.
    async fn next(&self, messages: &mut mpsc::Receiver<Vec<Bytes>>) -> Option<Vec<Bytes>> {
        loop {
            let telling = self.head.is_some() || !*self.gate.borrow();
            let patience = if telling { LONG_QUIET } else { QUIET };
            let before = self.traffic.received.load(Ordering::Relaxed);
            match timeout(patience, messages.recv()).await {
                Ok(messages) => return messages,
                Err(_) if self.traffic.received.load(Ordering::Relaxed) != before => {}
                Err(_) => self.quiet(),
            }
        }
    }

    fn tell(&self, opened: Opened) {
        self.gate.send_if_modified(|open| !std::mem::replace(open, *open || opened.proven) && opened.proven);
        opened.notices.into_iter().for_each(|notice| self.state.notice(notice));
        self.state.update(|state| state.received += opened.stored);
        self.progress(opened.cursor);
    }

    fn progress(&self, cursor: u64) {
        self.state.update(|state| {
            state.cursor = cursor.max(state.cursor);
            state.caught_up |= self.head.is_some_and(|head| cursor as i64 > head);
        });
    }

    /// Nothing has come for a while.
    fn quiet(&self) {
        self.gate.send_replace(true);
        self.state.update(|state| state.caught_up = true);
    }
}

/// Takes Chunks, joins messages and asks for more once they are handed on.
async fn receive(
    stream: &mut Stream<'_>,
    messages: mpsc::Sender<Vec<Bytes>>,
) -> Result<Infallible, SyncError> {
    let mut joining = Joining::new(JOIN_LIMITS);
    loop {
        let chunk = match stream.next().await? {
            StreamEvent::Chunk(chunk) => chunk,
            StreamEvent::End(exit) => {
                success(&exit)?;
                return Err(LinkError("server ended the stream".to_owned()).into());
            }
        };
        let complete = join(&mut joining, &chunk)?;
        if messages.send(complete).await.is_err() {
            return Err(LinkError("connection given up".to_owned()).into());
        }
        stream.acknowledge().await?;
    }
}

/// The messages that a Chunk completes.
fn join(joining: &mut Joining<Bytes>, chunk: &Bytes) -> Result<Vec<Bytes>, Malformed> {
    let mut complete = Vec::new();
    for item in read_items(chunk)? {
        match item {
            Received::Single(data) => complete.push(chunk.slice_ref(data)),
            Received::Chunked(part) => {
                if !joining.wants(part.id, part.index) {
                    continue;
                }
                joining
                    .admit(part.id, part.total, part.data.len())
                    .map_err(|error| Malformed::because(&error))?;
                let data = chunk.slice_ref(part.data);
                let joined = joining.add(part.id, part.index, part.total, part.data.len(), data);
                if let Joined::Complete(parts) = joined {
                    complete.push(parts.concat().into());
                }
            }
        }
    }
    Ok(complete)
}
