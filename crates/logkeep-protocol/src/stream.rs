//! The items of a change stream and the Chunks that carry them.
//!
//! A Chunk is built in one pass over the stored rows: every length is known beforehand, so the rows are
//! copied once, from the page they were read into to the bytes that are sent.

use schema_binary::Code;
use schema_binary::wire::{Reader, put_sized, put_uvarint, uvarint_len};

use crate::envelope::{CHUNK_POSITION, HEAD, RequestId};
use crate::fields::{put_natural, put_number_region, put_region};
use crate::{Malformed, field};

/// The longest data of one item (WIRE-110); anything longer travels in parts.
pub const MAX_PART: usize = 512_000;

const SINGLE: [u8; 5] = [0x0a, 0x0c, 0x30, 0x40, 0xc6];
const CHUNKED: [u8; 5] = [0x0a, 0x47, 0xbb, 0xc3, 0x85];

/// One item of a stream: its data is `head` followed by the slices of `body`.
#[derive(Debug, Clone, Default)]
pub struct Item<'a> {
    /// For a part of a longer message: message id, index and total.
    pub part: Option<(u64, u64, u64)>,
    /// The beginning of the data.
    pub head: Vec<u8>,
    /// The rest of the data.
    pub body: Vec<&'a [u8]>,
}

/// The frame of a non-empty list of remote batches, from rows whose shape is known; one row at least.
///
/// Each of `rows` is `sized(01 region(sequence) region(iv) region(encryptedBatch) region(entryIds))`, or
/// several of them back to back, `count` in all. The first is rewritten to declare the shape.
///
/// # Errors
/// If the first row is not of that form.
pub fn batch_list<'a>(rows: &[&'a [u8]], count: usize) -> Result<Item<'a>, Malformed> {
    let (first, others) = rows.split_first().ok_or(Code::Truncated)?;
    let mut reader = Reader::new(first);
    let declared = declare(reader.sized()?)?;
    let mut body = vec![reader.rest()];
    body.extend_from_slice(others);
    let length = 1
        + uvarint_len(count as u64)
        + uvarint_len(declared.len() as u64)
        + declared.len()
        + body.iter().map(|rows| rows.len()).sum::<usize>();
    let mut head = Vec::with_capacity(declared.len() + 20);
    put_uvarint(&mut head, length as u64);
    head.push(0x20);
    put_uvarint(&mut head, count as u64);
    put_sized(&mut head, &declared);
    Ok(Item { part: None, head, body })
}

/// Rewrites a row that refers to shape 0 into one that declares it.
fn declare(row: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(row);
    if reader.uvarint()? != 1 {
        return Err(Code::RowShape.into());
    }
    let mut declared = Vec::with_capacity(row.len() + 20);
    declared.push(0);
    for id in [field::SEQUENCE, field::IV, field::ENCRYPTED_BATCH, field::ENTRY_IDS] {
        put_uvarint(&mut declared, id.into());
        let code = reader.uvarint()?;
        put_region(&mut declared, reader.take(code / 2)?);
    }
    reader.finish()?;
    Ok(declared)
}

impl Item<'_> {
    /// The bytes of the data.
    pub fn data_len(&self) -> usize {
        self.head.len() + self.body.iter().map(|slice| slice.len()).sum::<usize>()
    }

    /// What stands before the data: variant, other fields, and the data's tag and length.
    fn prefix(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40);
        match self.part {
            None => out.extend_from_slice(&SINGLE),
            Some((id, index, total)) => {
                out.extend_from_slice(&CHUNKED);
                put_uvarint(&mut out, u64::from(field::ID) * 8 + 1);
                put_natural(&mut out, id);
                let mut part = Vec::with_capacity(8);
                put_natural(&mut part, index);
                put_natural(&mut part, total);
                put_uvarint(&mut out, u64::from(field::PART) * 8);
                put_sized(&mut out, &part);
            }
        }
        put_uvarint(&mut out, u64::from(field::DATA) * 8);
        put_uvarint(&mut out, self.data_len() as u64);
        out
    }
}

/// Writes the Chunk envelope that carries `items` to the stream `id`; at least one item.
pub fn write_chunk(id: &RequestId, items: &[Item<'_>]) -> Vec<u8> {
    let prefixes: Vec<Vec<u8>> = items.iter().map(Item::prefix).collect();
    let sized = |length: usize| uvarint_len(length as u64) + length;
    let lengths: Vec<usize> =
        items.iter().zip(&prefixes).map(|(item, prefix)| prefix.len() + item.data_len()).collect();
    let values =
        1 + uvarint_len(items.len() as u64) + lengths.iter().map(|length| sized(*length)).sum::<usize>();
    let body = HEAD.len() + 1 + sized(sized(values)) + sized(id.as_bytes().len());
    let mut out = Vec::with_capacity(sized(body));
    put_uvarint(&mut out, body as u64);
    out.extend_from_slice(&HEAD);
    out.push(CHUNK_POSITION);
    put_uvarint(&mut out, sized(values) as u64);
    put_uvarint(&mut out, values as u64);
    out.push(0x20);
    put_uvarint(&mut out, items.len() as u64);
    for ((item, prefix), length) in items.iter().zip(&prefixes).zip(lengths) {
        put_uvarint(&mut out, length as u64);
        out.extend_from_slice(prefix);
        out.extend_from_slice(&item.head);
        item.body.iter().for_each(|slice| out.extend_from_slice(slice));
    }
    put_sized(&mut out, id.as_bytes());
    out
}

/// Appends the row of a stored batch whose shape is known, as [`batch_list`] takes it.
pub fn stored_row(out: &mut Vec<u8>, sequence: u64, sealed: &[u8], entry_ids: &[u8]) {
    let number = uvarint_len(sequence * 2);
    let ids = uvarint_len(entry_ids.len() as u64 * 2) + entry_ids.len();
    put_uvarint(out, (2 + number + sealed.len() + ids) as u64);
    out.push(1);
    put_number_region(out, sequence);
    out.extend_from_slice(sealed);
    put_region(out, entry_ids);
}
