//! Parts of messages that are too long for one frame.

use schema_binary::{Code, Decode, Encode, Layout};

use crate::Malformed;

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

/// A part as it is written: with its tag where it stands alone, without it as an item of a stream.
#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
#[schema(tag = "Chunked")]
pub(crate) struct WireChunked<'a> {
    pub(crate) id: i64,
    pub(crate) part: (u64, u64),
    pub(crate) data: &'a [u8],
}

impl<'a> TryFrom<WireChunked<'a>> for Chunked<'a> {
    type Error = Malformed;

    fn try_from(wire: WireChunked<'a>) -> Result<Self, Malformed> {
        let (index, total) = wire.part;
        if index >= total {
            return Err(schema_binary::Error::from(Code::Check).at("part").into());
        }
        Ok(Self { id: wire.id, index, total, data: wire.data })
    }
}

impl<'a> From<Chunked<'a>> for WireChunked<'a> {
    fn from(part: Chunked<'a>) -> Self {
        Self { id: part.id, part: (part.index, part.total), data: part.data }
    }
}
