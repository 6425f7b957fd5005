//! The calls of the event log (rpc-wire section 7).

mod compaction;
mod payload;

use schema_binary::{Decode, Encode, Layout};

pub use self::compaction::{CompactionCall, StageResult};
use self::payload::{Changes, PAYLOADS, WriteSingle};
use crate::hole::PayloadMode;
use crate::{Chunked, Malformed};

/// A call with its payload, borrowed from the request's payload hole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call<'a> {
    /// Asks for the remote id and a challenge.
    Hello,
    /// Proves possession of an identity.
    Authenticate(Authenticate<'a>),
    /// Uploads a message that fits one frame.
    WriteSingle {
        /// The message: a frame of `WriteEntries`.
        data: &'a [u8],
    },
    /// Uploads a part of a larger message.
    WriteChunked(Chunked<'a>),
    /// Opens a change stream.
    Changes {
        /// Whose log.
        scope: ScopeRef<'a>,
        /// The first sequence wanted.
        start_sequence: u64,
    },
    /// A call of the compaction group.
    Compaction {
        /// Which one.
        call: CompactionCall<'a>,
        /// Whose log.
        scope: ScopeRef<'a>,
    },
}

/// A public key and a store id, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
pub struct ScopeRef<'a> {
    /// The identity's public key.
    #[schema(rename = "publicKey")]
    pub public_key: &'a str,
    /// The store id.
    #[schema(rename = "storeId")]
    pub store_id: &'a str,
}

/// The payload of `EventLog.Authenticate`. Lengths are not checked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
pub struct Authenticate<'a> {
    /// The identity.
    #[schema(rename = "publicKey")]
    pub public_key: &'a str,
    /// Its Ed25519 signing key; 32 bytes if it is one.
    #[schema(rename = "signingPublicKey")]
    pub signing_public_key: &'a [u8],
    /// The signature over the session payload; 64 bytes if it is one.
    pub signature: &'a [u8],
    /// How it was signed.
    pub algorithm: Algorithm,
}

/// A signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
#[schema(literals)]
pub enum Algorithm {
    /// The only one there is.
    Ed25519,
}

/// Why a request is not a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No such call exists.
    #[error("Unknown request tag: {0}")]
    UnknownTag(String),
    /// The payload does not decode.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl<'a> Call<'a> {
    /// Reads the payload hole of the call named `tag`, plain or fingerprinted.
    ///
    /// # Errors
    /// If no such call exists, or the payload does not decode.
    pub fn read(tag: &str, payload: &'a [u8]) -> Result<Self, CallError> {
        let unknown = || CallError::UnknownTag(tag.to_owned());
        Ok(match tag.strip_prefix("EventLog.").ok_or_else(unknown)? {
            "Hello" => {
                PAYLOADS.void.read(payload)?;
                Self::Hello
            }
            "Authenticate" => Self::Authenticate(PAYLOADS.authenticate.read(payload)?),
            "WriteSingle" => Self::WriteSingle { data: PAYLOADS.write_single.read(payload)?.data },
            "WriteChunked" => Self::WriteChunked(PAYLOADS.write_chunked.read(payload)?.try_into()?),
            "Changes" => {
                let Changes { public_key, store_id, start_sequence } = PAYLOADS.changes.read(payload)?;
                Self::Changes { scope: ScopeRef { public_key, store_id }, start_sequence }
            }
            name => {
                let name = name.strip_prefix("Compaction").ok_or_else(unknown)?;
                let (call, scope) = CompactionCall::read(name, payload)?.ok_or_else(unknown)?;
                Self::Compaction { call, scope }
            }
        })
    }

    /// Writes the payload hole.
    ///
    /// # Errors
    /// If a number is beyond 2^53 - 1.
    pub fn write(&self, mode: PayloadMode) -> Result<Vec<u8>, Malformed> {
        match self {
            Self::Hello => PAYLOADS.void.write(mode, &()),
            Self::Authenticate(login) => PAYLOADS.authenticate.write(mode, login),
            Self::WriteSingle { data } => PAYLOADS.write_single.write(mode, &WriteSingle { data }),
            Self::WriteChunked(part) => PAYLOADS.write_chunked.write(mode, &(*part).into()),
            Self::Changes { scope: ScopeRef { public_key, store_id }, start_sequence } => {
                let start_sequence = *start_sequence;
                PAYLOADS.changes.write(mode, &Changes { public_key, store_id, start_sequence })
            }
            Self::Compaction { call, scope } => call.write(*scope, mode),
        }
    }

    /// Whether the call needs an authenticated identity.
    pub const fn needs_identity(&self) -> bool {
        !matches!(self, Self::Hello | Self::Authenticate(_))
    }

    /// The name under which the call is made.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Hello => "EventLog.Hello",
            Self::Authenticate(_) => "EventLog.Authenticate",
            Self::WriteSingle { .. } => "EventLog.WriteSingle",
            Self::WriteChunked(_) => "EventLog.WriteChunked",
            Self::Changes { .. } => "EventLog.Changes",
            Self::Compaction { call, .. } => match call {
                CompactionCall::Status => "EventLog.CompactionStatus",
                CompactionCall::Begin => "EventLog.CompactionBegin",
                CompactionCall::Input { .. } => "EventLog.CompactionInput",
                CompactionCall::Fetch { .. } => "EventLog.CompactionFetch",
                CompactionCall::Part { .. } => "EventLog.CompactionPart",
                CompactionCall::Abort { .. } => "EventLog.CompactionAbort",
                CompactionCall::Commit { .. } => "EventLog.CompactionCommit",
            },
        }
    }
}
