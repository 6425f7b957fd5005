//! The calls of the event log, as a server reads them (rpc-wire section 7).

use crate::fields::{Fields, unframe};
use crate::{Malformed, field};

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
        call: CompactionCall,
        /// Whose log.
        scope: ScopeRef<'a>,
    },
}

/// The calls by which clients build snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the calls")]
pub enum CompactionCall {
    Status,
    Begin,
    Input,
    Fetch,
    Part,
    Abort,
    Commit,
}

impl CompactionCall {
    /// The call's short name, as errors carry it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "CompactionStatus",
            Self::Begin => "CompactionBegin",
            Self::Input => "CompactionInput",
            Self::Fetch => "CompactionFetch",
            Self::Part => "CompactionPart",
            Self::Abort => "CompactionAbort",
            Self::Commit => "CompactionCommit",
        }
    }
}

/// A public key and a store id, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeRef<'a> {
    /// The identity's public key.
    pub public_key: &'a str,
    /// The store id.
    pub store_id: &'a str,
}

/// The payload of `EventLog.Authenticate`. Lengths are not checked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authenticate<'a> {
    /// The identity.
    pub public_key: &'a str,
    /// Its Ed25519 signing key; 32 bytes if it is one.
    pub signing_public_key: &'a [u8],
    /// The signature over the session payload; 64 bytes if it is one.
    pub signature: &'a [u8],
}

/// One part of a message too long for one frame (WIRE-110).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunked<'a> {
    /// Which message.
    pub id: i64,
    /// Which part of it, from 0.
    pub index: u64,
    /// How many parts there are.
    pub total: u64,
    /// The part's bytes.
    pub data: &'a [u8],
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
    /// Whether a call of this name needs an authenticated identity; `None` if there is none.
    pub fn needs_identity(tag: &str) -> Option<bool> {
        match tag {
            "EventLog.Hello" | "EventLog.Authenticate" => Some(false),
            "EventLog.WriteSingle" | "EventLog.WriteChunked" | "EventLog.Changes" => Some(true),
            _ => compaction_call(tag).map(|_| true),
        }
    }

    /// Reads the payload hole of the call named `tag`.
    ///
    /// # Errors
    /// If no such call exists, or the payload does not decode.
    pub fn read(tag: &str, payload: &'a [u8]) -> Result<Self, CallError> {
        Ok(match tag {
            "EventLog.Hello" => {
                unframe(payload)?;
                Self::Hello
            }
            "EventLog.Authenticate" => Self::Authenticate(Authenticate::read(payload)?),
            "EventLog.WriteSingle" => {
                Self::WriteSingle { data: Fields::read_frame(payload)?.bytes(field::DATA, "data")? }
            }
            "EventLog.WriteChunked" => Self::WriteChunked(Chunked::read(&Fields::read_frame(payload)?)?),
            "EventLog.Changes" => {
                let fields = Fields::read_frame(payload)?;
                Self::Changes {
                    scope: ScopeRef::read(&fields)?,
                    start_sequence: fields.natural(field::START_SEQUENCE, "startSequence")?,
                }
            }
            _ => {
                let call = compaction_call(tag).ok_or_else(|| CallError::UnknownTag(tag.to_owned()))?;
                Self::Compaction { call, scope: ScopeRef::read(&Fields::read_frame(payload)?)? }
            }
        })
    }
}

fn compaction_call(tag: &str) -> Option<CompactionCall> {
    Some(match tag.strip_prefix("EventLog.Compaction")? {
        "Status" => CompactionCall::Status,
        "Begin" => CompactionCall::Begin,
        "Input" => CompactionCall::Input,
        "Fetch" => CompactionCall::Fetch,
        "Part" => CompactionCall::Part,
        "Abort" => CompactionCall::Abort,
        "Commit" => CompactionCall::Commit,
        _ => return None,
    })
}

impl<'a> ScopeRef<'a> {
    fn read(fields: &Fields<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            store_id: fields.text(field::STORE_ID, "storeId")?,
            public_key: fields.text(field::PUBLIC_KEY, "publicKey")?,
        })
    }
}

impl<'a> Authenticate<'a> {
    fn read(payload: &'a [u8]) -> Result<Self, Malformed> {
        let fields = Fields::read_frame(payload)?;
        if fields.text(field::ALGORITHM, "algorithm")? != "Ed25519" {
            return Err(schema_binary::Code::Value.into());
        }
        Ok(Self {
            signature: fields.bytes(field::SIGNATURE, "signature")?,
            public_key: fields.text(field::PUBLIC_KEY, "publicKey")?,
            signing_public_key: fields.bytes(field::SIGNING_PUBLIC_KEY, "signingPublicKey")?,
        })
    }
}

impl<'a> Chunked<'a> {
    fn read(fields: &Fields<'a>) -> Result<Self, Malformed> {
        let id = fields.int(field::ID, "id")?;
        if fields.text(field::TAG, "_tag")? != "Chunked" {
            return Err(schema_binary::Code::Value.into());
        }
        let (index, total) = part(fields.bytes(field::PART, "part")?)?;
        Ok(Self { id, index, total, data: fields.bytes(field::DATA, "data")? })
    }
}

/// A fixed tuple of two numbers, the first below the second.
pub(crate) fn part(bytes: &[u8]) -> Result<(u64, u64), Malformed> {
    let mut reader = schema_binary::wire::Reader::new(bytes);
    let index = crate::fields::natural(reader.number_varint()?)?;
    let total = crate::fields::natural(reader.number_varint()?)?;
    reader.finish()?;
    if index >= total {
        return Err(schema_binary::Code::Check.into());
    }
    Ok((index, total))
}
