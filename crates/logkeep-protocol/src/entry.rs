//! What a log is made of.

use schema_binary::types::NonEmpty;
use schema_binary::{Decode, Encode, Layout, decode, encode};

use crate::{EntryId, Malformed};

/// One occurrence of an event (EL-020). Two entries with the same id are the same entry.
#[derive(Debug, Clone, PartialEq, Eq, Layout, Encode, Decode)]
pub struct Entry {
    /// Names the entry and orders it among all others.
    pub id: EntryId,
    /// The tag of the event. A tag that no handler knows is legal.
    pub event: String,
    /// What the event is about; entries with the same tag and primary key can conflict.
    #[schema(rename = "primaryKey")]
    pub primary_key: String,
    /// The encoded payload, in the codec of the event.
    pub payload: Vec<u8>,
}

/// The plaintext of a batch (schema-binary.md 4.2): the frame of a list of entries, as it is sealed; not for an
/// empty list.
pub fn write_entries_plaintext(entries: &[Entry]) -> Vec<u8> {
    // Bytes and texts can always be written.
    encode(entries).unwrap_or_default()
}

/// Reads the entries of a batch back.
///
/// # Errors
/// If the frame does not decode, is empty, or has an id that is not 16 bytes long.
pub fn read_entries(frame: &[u8]) -> Result<Vec<Entry>, Malformed> {
    Ok(decode::<NonEmpty<Entry>>(frame)?.into_vec())
}
