//! RPC envelopes: one message of the connection each (WIRE-050, section 3.2).
//!
//! ```text
//! frame := uvarint(N)  21  a7 1f bf 48 86 12 ff 6b  position  fields
//! ```
//!
//! Payloads, stream values, exits and defects are *holes*: complete frames of their own that an envelope
//! carries as opaque bytes.

use schema_binary::wire::{Reader, put_sized, put_uvarint, uvarint_len};
use schema_binary::{Code, Error};

/// The envelope byte of fingerprint mode and the fingerprint of the union of all envelopes.
pub(crate) const HEAD: [u8; 9] = [0x21, 0xa7, 0x1f, 0xbf, 0x48, 0x86, 0x12, 0xff, 0x6b];

/// The position of Chunk in the union of envelopes.
pub(crate) const CHUNK_POSITION: u8 = 5;

/// The bitmap bits of a request, by ascending field id.
mod optional {
    pub(super) const SPAN_ID: u8 = 1;
    pub(super) const SAMPLED: u8 = 1 << 1;
    pub(super) const TRACE_ID: u8 = 1 << 2;
    pub(super) const NOTIFICATION: u8 = 1 << 3;
    pub(super) const DISCARD: u8 = 1 << 4;
}

/// The id of a request as its sender wrote it: `00` and a number, or `01` and text.
///
/// Answers repeat it byte for byte, so number and text never mix (WIRE section 2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Box<[u8]>);

impl RequestId {
    /// The id a client counts its requests with.
    pub fn number(n: u32) -> Self {
        let mut bytes = vec![0];
        put_uvarint(&mut bytes, u64::from(n) * 2);
        Self(bytes.into())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn read(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.split_first() {
            Some((0, number)) if (1..=8).contains(&number.len()) => Ok(Self(bytes.into())),
            Some((1, text)) => {
                std::str::from_utf8(text).map_err(|_| Code::Utf8)?;
                Ok(Self(bytes.into()))
            }
            Some((0, _)) => Err(Code::NumberLength.into()),
            Some(_) => Err(Code::UnknownMember.into()),
            None => Err(Code::Truncated.into()),
        }
    }
}

/// A message of a connection, borrowed from its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Envelope<'a> {
    /// Client to server: the last Chunk of this request was taken.
    Ack(RequestId),
    /// Server to client: the request ended.
    Exit {
        /// The request it answers.
        id: RequestId,
        /// The hole with the exit.
        exit: &'a [u8],
    },
    /// Server to client: something failed that concerns all requests.
    Defect(&'a [u8]),
    /// Client to server: are you there?
    Ping,
    /// Client to server: no more requests; socket clients never send it.
    Eof,
    /// Server to client: items of a stream.
    Chunk {
        /// The hole with a non-empty array of items.
        values: &'a [u8],
        /// The streaming request.
        id: RequestId,
    },
    /// Server to client: I am.
    Pong,
    /// A call.
    Request(Request<'a>),
    /// Client to server: the answer is no longer wanted.
    Interrupt(RequestId),
}

/// A call. Headers and trace fields are checked for their form and dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// Chosen by the client, unique among its live requests.
    pub id: RequestId,
    /// The name of the call, for example `EventLog.Hello`.
    pub tag: &'a str,
    /// The hole with the payload.
    pub payload: &'a [u8],
    /// Whether no answer is wanted at all.
    pub notification: bool,
    /// Whether only the start of the call is to be answered.
    pub discard: bool,
}

impl<'a> Envelope<'a> {
    /// Reads the body of a frame: everything behind its length.
    ///
    /// # Errors
    /// [`Code::Envelope`] or [`Code::Fingerprint`] for a peer that speaks something else, and the codes of
    /// malformed fields.
    pub fn read(body: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(body);
        let (mode, fingerprint) = HEAD.split_at(1);
        if reader.take(1)? != mode {
            return Err(Code::Envelope.into());
        }
        if reader.take(8)? != fingerprint {
            return Err(Code::Fingerprint.into());
        }
        let envelope = match reader.uvarint()? {
            0 => Self::Ack(RequestId::read(reader.sized()?)?),
            1 => Self::Exit { id: RequestId::read(reader.sized()?)?, exit: reader.sized()? },
            2 => Self::Defect(reader.sized()?),
            3 => Self::Ping,
            4 => Self::Eof,
            5 => {
                let values = reader.sized()?;
                Self::Chunk { values, id: RequestId::read(reader.sized()?)? }
            }
            6 => Self::Pong,
            7 => Self::Request(Request::read(&mut reader)?),
            8 => Self::Interrupt(RequestId::read(reader.sized()?)?),
            _ => return Err(Code::UnknownMember.into()),
        };
        reader.finish()?;
        Ok(envelope)
    }

