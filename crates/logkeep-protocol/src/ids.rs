//! Identifiers that travel.

use std::fmt;

use schema_binary::{Decode, Encode, Layout};

/// The id of an entry: 16 bytes, compared as unsigned bytes (EL-002). A server does not look inside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Layout, Encode, Decode)]
pub struct EntryId(pub [u8; 16]);

/// The id a server was given when its storage was created: 16 random bytes (EL-015).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Layout, Encode, Decode)]
pub struct RemoteId(pub [u8; 16]);

impl EntryId {
    /// When the entry was created, in milliseconds since 1970 (EL-003). Means something only for ids that
    /// a device made.
    pub fn millis(&self) -> u64 {
        self.0.iter().take(6).fold(0, |millis, byte| millis << 8 | u64::from(*byte))
    }
}

/// The usual form of a UUID (EL-004).
impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

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
