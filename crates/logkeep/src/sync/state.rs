//! What a sync tells about itself.

use std::sync::Arc;

use tokio::sync::watch;

use super::error::SyncError;
use crate::RemoteId;

/// How many notices are kept; older ones go first.
const NOTICES: usize = 20;

/// The state of a sync, as it is shown to people and programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncState {
    /// Whether a connection is up and the identity logged in.
    pub connected: bool,
    /// Whether everything the server had when the connection came up has arrived.
    pub caught_up: bool,
    /// The server, once it has said who it is.
    pub remote: Option<RemoteId>,
    /// The next sequence to read from it.
    pub cursor: u64,
    /// The highest sequence it had when the connection came up, if it tells.
    pub head: Option<u64>,
    /// Entries it may not have yet.
    pub pending: u64,
    /// Entries received that were new here, since the sync began.
    pub received: u64,
    /// Entries uploaded since the sync began.
    pub uploaded: u64,
    /// Bytes received since the sync began.
    pub bytes_received: u64,
    /// Bytes sent since the sync began.
    pub bytes_sent: u64,
    /// Why the last connection or upload failed, if nothing has worked since.
    pub last_error: Option<Arc<str>>,
    /// What was noticed about the server, newest last.
    pub notices: Vec<Notice>,
}

/// Something about a server that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Notice {
    /// The server at the same address is another one than before; everything is offered to it.
    #[error(
        "the server at this address is another one than before ({before:?}, now {now:?}); everything is offered to it"
    )]
    ServerChanged {
        /// The remote id seen last.
        before: RemoteId,
        /// The remote id now.
        now: RemoteId,
    },
    /// The server has less than it had; everything is exchanged again.
    #[error(
        "the server went back: it has sequences up to {head}, and had at least {seen}; everything is exchanged again"
    )]
    WentBack {
        /// The highest sequence it has.
        head: i64,
        /// The highest sequence seen from it.
        seen: i64,
    },
    /// A batch does not open or makes no sense; its bytes are kept in the journal.
    #[error("a batch of {entries} entries from sequence {sequence} on was set aside: {reason}")]
    SetAside {
        /// The sequence of its first entry.
        sequence: u64,
        /// How many entries it claims to hold.
        entries: usize,
        /// Why.
        reason: String,
    },
    /// The server acknowledged entries that were not in the upload; they were ignored.
    #[error("the server acknowledged {0} entries that were not uploaded")]
    ForeignAcks(usize),
    /// The server delivered a sequence it had delivered before, or an earlier one.
    #[error("the server delivered sequence {0} out of order")]
    OutOfOrder(u64),
    /// The identity's key has sealed so many batches that it should be replaced.
    #[error("the key of this identity nears its limit of sealed batches; use a new identity soon")]
    KeyWorn,
}

/// Where a sync writes its state.
#[derive(Debug)]
pub(super) struct StateCell(watch::Sender<SyncState>);

impl StateCell {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(SyncState::default()))
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<SyncState> {
        self.0.subscribe()
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut SyncState)) {
        self.0.send_modify(change);
    }

    /// Records the end of a connection. True if it had been logged in.
    pub(super) fn disconnected(&self, error: &SyncError) -> bool {
        let mut was_connected = false;
        self.update(|state| {
            was_connected = state.connected;
            (state.connected, state.caught_up) = (false, false);
            state.last_error = Some(error.to_string().into());
        });
        was_connected
    }

    pub(super) fn notice(&self, notice: Notice) {
        tracing::warn!("{notice}");
        self.update(|state| {
            if state.notices.contains(&notice) {
                return;
            }
            if state.notices.len() == NOTICES {
                state.notices.remove(0);
            }
            state.notices.push(notice);
        });
    }
}
