//! The body of a write (schema-binary.md 4.4).

use schema_binary::{Encode, Layout, encode};

use crate::upload::WriteEntries;
use crate::{EntryId, ScopeRef};

/// A sealed batch with the ids of its entries.
#[derive(Debug, Clone, PartialEq, Eq, Layout, Encode)]
pub struct SealedEntries {
    /// The ids, in the order in which the entries were sealed; at least one.
    #[schema(rename = "entryIds")]
    pub entry_ids: Vec<EntryId>,
    /// The nonce.
    pub iv: [u8; 12],
    /// The encrypted entries with the tag behind them.
    #[schema(rename = "encryptedBatch")]
    pub encrypted: Vec<u8>,
}

/// The frame of a `WriteEntries`.
pub fn write_entries(scope: ScopeRef<'_>, batches: &[SealedEntries]) -> Vec<u8> {
    let ScopeRef { public_key, store_id } = scope;
    // Bytes and texts can always be written.
    encode(&WriteEntries { public_key, store_id, batches }).unwrap_or_default()
}
