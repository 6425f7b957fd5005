//! The items of a change stream and the Chunks that carry them.
//!
//! A Chunk is built in one pass over the stored rows: every length is known beforehand, so the rows are
//! copied once, from the page they were read into to the bytes that are sent.

use schema_binary::Code;
use schema_binary::wire::{Reader, put_sized, put_uvarint, uvarint_len};

use crate::chunked::WireChunked;
use crate::item::{ITEMS, WireItem};
use crate::splice::{ROW, put_number_region, put_region};
use crate::{Envelope, Malformed, PayloadMode, RequestId};

/// The longest data of one item (WIRE-110); anything longer travels in parts.
pub const MAX_PART: usize = 512_000;

/// What the body of a Chunk envelope begins with: envelope byte, fingerprint, position.
const CHUNK_HEAD: usize = 10;

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
    for id in ROW {
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

    /// What stands before the data: the item without data, of which the length of the data is the last byte.
    fn prefix(&self, mode: PayloadMode) -> Result<Vec<u8>, Malformed> {
        let item = match self.part {
            None => WireItem::Single { data: &[] },
            Some((id, index, total)) => {
                let id = i64::try_from(id).map_err(|error| Malformed::because(&error))?;
                WireItem::Chunked(WireChunked { id, part: (index, total), data: &[] })
            }
        };
        let empty = ITEMS.one.write(mode, &item)?;
        let mut body = Reader::new(&empty);
        body.uvarint()?;
        body.take(ITEMS.one.head(mode).len() as u64)?;
        let mut prefix = Vec::with_capacity(body.rest().len() + 5);
        prefix.extend_from_slice(body.rest());
        prefix.pop();
        put_uvarint(&mut prefix, self.data_len() as u64);
        Ok(prefix)
    }
}

/// Writes the Chunk envelope that carries `items` to the stream `id`, whose request was in `mode`; at least one
/// item.
///
/// # Errors
/// If the number of a message is beyond 2^53 - 1.
pub fn write_chunk(id: &RequestId, mode: PayloadMode, items: &[Item<'_>]) -> Result<Vec<u8>, Malformed> {
    let prefixes = items.iter().map(|item| item.prefix(mode)).collect::<Result<Vec<_>, _>>()?;
    let sized = |length: usize| uvarint_len(length as u64) + length;
    let lengths: Vec<usize> =
        items.iter().zip(&prefixes).map(|(item, prefix)| prefix.len() + item.data_len()).collect();
    let head = ITEMS.list.head(mode);
    let values = head.len()
        + uvarint_len(items.len() as u64)
        + lengths.iter().map(|length| sized(*length)).sum::<usize>();
    // The values stand in the middle of the envelope, where an empty one has their length.
    let empty = Envelope::Chunk { id: id.clone(), values: &[] }.write();
    let mut around = Reader::new(&empty);
    around.uvarint()?;
    let before = around.take(CHUNK_HEAD as u64)?;
    around.take(1)?;
    let body = before.len() + sized(sized(values)) + around.rest().len();
    let mut out = Vec::with_capacity(sized(body));
    put_uvarint(&mut out, body as u64);
    out.extend_from_slice(before);
    put_uvarint(&mut out, sized(values) as u64);
    put_uvarint(&mut out, values as u64);
    out.extend_from_slice(head);
    put_uvarint(&mut out, items.len() as u64);
    for ((item, prefix), length) in items.iter().zip(&prefixes).zip(lengths) {
        put_uvarint(&mut out, length as u64);
        out.extend_from_slice(prefix);
        out.extend_from_slice(&item.head);
        item.body.iter().for_each(|slice| out.extend_from_slice(slice));
    }
    out.extend_from_slice(around.rest());
    Ok(out)
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
