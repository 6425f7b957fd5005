//! Uploads however they are written: fields in any order, unknown fields, long lengths, known and new shapes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io;

use bytes::Bytes;
use logkeep_protocol::{Batch, LargeUpload, Upload, UploadError, UploadSource};
use proptest::prelude::*;

const IV: u64 = 0x4938_8736;
const ENCRYPTED_BATCH: u64 = 0x603e_9fc5;
const ENTRY_IDS: u64 = 0xc86e_5c77;
const STORE_ID: u64 = 0x4ca3_8853;
const BATCHES: u64 = 0xc664_1b6b;
const PUBLIC_KEY: u64 = 0xf40a_06ff;
const UNKNOWN: u64 = 77;

/// An uploaded batch and how it is written.
#[derive(Debug, Clone)]
struct Row {
    ids: Vec<[u8; 16]>,
    iv: Vec<u8>,
    encrypted: Vec<u8>,
    /// The order of its fields; each is there once, the unknown one perhaps.
    order: Vec<u64>,
    /// Whether lengths take a byte more than they need.
    long: bool,
}

fn put(out: &mut Vec<u8>, mut n: u64, long: bool) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    if long { out.extend([n as u8 | 0x80, 0]) } else { out.push(n as u8) }
}

fn put_sized(out: &mut Vec<u8>, bytes: &[u8], long: bool) {
    put(out, bytes.len() as u64, long);
    out.extend_from_slice(bytes);
}

fn ids(ids: &[[u8; 16]], long: bool) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, ids.len() as u64, long);
    ids.iter().for_each(|id| put_sized(&mut out, id, long));
    out
}

fn put_region(out: &mut Vec<u8>, bytes: &[u8], long: bool) {
    put(out, bytes.len() as u64 * 2, long);
    out.extend_from_slice(bytes);
}

impl Row {
    /// Writes the row; a shape that was declared before is referred to.
    fn write(&self, shapes: &mut Vec<Vec<u64>>) -> Vec<u8> {
        let mut out = Vec::new();
        let known = shapes.iter().position(|shape| *shape == self.order);
        put(&mut out, known.map_or(0, |index| index as u64 + 1), false);
        if known.is_none() {
            shapes.push(self.order.clone());
        }
        for field in &self.order {
            if known.is_none() {
                put(&mut out, *field, false);
            }
            let value = match *field {
                IV => self.iv.clone(),
                ENCRYPTED_BATCH => self.encrypted.clone(),
                ENTRY_IDS => ids(&self.ids, self.long),
                _ => vec![1, 2, 3],
            };
            put_region(&mut out, &value, self.long);
        }
        out
    }

    /// The batch in its stored form.
    fn batch(&self) -> Batch {
        let mut sealed = Vec::new();
        put_region(&mut sealed, &self.iv, false);
        put_region(&mut sealed, &self.encrypted, false);
        let count = self.ids.len() as u32;
        Batch { count, entry_ids: ids(&self.ids, false).into(), sealed: sealed.into() }
    }
}

fn frame(rows: &[Row], unknown_first: bool) -> Bytes {
    let mut run = Vec::new();
    let mut shapes = Vec::new();
    put(&mut run, rows.len() as u64, false);
    rows.iter().for_each(|row| put_sized(&mut run, &row.write(&mut shapes), row.long));
    let mut body = vec![0x20];
    if unknown_first {
        put(&mut body, UNKNOWN << 3, false);
        put_sized(&mut body, b"later", false);
    }
    for (id, value) in [(PUBLIC_KEY, &b"key"[..]), (BATCHES, &run), (STORE_ID, b"store")] {
        put(&mut body, id << 3, false);
        put_sized(&mut body, value, unknown_first);
    }
    let mut frame = Vec::new();
    put_sized(&mut frame, &body, false);
    frame.into()
}

/// An upload on something like a disk.
struct Disk(Bytes);

impl UploadSource for Disk {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let (start, end) = (offset as usize, offset as usize + length);
        if end > self.0.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Bytes::copy_from_slice(&self.0[start..end]))
    }
}

