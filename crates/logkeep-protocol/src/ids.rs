//! Identifiers that travel.

use std::fmt;

/// The id of an entry: 16 bytes, compared as unsigned bytes (EL-002). A server does not look inside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub [u8; 16]);

/// The id a server was given when its storage was created: 16 random bytes (EL-015).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RemoteId(pub [u8; 16]);

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for RemoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