    /// Writes the frame, length included.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Ack(id) => frame(0, &[&id.0]),
            Self::Exit { id, exit } => frame(1, &[&id.0, exit]),
            Self::Defect(defect) => frame(2, &[defect]),
            Self::Ping => frame(3, &[]),
            Self::Eof => frame(4, &[]),
            Self::Chunk { values, id } => frame(CHUNK_POSITION, &[values, &id.0]),
            Self::Pong => frame(6, &[]),
            Self::Request(request) => request.write(),
            Self::Interrupt(id) => frame(8, &[&id.0]),
        }
    }
}

impl<'a> Request<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let present = reader.byte()?;
        if present & optional::SPAN_ID != 0 {
            optional_text(reader.sized()?)?;
        }
        let payload = reader.sized()?;
        let id = RequestId::read(reader.sized()?)?;
        if present & optional::SAMPLED != 0 {
            optional_flag(reader.sized()?)?;
        }
        let tag = text(reader.sized()?)?;
        if present & optional::TRACE_ID != 0 {
            optional_text(reader.sized()?)?;
        }
        headers(reader.sized()?)?;
        let notification = present & optional::NOTIFICATION != 0 && optional_flag(reader.sized()?)?;
        let discard = present & optional::DISCARD != 0 && optional_flag(reader.sized()?)?;
        Ok(Self { id, tag, payload, notification, discard })
    }

    fn write(&self) -> Vec<u8> {
        let mut present = 0;
        let mut fields: Vec<&[u8]> = vec![self.payload, &self.id.0, self.tag.as_bytes(), &[0]];
        for (set, bit) in [(self.notification, optional::NOTIFICATION), (self.discard, optional::DISCARD)] {
            if set {
                present |= bit;
                fields.push(&[0, 1]);
            }
        }
        let mut body = vec![7, present];
        fields.iter().for_each(|field| put_sized(&mut body, field));
        let mut out = Vec::with_capacity(body.len() + 19);
        put_uvarint(&mut out, (HEAD.len() + body.len()) as u64);
        out.extend_from_slice(&HEAD);
        out.extend_from_slice(&body);
        out
    }
}

fn frame(position: u8, fields: &[&[u8]]) -> Vec<u8> {
    let sized = |field: &&[u8]| uvarint_len(field.len() as u64) + field.len();
    let length = HEAD.len() + 1 + fields.iter().map(sized).sum::<usize>();
    let mut out = Vec::with_capacity(length + 10);
    put_uvarint(&mut out, length as u64);
    out.extend_from_slice(&HEAD);
    out.push(position);
    fields.iter().for_each(|field| put_sized(&mut out, field));
    out
}

fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Code::Utf8.into())
}

/// A field that may hold undefined: `00` text form is `01` and UTF-8, undefined is `00` alone.
fn optional_text(bytes: &[u8]) -> Result<(), Error> {
    match bytes.split_first() {
        Some((0, [])) => Ok(()),
        Some((1, rest)) => text(rest).map(drop),
        Some((0, _)) => Err(Code::NotEmpty.into()),
        Some(_) => Err(Code::UnknownMember.into()),
        None => Err(Code::Truncated.into()),
    }
}

/// A boolean that may be undefined: `00` and the boolean, or `01` alone.
fn optional_flag(bytes: &[u8]) -> Result<bool, Error> {
    match bytes {
        [0, value @ (0 | 1)] => Ok(*value == 1),
        [1] => Ok(false),
        [0, ..] => Err(Code::Bool.into()),
        [1, ..] => Err(Code::NotEmpty.into()),
        [] => Err(Code::Truncated.into()),
        _ => Err(Code::UnknownMember.into()),
    }
}

fn headers(bytes: &[u8]) -> Result<(), Error> {
    let mut list = Reader::new(bytes);
    for _ in 0..list.uvarint()? {
        let mut pair = Reader::new(list.sized()?);
        text(pair.sized()?)?;
        text(pair.sized()?)?;
        pair.finish()?;
    }
    list.finish()
}
