//! What arrives on a stream.

use schema_binary::types::NonEmpty;
use schema_binary::{Decode, Encode, Layout, decode};

use crate::item::{ITEMS, WireItem};
use crate::{Chunked, EntryId, Malformed};

/// An item of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received<'a> {
    /// A whole message.
    Single(&'a [u8]),
    /// A part of a longer one.
    Chunked(Chunked<'a>),
}

/// A batch as a remote delivers it.
#[derive(Debug, Clone, PartialEq, Eq, Layout, Encode, Decode)]
pub struct RemoteBatch<'a> {
    /// The sequence of the first entry; the others follow without a gap.
    pub sequence: u64,
    /// The ids of the entries.
    #[schema(rename = "entryIds")]
    pub entry_ids: NonEmpty<EntryId>,
    /// The nonce, of whatever length.
    pub iv: &'a [u8],
    /// The encrypted entries.
    #[schema(rename = "encryptedBatch")]
    pub encrypted: &'a [u8],
}

/// Reads the hole of a Chunk envelope.
///
/// # Errors
/// If the hole or one of its items does not decode.
pub fn read_items(values: &[u8]) -> Result<Vec<Received<'_>>, Malformed> {
    let items = ITEMS.list.read(values)?.into_vec();
    items.into_iter().map(Received::try_from).collect()
}

impl<'a> TryFrom<WireItem<'a>> for Received<'a> {
    type Error = Malformed;

    fn try_from(item: WireItem<'a>) -> Result<Self, Malformed> {
        Ok(match item {
            WireItem::Single { data } => Self::Single(data),
            WireItem::Chunked(part) => Self::Chunked(part.try_into()?),
        })
    }
}

/// Reads a message of a change stream, or of the stream of a CompactionFetch: batches, at least one.
///
/// # Errors
/// If it does not decode, or an id is not 16 bytes long.
pub fn read_remote_batches(frame: &[u8]) -> Result<Vec<RemoteBatch<'_>>, Malformed> {
    Ok(decode::<NonEmpty<RemoteBatch<'_>>>(frame)?.into_vec())
}
