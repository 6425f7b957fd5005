//! What the hot paths put around stored bytes instead of writing them anew: a few field ids and forms of the
//! default mode (schema-binary.md 1.6, 1.8.3). The tests of this crate compare the outcome with the schemas.

use schema_binary::wire::{put_uvarint, uvarint_len};

/// FNV-1a of the fields' names.
pub(crate) const SEQUENCE: u32 = 0x3c43_ef68;
pub(crate) const IV: u32 = 0x4938_8736;
pub(crate) const ENCRYPTED_BATCH: u32 = 0x603e_9fc5;
pub(crate) const ENTRY_IDS: u32 = 0xc86e_5c77;
pub(crate) const STORE_ID: u32 = 0x4ca3_8853;
pub(crate) const BATCHES: u32 = 0xc664_1b6b;
pub(crate) const PUBLIC_KEY: u32 = 0xf40a_06ff;

/// The fields of the row of a remote batch, in the order in which they stand.
pub(crate) const ROW: [u32; 4] = [SEQUENCE, IV, ENCRYPTED_BATCH, ENTRY_IDS];

/// Appends a value of a row.
pub(crate) fn put_region(out: &mut Vec<u8>, bytes: &[u8]) {
    put_uvarint(out, bytes.len() as u64 * 2);
    out.extend_from_slice(bytes);
}

/// Appends a natural number as a value of a row.
pub(crate) fn put_number_region(out: &mut Vec<u8>, n: u64) {
    put_uvarint(out, uvarint_len(n * 2) as u64 * 2);
    put_uvarint(out, n * 2);
}