fn row() -> impl Strategy<Value = Row> {
    let order = Just(vec![IV, ENCRYPTED_BATCH, ENTRY_IDS, UNKNOWN]).prop_shuffle();
    let order = (order, any::<bool>()).prop_map(|(mut order, known)| {
        order.retain(|field| !known || *field != UNKNOWN);
        order
    });
    let bytes = |range| prop::collection::vec(any::<u8>(), range);
    let ids = prop::collection::vec(any::<[u8; 16]>(), 1..200);
    (ids, bytes(0..20), bytes(0..300), order, any::<bool>())
        .prop_map(|(ids, iv, encrypted, order, long)| Row { ids, iv, encrypted, order, long })
}

proptest! {
    #[test]
    fn batches_are_read_however_they_are_written(
        rows in prop::collection::vec(row(), 0..6),
        unknown_first in any::<bool>(),
    ) {
        let frame = frame(&rows, unknown_first);
        let expected: Vec<Batch> = rows.iter().map(Row::batch).collect();
        let upload = Upload::read(&frame).unwrap();
        prop_assert_eq!((upload.scope.public_key, upload.scope.store_id), ("key", "store"));
        prop_assert_eq!(&upload.batches(&frame).unwrap(), &expected);

        let large = LargeUpload::read(Disk(frame)).unwrap();
        prop_assert_eq!((large.public_key(), large.store_id()), ("key", "store"));
        prop_assert_eq!(large.collect::<io::Result<Vec<_>>>().unwrap(), expected);
    }

    #[test]
    fn damage_is_refused_or_read_but_never_a_panic(
        rows in prop::collection::vec(row(), 1..4),
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = frame(&rows, false);
        let mut damaged = whole.to_vec();
        damaged[at.index(whole.len())] = to;
        for bytes in [Bytes::from(damaged), whole.slice(..cut.index(whole.len()))] {
            let direct = Upload::read(&bytes).map(|upload| upload.batches(&bytes));
            let large = LargeUpload::read(Disk(bytes.clone()));
            let large = large.map(|large| large.collect::<io::Result<Vec<_>>>());
            // Both readers agree about what can be read.
            let direct = direct.ok().and_then(Result::ok);
            prop_assert_eq!(direct, large.ok().and_then(Result::ok));
        }
    }
}

#[test]
fn a_batch_in_its_stored_form_shares_the_memory_of_the_upload() {
    let row = Row {
        ids: vec![[7; 16]; 3],
        iv: vec![1; 12],
        encrypted: vec![2; 500],
        order: vec![IV, ENCRYPTED_BATCH, ENTRY_IDS],
        long: false,
    };
    let frame = frame(&[row.clone(), row.clone()], false);
    let within = |part: &Bytes| {
        let start = frame.as_ptr() as usize;
        (start..start + frame.len()).contains(&(part.as_ptr() as usize))
    };
    let batches = Upload::read(&frame).unwrap().batches(&frame).unwrap();
    assert_eq!(batches, [row.batch(), row.batch()]);
    assert!(batches.iter().all(|batch| within(&batch.entry_ids)));
    // The first row declares the shape, so field ids stand between its values.
    assert!(!within(&batches[0].sealed) && within(&batches[1].sealed));
}

#[test]
fn ids_of_another_length_and_empty_batches_are_told_apart_from_damage() {
    let good = Row {
        ids: vec![[7; 16]],
        iv: vec![1; 12],
        encrypted: vec![2; 50],
        order: vec![IV, ENCRYPTED_BATCH, ENTRY_IDS],
        long: false,
    };
    let whole = frame(std::slice::from_ref(&good), false);
    // `24 01 10` and the id: an id of 15 bytes and an empty one.
    let at = whole.windows(3).position(|window| window == [0x24, 0x01, 0x10]).unwrap();
    let mut other = whole.to_vec();
    other[at + 1..at + 3].copy_from_slice(&[2, 15]);
    other[at + 18] = 0;
    let other = Bytes::from(other);
    let told = Upload::read(&other).unwrap().batches(&other).unwrap_err();
    assert_eq!(told, UploadError::EntryId(15));

    let none = frame(&[Row { ids: vec![], ..good }], false);
    let told = Upload::read(&none).unwrap().batches(&none).unwrap_err();
    assert_eq!(told.to_string(), "Missing key\n  at [\"entryIds\"][0]");
}
