//! Reading the ids of a batch out of their wire form.

use super::chunk::Id;
use schema_binary::wire::Reader;

/// An id on the wire is its length and its bytes.
const ID_BYTES: u64 = 16;

/// Reads `uvarint(count)`, then `count` ids; `None` if the bytes are anything else.
pub(in super::super) fn parse(count: u32, bytes: &[u8]) -> Option<Vec<Id>> {
    let mut reader = Reader::new(bytes);
    if count == 0 || reader.uvarint().ok()? != u64::from(count) {
        return None;
    }
    let mut ids = Vec::with_capacity(bytes.len() / 17);
    for _ in 0..count {
        if reader.uvarint().ok()? != ID_BYTES {
            return None;
        }
        let id = reader.take(ID_BYTES).ok()?.try_into().ok()?;
        ids.push(Id::from_be_bytes(id));
    }
    reader.finish().ok()?;
    Some(ids)
}
