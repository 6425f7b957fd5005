//! The messages of a stage: what goes into a snapshot, and its segments (rpc-wire 7.3).

use bytes::Bytes;
use schema_binary::types::{NonEmpty, Rows};
use schema_binary::{Code, Decode, Encode, Layout, decode, encode};

use crate::upload::{BatchRow, UploadError, batches_of};
use crate::{Batch, EntryId, Malformed, SealedEntries};

/// What a stage has for input: a batch without what is sealed in it.
#[derive(Debug, Clone, PartialEq, Eq, Layout, Encode, Decode)]
pub struct InputHeader {
    /// The sequence of the first entry.
    pub sequence: u64,
    /// The ids of the entries.
    #[schema(rename = "entryIds")]
    pub entry_ids: NonEmpty<EntryId>,
}

/// A message of the stream of a CompactionInput; one header at least.
///
/// # Errors
/// If a sequence is beyond 2^53 - 1.
pub fn write_input_headers(headers: &[InputHeader]) -> Result<Vec<u8>, Malformed> {
    Ok(encode(headers)?)
}

/// Reads a message of the stream of a CompactionInput: headers, at least one.
///
/// # Errors
/// If it does not decode, or an id is not 16 bytes long.
pub fn read_input_headers(frame: &[u8]) -> Result<Vec<InputHeader>, Malformed> {
    Ok(decode::<NonEmpty<InputHeader>>(frame)?.into_vec())
}

/// A segment of a snapshot, to be uploaded in parts; one batch at least.
pub fn write_segment(batches: &[SealedEntries]) -> Vec<u8> {
    // Bytes can always be written.
    encode(batches).unwrap_or_default()
}

/// Reads a segment: batches, at least one. Where the segment holds a batch in its stored form, the batch shares
/// its memory.
///
/// # Errors
/// If a batch does not decode, has no ids, or has an id that is not 16 bytes long.
pub fn read_segment(segment: &Bytes) -> Result<Vec<Batch>, UploadError> {
    let rows: Rows<'_, BatchRow<'_>> = decode(segment)?;
    if rows.is_empty() {
        return Err(schema_binary::Error::from(Code::MissingKey).at(0).into());
    }
    batches_of(&rows, segment)
}
