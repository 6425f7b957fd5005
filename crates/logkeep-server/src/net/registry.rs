//! All connections of a server, and a place for those that are not logged in.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::Limits;
use crate::mailbox::{Event, Mailbox};

/// Who is connected.
#[derive(Default)]
pub(super) struct Registry(Mutex<State>);

#[derive(Default)]
struct State {
    next: u64,
    mailboxes: HashMap<u64, Arc<Mailbox>>,
    /// Those not logged in, oldest first.
    anonymous: BTreeMap<u64, IpAddr>,
    per_address: HashMap<IpAddr, usize>,
}

/// A connection's entry in the registry; it ends when this is dropped.
pub(super) struct Registered {
    registry: Arc<Registry>,
    number: u64,
    anonymous: bool,
}

impl Registry {
    /// Adds a connection that is not logged in. If there are too many, the oldest of them gives way: of the
    /// same address if that has too many, else of all.
    pub(super) fn enter(
        self: &Arc<Self>,
        address: IpAddr,
        mailbox: Arc<Mailbox>,
        limits: &Limits,
    ) -> Registered {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.mailboxes.insert(number, mailbox);
        state.anonymous.insert(number, address);
        *state.per_address.entry(address).or_default() += 1;
        let of_address = state.per_address.get(&address).copied().unwrap_or(0);
        let oldest = if of_address > limits.anonymous_per_address {
            state.anonymous.iter().find(|(_, other)| **other == address).map(|(oldest, _)| *oldest)
        } else if state.anonymous.len() > limits.anonymous {
            state.anonymous.keys().next().copied()
        } else {
            None
        };
        if let Some(oldest) = oldest {
            state.leave_lobby(oldest);
            if let Some(mailbox) = state.mailboxes.get(&oldest) {
                mailbox.push(Event::Shed);
            }
        }
        Registered { registry: Arc::clone(self), number, anonymous: true }
    }

    /// Asks every connection to come to an end.
    pub(super) fn shut_down(&self) {
        self.lock().mailboxes.values().for_each(|mailbox| mailbox.push(Event::Shutdown));
    }

    /// How many connections there are.
    pub(super) fn len(&self) -> usize {
        self.lock().mailboxes.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The maps are whole between any two of their operations, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn leave_lobby(&mut self, number: u64) {
        let Some(address) = self.anonymous.remove(&number) else { return };
        if let Some(count) = self.per_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&address);
            }
        }
    }
}

impl Registered {
    /// The connection's number, unique in this process.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The connection is logged in: it will not be asked to give way.
    pub(super) fn log_in(&mut self) {
        if std::mem::take(&mut self.anonymous) {
            self.registry.lock().leave_lobby(self.number);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut state = self.registry.lock();
        state.leave_lobby(self.number);
        state.mailboxes.remove(&self.number);
    }
}
