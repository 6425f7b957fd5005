//! How fast frames are written and read, and what they allocate.
//!
//! ```text
//! cargo bench -p schema-binary --bench codec
//! node interop/codec/bench.mjs            # the effect package on the same values
//! ```
//!
//! Each benchmark handles one frame an iteration; the allocations are those of one iteration.
#![allow(missing_docs, reason = "names say what is measured")]

mod data;

use data::{Event, LentBatch, Numbers, RemoteBatch, Settings, Text};
use divan::{AllocProfiler, Bencher, counter::BytesCount};
use schema_binary::dynamic::Schema;
use schema_binary::types::Rows;
use schema_binary::{Codec, Decode, Encode, Mode};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

fn writes<T: Encode>(bencher: Bencher<'_, '_>, value: &T) {
    let codec = Codec::new(Mode::Default);
    let mut out = Vec::new();
    codec.encode_into(value, &mut out).ok();
    bencher.counter(BytesCount::new(out.len())).bench_local(|| {
        out.clear();
        codec.encode_into(divan::black_box(value), &mut out).is_ok()
    });
}

fn reads<'a, T: Decode<'a>>(bencher: Bencher<'_, '_>, frame: &'a [u8]) {
    let codec = Codec::<T>::new(Mode::Default);
    bencher.counter(BytesCount::new(frame.len())).bench_local(|| codec.decode(divan::black_box(frame)));
}

fn frame<T: Encode>(value: &T) -> Vec<u8> {
    schema_binary::encode(value).unwrap_or_default()
}

#[divan::bench]
fn entries_write(bencher: Bencher<'_, '_>) {
    writes(bencher, &data::entries(&data::Bytes::new()));
}

#[divan::bench]
fn entries_read(bencher: Bencher<'_, '_>) {
    let bytes = data::Bytes::new();
    let frame = frame(&data::entries(&bytes));
    reads::<Vec<Event<'_>>>(bencher, &frame);
}

#[divan::bench]
fn entries_read_one_by_one(bencher: Bencher<'_, '_>) {
    let bytes = data::Bytes::new();
    let frame = frame(&data::entries(&bytes));
    let codec = Codec::<Rows<'_, Event<'_>>>::new(Mode::Default);
    bencher.counter(BytesCount::new(frame.len())).bench_local(|| {
        let rows = codec.decode(divan::black_box(&frame));
        rows.map(|rows| {
            rows.iter().filter(|row| row.as_ref().is_ok_and(|row| row.payload.len() > 10)).count()
        })
    });
}

#[divan::bench]
fn entries_read_dynamically(bencher: Bencher<'_, '_>) {
    let bytes = data::Bytes::new();
    let frame = frame(&data::entries(&bytes));
    let Ok(schema) = Schema::parse(data::ENTRIES) else { return };
    bencher
        .counter(BytesCount::new(frame.len()))
        .bench_local(|| schema.decode(divan::black_box(&frame), Mode::Default));
}

#[divan::bench]
fn large_batches_write(bencher: Bencher<'_, '_>) {
    writes(bencher, &data::batches(&data::Bytes::new()));
}

#[divan::bench]
fn large_batches_read(bencher: Bencher<'_, '_>) {
    let bytes = data::Bytes::new();
    let frame = frame(&data::batches(&bytes));
    reads::<Vec<RemoteBatch<'_>>>(bencher, &frame);
}

#[divan::bench]
fn large_batches_read_one_by_one(bencher: Bencher<'_, '_>) {
    let bytes = data::Bytes::new();
    let frame = frame(&data::batches(&bytes));
    let codec = Codec::<Rows<'_, LentBatch<'_>>>::new(Mode::Default);
    bencher.counter(BytesCount::new(frame.len())).bench_local(|| {
        let rows = codec.decode(divan::black_box(&frame));
        rows.map(|rows| rows.iter().flatten().map(|batch| batch.size()).sum::<usize>())
    });
}

#[divan::bench]
fn wide_struct_write(bencher: Bencher<'_, '_>) {
    writes(bencher, &data::settings());
}

#[divan::bench]
fn wide_struct_read(bencher: Bencher<'_, '_>) {
    let frame = frame(&data::settings());
    reads::<Settings<'_>>(bencher, &frame);
}

#[divan::bench]
fn text_rows_write(bencher: Bencher<'_, '_>) {
    let texts = data::texts();
    writes(bencher, &data::text_rows(&texts));
}

#[divan::bench]
fn text_rows_read(bencher: Bencher<'_, '_>) {
    let texts = data::texts();
    let frame = frame(&data::text_rows(&texts));
    reads::<Vec<Text<'_>>>(bencher, &frame);
}

#[divan::bench]
fn numbers_write(bencher: Bencher<'_, '_>) {
    writes(bencher, &data::numbers());
}

#[divan::bench]
fn numbers_read(bencher: Bencher<'_, '_>) {
    let frame = frame(&data::numbers());
    reads::<Numbers>(bencher, &frame);
}
