//! Batches, scopes and shorthands for the tests.

use logkeep_protocol::Scope;
use logkeep_server::storage::{Batch, LargeBatch, Page, Placed, Reader, Storage, Write, Writer, Written};

/// The wire form of an unsigned number.
pub(crate) fn uvarint(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

/// A region of a row: its length and the bytes.
pub(crate) fn region(bytes: &[u8]) -> Vec<u8> {
    [uvarint(2 * bytes.len() as u64), bytes.to_vec()].concat()
}

/// A batch with the given ids and ciphertext.
pub(crate) fn batch(ids: &[u128], ciphertext: &[u8]) -> Batch {
    let mut entry_ids = uvarint(ids.len() as u64);
    for id in ids {
        entry_ids.push(16);
        entry_ids.extend(id.to_be_bytes());
    }
    let sealed = [region(&[9; 12]), region(ciphertext)].concat();
    Batch { count: ids.len() as u32, entry_ids: entry_ids.into(), sealed: sealed.into() }
}

/// The row a batch at `first` has on the wire.
pub(crate) fn wire_row(first: u64, batch: &Batch) -> Vec<u8> {
    let body =
        [vec![1], region(&uvarint(2 * first)), batch.sealed.to_vec(), region(&batch.entry_ids)].concat();
    [uvarint(body.len() as u64), body].concat()
}

pub(crate) fn scope(public_key: &str, store: &str) -> Scope {
    Scope::new(public_key, store)
}

pub(crate) fn write(writer: &mut dyn Writer, scope: &Scope, batches: &[Batch]) -> Written {
    let write = Write { scope: scope.clone(), batches: batches.to_vec() };
    let mut answers = writer.write(vec![write], 1_000);
    assert_eq!(answers.len(), 1);
    answers.remove(0).unwrap()
}

pub(crate) fn stored(first: u64) -> Placed {
    Placed::Stored { first }
}

pub(crate) fn known(sequences: &[u64]) -> Placed {
    Placed::Known { sequences: sequences.iter().copied().map(Some).collect() }
}

/// Everything a store holds from a sequence on, read in pages of `budget` bytes: (first, last, row).
pub(crate) fn read_all(
    reader: &mut dyn Reader,
    scope: &Scope,
    from: u64,
    budget: usize,
) -> Vec<(u64, u64, Vec<u8>)> {
    let (mut all, mut next) = (Vec::new(), from);
    loop {
        let page = reader.page(scope, next, budget).unwrap();
        all.extend(rows(&page));
        if let Some(large) = &page.large {
            assert!(page.rows.is_empty(), "a large batch is alone");
            all.push((large.first, large.last, read_large(reader, scope, large)));
        }
        if page.end {
            assert_eq!(page.next, page.head + 1);
            return all;
        }
        assert!(page.next > next, "a page that is not the end goes on");
        next = page.next;
    }
}

/// The row of a batch that was only described, read in slices.
fn read_large(reader: &mut dyn Reader, scope: &Scope, large: &LargeBatch) -> Vec<u8> {
    let mut sealed = Vec::new();
    while (sealed.len() as u64) < large.sealed {
        let length = (large.sealed as usize - sealed.len()).min(700_001);
        sealed.extend(reader.slice(scope, large.last, sealed.len() as u64, length).unwrap());
    }
    assert_eq!(large.iv, region(&[9; 12]));
    let count = (large.last + 1 - large.first) as u32;
    wire_row(large.first, &Batch { count, entry_ids: large.entry_ids.clone(), sealed: sealed.into() })
}

pub(crate) fn rows(page: &Page) -> Vec<(u64, u64, Vec<u8>)> {
    let mut start = 0;
    let rows = page.rows.iter().map(|row| {
        let bytes = page.bytes[start..row.end].to_vec();
        start = row.end;
        (row.first, row.last, bytes)
    });
    let rows = rows.collect();
    assert_eq!(start, page.bytes.len());
    rows
}

/// A storage with its writing half and one reading half.
pub(crate) struct Open {
    pub(crate) storage: Box<dyn Storage>,
    pub(crate) writer: Box<dyn Writer>,
    pub(crate) reader: Box<dyn Reader>,
}

pub(crate) fn open(place: &impl crate::Place) -> Open {
    let storage = place.open();
    let (writer, reader) = (storage.writer().unwrap(), storage.reader().unwrap());
    Open { storage, writer, reader }
}

/// Numbers that look random and are the same in each run.
pub(crate) fn scrambled(n: u64) -> u128 {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    u128::from(mix(n.wrapping_add(0x9e37_79b9_7f4a_7c15))) << 64 | u128::from(mix(n ^ 0x5555_5555))
}

/// A UUID of version 7 with a given time.
pub(crate) fn version_7(ms: u64, n: u64) -> u128 {
    let random = scrambled(n);
    u128::from(ms) << 80 | 7 << 76 | (random >> 64 & 0xfff) << 64 | 2 << 62 | random & ((1 << 62) - 1)
}
