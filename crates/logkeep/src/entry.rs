//! What a log is made of.

use logkeep_protocol::EntryId;

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

/// An entry that is about to be written and has no id yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEntry<'a> {
    /// The tag of the event.
    pub event: &'a str,
    /// What the event is about.
    pub primary_key: &'a str,
    /// The encoded payload.
    pub payload: &'a [u8],
}

/// An entry as a remote delivers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEntry {
    /// Its place in the remote's store.
    pub sequence: u64,
    /// The entry.
    pub entry: Entry,
}
