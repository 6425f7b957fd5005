//! The body of a write (schema-binary.md 4.4).

use schema_binary::wire::put_uvarint;

use super::rows::RowWriter;
use crate::fields::{framed, put_bytes};
use crate::{EntryId, ScopeRef, field};

/// A sealed batch with the ids of its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEntries {
    /// The ids, in the order in which the entries were sealed; at least one.
    pub entry_ids: Vec<EntryId>,
    /// The nonce.
    pub iv: [u8; 12],
    /// The encrypted entries with the tag behind them.
    pub encrypted: Vec<u8>,
}

/// The frame of a `WriteEntries`.
pub fn write_entries(scope: ScopeRef<'_>, batches: &[SealedEntries]) -> Vec<u8> {
    let mut run = Vec::with_capacity(batches.iter().map(SealedEntries::size).sum());
    let mut rows = RowWriter::new(&mut run, batches.len());
    for batch in batches {
        rows.row(|fields| {
            fields.value(field::IV, &batch.iv);
            fields.value(field::ENCRYPTED_BATCH, &batch.encrypted);
            fields.value(field::ENTRY_IDS, &id_list(&batch.entry_ids));
        });
    }
    framed(|out| {
        put_bytes(out, field::STORE_ID, scope.store_id.as_bytes());
        put_bytes(out, field::BATCHES, &run);
        put_bytes(out, field::PUBLIC_KEY, scope.public_key.as_bytes());
    })
}

impl SealedEntries {
    fn size(&self) -> usize {
        self.encrypted.len() + self.entry_ids.len() * 17 + 64
    }
}

fn id_list(ids: &[EntryId]) -> Vec<u8> {
    let mut list = Vec::with_capacity(5 + ids.len() * 17);
    put_uvarint(&mut list, ids.len() as u64);
    for id in ids {
        list.push(16);
        list.extend_from_slice(&id.0);
    }
    list
}
