//! The message of one batch that is too large for memory.

use std::ops::Range;

use schema_binary::wire::{put_uvarint, uvarint_len};

use crate::splice::{ENCRYPTED_BATCH, ENTRY_IDS, IV, SEQUENCE, put_number_region, put_region};

/// The frame of a list of one remote batch, of which only the sealed bytes behind the nonce are missing.
///
/// ```text
/// message := head  sealed[iv.len()..]  tail
/// ```
#[derive(Debug, Clone)]
pub struct LargeMessage {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The sealed bytes that stand between them.
    sealed: Range<u64>,
}

impl LargeMessage {
    /// The message of the batch that begins at `sequence`. `iv` is the first region of its `sealed` sealed
    /// bytes, `entry_ids` the wire value of its ids.
    pub fn new(sequence: u64, iv: &[u8], sealed: u64, entry_ids: &[u8]) -> Self {
        let mut before = vec![0];
        put_uvarint(&mut before, SEQUENCE.into());
        put_number_region(&mut before, sequence);
        put_uvarint(&mut before, IV.into());
        before.extend_from_slice(iv);
        put_uvarint(&mut before, ENCRYPTED_BATCH.into());
        let mut tail = Vec::with_capacity(entry_ids.len() + 10);
        put_uvarint(&mut tail, ENTRY_IDS.into());
        put_region(&mut tail, entry_ids);
        let sealed = iv.len() as u64..sealed.max(iv.len() as u64);
        let row = before.len() as u64 + (sealed.end - sealed.start) + tail.len() as u64;
        let body = 2 + uvarint_len(row) as u64 + row;
        let mut head = Vec::with_capacity(before.len() + 24);
        put_uvarint(&mut head, body);
        head.extend_from_slice(&[0x20, 1]);
        put_uvarint(&mut head, row);
        head.extend_from_slice(&before);
        Self { head, tail, sealed }
    }

    /// The length of the message in bytes.
    pub fn len(&self) -> u64 {
        self.head.len() as u64 + (self.sealed.end - self.sealed.start) + self.tail.len() as u64
    }

    /// Never: a message has a head.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which of the sealed bytes the bytes `range` of the message hold.
    pub fn sealed_within(&self, range: Range<u64>) -> Range<u64> {
        let shift = self.head.len() as u64;
        let sealed =
            |position: u64| (position.saturating_sub(shift) + self.sealed.start).min(self.sealed.end);
        sealed(range.start)..sealed(range.end)
    }

    /// The bytes `range` of the message, given the sealed bytes they hold.
    pub fn bytes(&self, range: Range<u64>, sealed: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity((range.end - range.start) as usize);
        let end = self.head.len() as u64 + (self.sealed.end - self.sealed.start);
        out.extend_from_slice(overlap(&self.head, 0, &range));
        out.extend_from_slice(sealed);
        out.extend_from_slice(overlap(&self.tail, end, &range));
        out
    }
}

/// What of `part`, which begins at `start`, is in `range`.
fn overlap<'a>(part: &'a [u8], start: u64, range: &Range<u64>) -> &'a [u8] {
    let within = |position: u64| (position.saturating_sub(start) as usize).min(part.len());
    part.get(within(range.start)..within(range.end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{batch_list, stored_row};

    #[test]
    fn every_cut_gives_the_bytes_of_the_whole_message() {
        let iv = [&[24][..], &[7; 12]].concat();
        let encrypted: Vec<u8> = (0..100).collect();
        let mut sealed = iv.clone();
        put_region(&mut sealed, &encrypted);
        let entry_ids = [&[1, 16][..], &[9; 16]].concat();
        let mut row = Vec::new();
        stored_row(&mut row, 300, &sealed, &entry_ids);
        let item = batch_list(&[&row], 1).unwrap();
        let whole = [&item.head[..], &item.body.concat()].concat();

        let message = LargeMessage::new(300, &iv, sealed.len() as u64, &entry_ids);
        assert_eq!(message.len(), whole.len() as u64);
        for from in 0..=whole.len() as u64 {
            for to in from..=whole.len() as u64 {
                let needed = message.sealed_within(from..to);
                let needed = &sealed[needed.start as usize..needed.end as usize];
                assert_eq!(message.bytes(from..to, needed), whole[from as usize..to as usize]);
            }
        }
    }
}
