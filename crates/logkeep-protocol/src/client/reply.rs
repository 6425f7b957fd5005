//! How a call ended, as a client reads it (rpc-wire 3.3, 7.2).

use schema_binary::Code;
use schema_binary::wire::Reader;

use super::received::number;
use super::rows::RowReader;
use crate::fields::{Fields, natural, unframe};
use crate::{EntryId, ErrorCode, HelloResponse, Malformed, ProtocolError, RemoteId, WriteAck, field};

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// It succeeded; the value is read by one of the functions below.
    Success(&'a [u8]),
    /// It failed, with the first reason given.
    Failure(Reason<'a>),
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason<'a> {
    /// A failure that is part of the protocol.
    Fail(ProtocolError<'a>),
    /// A defect of the server, as JSON.
    Die(&'a str),
    /// The call was interrupted.
    Interrupt,
    /// No reason was given, or one of an unknown kind.
    Unknown,
}

impl<'a> Reply<'a> {
    /// Reads the hole of an Exit envelope.
    ///
    /// # Errors
    /// If it does not decode.
    pub fn read(exit: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(unframe(exit)?);
        match reader.byte()? {
            0 => Ok(Self::Success(reader.rest())),
            1 if reader.uvarint()? == 0 => Ok(Self::Failure(Reason::Unknown)),
            1 => Ok(Self::Failure(Reason::read(reader.sized()?)?)),
            _ => Err(Code::UnknownMember.into()),
        }
    }
}

impl<'a> Reason<'a> {
    fn read(reason: &'a [u8]) -> Result<Self, Malformed> {
        match reason {
            [0, 0x0a, 0x69, 0x73, 0xbb, 0x46, error @ ..] => Ok(Self::Fail(ProtocolError::read(error)?)),
            [1, defect @ ..] => Ok(Self::Die(std::str::from_utf8(defect).map_err(|_| Code::Utf8)?)),
            [2 | 3, ..] => Ok(Self::Interrupt),
            _ => Ok(Self::Unknown),
        }
    }
}

impl<'a> ProtocolError<'a> {
    fn read(region: &'a [u8]) -> Result<Self, Malformed> {
        let fields = Fields::read(region)?;
        Ok(Self {
            request_tag: fields.text(field::REQUEST_TAG, "requestTag")?,
            public_key: optional_text(&fields, field::PUBLIC_KEY)?,
            store_id: optional_text(&fields, field::STORE_ID)?,
            code: ErrorCode::named(fields.text(field::CODE, "code")?)?,
            message: fields.text(field::MESSAGE, "message")?,
        })
    }
}

impl ErrorCode {
    fn named(name: &str) -> Result<Self, Malformed> {
        let all = [
            Self::Unauthorized,
            Self::Forbidden,
            Self::NotFound,
            Self::InvalidRequest,
            Self::InternalServerError,
        ];
        all.into_iter().find(|code| code.name() == name).ok_or_else(|| Code::Value.into())
    }
}

impl<'a> HelloResponse<'a> {
    /// Reads the value of a successful Hello.
    ///
    /// # Errors
    /// If it does not decode, or an id or challenge has another length than it must have.
    pub fn read(value: &'a [u8]) -> Result<Self, Malformed> {
        let fields = Fields::read(value)?;
        let remote_id = fields.bytes(field::REMOTE_ID, "remoteId")?;
        Ok(Self {
            remote_id: RemoteId(remote_id.try_into().map_err(|_| Code::Check)?),
            challenge: fields.bytes(field::CHALLENGE, "challenge")?.try_into().map_err(|_| Code::Check)?,
            first_sequence: match fields.optional(field::FIRST_SEQUENCE) {
                Some([4, number @ ..]) => natural(Reader::new(number).number_varint()?)?,
                _ => 0,
            },
            compaction: fields.optional(field::COMPACTION) == Some(&[1, 1]),
        })
    }
}

/// The answer to a CompactionStatus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Whether a snapshot is wanted.
    pub wanted: bool,
    /// The highest assigned sequence; one less than the first if there is none.
    pub head: i64,
}

/// Reads the value of a successful CompactionStatus.
///
/// # Errors
/// If it does not decode.
pub fn read_status(value: &[u8]) -> Result<Status, Malformed> {
    let fields = Fields::read(value)?;
    Ok(Status { wanted: fields.flag(field::WANTED, "wanted")?, head: fields.int(field::HEAD, "head")? })
}

impl WriteAck {
    /// Reads the value of a successful write.
    ///
    /// # Errors
    /// If it does not decode, or an id is not 16 bytes long.
    pub fn read_all(value: &[u8]) -> Result<Vec<Self>, Malformed> {
        let mut rows = RowReader::new(value)?;
        let mut acks = Vec::with_capacity(rows.remaining().min(1000));
        loop {
            let (mut id, mut sequence) = (None, None);
            let more = rows.next_row(|slot, region| {
                match u32::try_from(slot).unwrap_or(0) {
                    field::ENTRY_ID => id = Some(region.value()?),
                    field::SEQUENCE => sequence = Some(region.value()?),
                    _ => {}
                }
                Ok(())
            })?;
            if !more {
                return Ok(acks);
            }
            let id = id.ok_or_else(|| Malformed::missing("entryId"))?;
            acks.push(Self {
                entry_id: EntryId(id.try_into().map_err(|_| Code::Check)?),
                sequence: number(sequence.ok_or_else(|| Malformed::missing("sequence"))?)?,
            });
        }
    }
}

/// A text that may be absent or undefined.
fn optional_text<'a>(fields: &Fields<'a>, id: u32) -> Result<Option<&'a str>, Malformed> {
    match fields.optional(id) {
        Some([5, text @ ..]) => Ok(Some(std::str::from_utf8(text).map_err(|_| Code::Utf8)?)),
        _ => Ok(None),
    }
}
