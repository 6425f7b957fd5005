//! What a log is made of.

use crate::EntryId;

/// One occurrence of an event (EL-020). Two entries with the same id are the same entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Names the entry and orders it among all others.
    pub id: EntryId,
    /// The tag of the event. A tag that no handler knows is legal.
    pub event: String,
    /// What the event is about; entries with the same tag and primary key can conflict.
    pub primary_key: String,
    /// The encoded payload, in the codec of the event.
    pub payload: Vec<u8>,
}
