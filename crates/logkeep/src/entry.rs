//! Entries on their way into a journal.

use logkeep_protocol::Entry;

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
