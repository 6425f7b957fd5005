//! Tells the open change streams of a store that something was committed to it.
//!
//! A stream that has read everything arms its subscription; the next commit disarms it and delivers one
//! event. So a stream has at most one event waiting, however much is written, and reads the rest from
//! storage at its own pace (SV-W26).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use logkeep_protocol::{Batch, Scope, stored_row};

use crate::mailbox::{Event, Mailbox};
use crate::storage::{Page, Placed, Row, Written};

/// Commits larger than this are read from storage by each stream instead of being handed around.
const SHARED_PAGE: usize = 64 * 1024;

/// The subscriptions of all connections.
#[derive(Default)]
pub struct Hub(Mutex<State>);

#[derive(Default)]
struct State {
    channels: HashMap<Scope, Channel>,
    next: u64,
}

#[derive(Default)]
struct Channel {
    /// The highest head published while the channel exists.
    head: u64,
    subscribers: HashMap<u64, Subscriber>,
}

struct Subscriber {
    mailbox: Arc<Mailbox>,
    stream: u64,
    armed: bool,
}

/// A stream's place in the hub.
pub struct Subscription {
    scope: Scope,
    number: u64,
}

impl Hub {
    /// Subscribes the stream number `stream` of the connection that owns `mailbox`, not armed yet.
    ///
    /// Whatever is committed after this call and not seen by a later read reaches the stream (SV-069).
    pub fn subscribe(&self, scope: Scope, mailbox: Arc<Mailbox>, stream: u64) -> Subscription {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let subscriber = Subscriber { mailbox, stream, armed: false };
        state.channels.entry(scope.clone()).or_default().subscribers.insert(number, subscriber);
        Subscription { scope, number }
    }

    /// Asks for one event as soon as the head is above `after`, at once if it is already.
    pub fn arm(&self, subscription: &Subscription, after: u64) {
        let mut state = self.lock();
        let Some(channel) = state.channels.get_mut(&subscription.scope) else { return };
        let Some(subscriber) = channel.subscribers.get_mut(&subscription.number) else { return };
        if channel.head > after {
            subscriber.mailbox.push(Event::Published { stream: subscriber.stream, page: None });
        } else {
            subscriber.armed = true;
        }
    }

    /// Ends a subscription.
    pub fn unsubscribe(&self, subscription: &Subscription) {
        let mut state = self.lock();
        let Some(channel) = state.channels.get_mut(&subscription.scope) else { return };
        channel.subscribers.remove(&subscription.number);
        if channel.subscribers.is_empty() {
            state.channels.remove(&subscription.scope);
        }
    }

    /// Announces a commit. Commits of one store are announced in their order, after they are durable.
    pub fn publish(&self, scope: &Scope, written: &Written) {
        let mut state = self.lock();
        let Some(channel) = state.channels.get_mut(scope) else { return };
        channel.head = channel.head.max(written.head);
        if !channel.subscribers.values().any(|subscriber| subscriber.armed) {
            return;
        }
        let page = shared_page(written);
        for subscriber in channel.subscribers.values_mut() {
            if std::mem::take(&mut subscriber.armed) {
                let event = Event::Published { stream: subscriber.stream, page: page.clone() };
                subscriber.mailbox.push(event);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The maps are whole between any two of their operations, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The batches of one commit as a page, encoded once for all streams.
fn shared_page(written: &Written) -> Option<Arc<Page>> {
    let stored = || {
        written.placed.iter().zip(&written.batches).filter_map(|(placed, batch)| match placed {
            Placed::Stored { first } => Some((*first, batch)),
            Placed::Known { .. } => None,
        })
    };
    let size: usize = stored().map(|(_, batch)| batch.sealed.len() + batch.entry_ids.len() + 32).sum();
    if size == 0 || size > SHARED_PAGE {
        return None;
    }
    let mut bytes = Vec::with_capacity(size);
    let mut rows = Vec::new();
    for (first, batch) in stored() {
        rows.push(append_row(&mut bytes, first, batch));
    }
    let head = rows.last().map_or(written.head, |row: &Row| row.last);
    Some(Arc::new(Page { rows, bytes: Bytes::from(bytes), head, next: head + 1, end: true, large: None }))
}

fn append_row(bytes: &mut Vec<u8>, first: u64, batch: &Batch) -> Row {
    stored_row(bytes, first, &batch.sealed, &batch.entry_ids);
    Row { first, last: first + u64::from(batch.count) - 1, end: bytes.len() }
}
