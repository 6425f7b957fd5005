//! Why a sync stands still.

use logkeep_crypto::RandomError;
use logkeep_crypto::seals::SealError;
use logkeep_protocol::{ErrorCode, Malformed, ProtocolError};

use super::link::LinkError;
use crate::JournalError;

/// Why a connection was given up, or an upload has to wait.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The network, or the other side's end of it.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// The server refused a call.
    #[error("server refuses {request}: {message} ({})", .code.name())]
    Refused {
        /// The call it refused.
        request: String,
        /// The kind of refusal.
        code: ErrorCode,
        /// The server's words.
        message: String,
    },
    /// The server failed at a call.
    #[error("server failed at a call: {0}")]
    Failed(String),
    /// The server sent something that makes no sense.
    #[error("server sent something unreadable: {0}")]
    Unreadable(#[from] Malformed),
    /// Nothing in the store opens with this identity's key.
    #[error(
        "nothing in this store opens with the key of this identity: it belongs to somebody else, or the identity is not the one it was written with"
    )]
    WrongKey,
    /// The device's own journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The replay failed; holds its error. Nothing of the delivery was stored.
    #[error("replay of received entries failed: {0}")]
    Replay(Box<dyn std::error::Error + Send + Sync>),
    /// A batch could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// No random bytes.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The thread that works on the journal is gone.
    #[error("the journal's thread ended: {0}")]
    Thread(#[from] tokio::task::JoinError),
}

impl SyncError {
    pub(super) fn refused(error: &ProtocolError<'_>) -> Self {
        Self::Refused {
            request: error.request_tag.to_owned(),
            code: error.code,
            message: error.message.to_owned(),
        }
    }

    /// Whether trying again cannot help as long as nothing else changes: a wrong key, a refused
    /// login, a full key, a broken journal.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Refused { code, .. } => *code != ErrorCode::InternalServerError,
            Self::WrongKey | Self::Replay(_) | Self::Seal(_) | Self::Journal(_) => true,
            _ => false,
        }
    }
}
