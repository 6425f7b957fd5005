//! What reaches a connection from inside the server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::executor::Outcome;
use crate::storage::Page;

/// Something a connection has to react to.
pub enum Event {
    /// A storage command it submitted is done.
    Done {
        /// The connection's number for it.
        operation: u64,
        /// What came of it.
        outcome: Outcome,
    },
    /// A batch was committed to a store that one of its streams has read to the end.
    Published {
        /// The connection's number for the stream.
        stream: u64,
        /// What was committed, if it was small enough to be handed around.
        page: Option<Arc<Page>>,
    },
    /// The server shuts down.
    Shutdown,
    /// The connection gives way to others.
    Shed,
}

/// The queue of events of one connection. An empty one owns no memory.
#[derive(Default)]
pub struct Mailbox(Mutex<State>);

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    waker: Option<Waker>,
}

impl Mailbox {
    /// Puts an event in and wakes the connection.
    pub fn push(&self, event: Event) {
        let waker = {
            let mut state = self.lock();
            state.events.push_back(event);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes all events, or registers for the next one.
    pub fn poll_take(&self, context: &Context<'_>) -> Poll<VecDeque<Event>> {
        let mut state = self.lock();
        if state.events.is_empty() {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(std::mem::take(&mut state.events))
    }

    /// Takes all events there are.
    pub fn take(&self) -> VecDeque<Event> {
        std::mem::take(&mut self.lock().events)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two of its operations, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
