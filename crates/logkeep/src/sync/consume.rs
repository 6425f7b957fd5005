//! Taking in what the server has: join, open, store, in that order and never more at once than
//! the server may send without an acknowledgement.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use super::error::SyncError;
use super::link::Traffic;
use super::open::{Delivery, Opened};
use super::receive::{next_or_quiet, receive};
use super::replica::Replica;
use super::session::Session;
use super::state::StateCell;

/// After this long without a byte, a server that does not tell its head is taken to have no more.
const QUIET: Duration = Duration::from_millis(500);

/// The same for a server that tells: it may have nothing to deliver below its head. Also how long
/// an upload waits for a first batch that proves the key.
const LONG_QUIET: Duration = Duration::from_secs(3);

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
                store: self.replica.store().to_owned(),
                key: self.replica.key(),
                start,
                proven: *self.gate.borrow(),
                last,
            };
            let opened = self.replica.take(delivery).await?;
            last = opened.last;
            self.tell(opened);
        }
        Ok(())
    }

    /// What comes next; silence is noticed meanwhile.
    async fn next(&self, messages: &mut mpsc::Receiver<Vec<Bytes>>) -> Option<Vec<Bytes>> {
        loop {
            let telling = self.head.is_some() || !*self.gate.borrow();
            let quiet = if telling { LONG_QUIET } else { QUIET };
            match next_or_quiet(messages, self.traffic, quiet).await {
                Some(messages) => return messages,
                None => self.quiet(),
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
