//! Damaged and hostile frames: no panic, no hang, no more memory than a small multiple of the input.
//!
//! `LOGKEEP_LONG=1` tries a million damaged frames; otherwise it is as many as take some seconds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use allocation_counter::measure;
use common::random::Random;
use common::{schemas, values};
use schema_binary::dynamic::{Codec as DynamicCodec, Schema, Value, json};
use schema_binary::stream::Parser;
use schema_binary::types::{Cause, Exit, NonEmpty, Rows};
use schema_binary::{Code, Codec, Decode, Encode, Layout, Mode, encode};

/// Bytes a decoder may hold for each byte of input: a value is 32 bytes, and vectors begin with room for four.
const PER_BYTE: u64 = 160;
/// Bytes a decoder may hold for any input: tables, paths, an error.
const AT_LEAST: u64 = 16 << 10;
/// Elements without width take bytes of memory but none of input; the format bounds their number.
const ZERO_WIDTH: u64 = 2 * 32 * 4_194_304;

fn frames() -> usize {
    if common::long() { 1_000_000 } else { 150_000 }
}

/// Runs `decode` and checks that it ends soon and within memory.
fn bounded<T>(frame: &[u8], allowance: u64, context: impl Fn() -> String, decode: impl FnOnce() -> T) -> T {
    let mut result = None;
    let start = Instant::now();
    let memory = measure(|| result = Some(decode()));
    let limit = AT_LEAST + allowance + PER_BYTE * frame.len() as u64;
    assert!(
        memory.bytes_max <= limit,
        "{} of {} bytes for {frame:02x?}, {}",
        memory.bytes_max,
        frame.len(),
        context()
    );
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?} for {frame:02x?}, {}",
        start.elapsed(),
        context()
    );
    result.unwrap()
}

#[test]
fn damaged_frames_of_any_schema() {
    let mut left = frames();
    for seed in 0.. {
        let mut random = Random::new(seed);
        let description = schemas::schema(&mut random, 4);
        let Some(schema) = common::schema(&description) else { continue };
        let text = json::print(&description).unwrap();
        let zero_width =
            ["null", "undefined"].iter().any(|leaf| text.contains(&format!(r#"{{"type":"{leaf}""#)));
        let allowance = if zero_width { ZERO_WIDTH } else { 0 };
        let value = values::value(&mut random, &description, 6);
        for mode in [Mode::Default, Mode::Fingerprint, Mode::Strict] {
            let Ok(frame) = schema.encode(&value, mode) else { continue };
            for _ in 0..10 {
                let damaged = random.damage(&frame);
                let read = bounded(
                    &damaged,
                    allowance,
                    || format!("seed {seed} {text}"),
                    || schema.decode(&damaged, mode),
                );
                if let Ok(value) = read {
                    // What was read can be written, except where a reader is more lenient than a writer.
                    let _ = schema.encode(&value, mode);
                }
                left = left.saturating_sub(1);
            }
        }
        if left == 0 {
            return;
        }
    }
}

#[derive(Debug, Clone, Layout, Encode, Decode)]
struct Entry<'a> {
    id: &'a [u8],
    event: &'a str,
    primary_key: &'a str,
    payload: &'a [u8],
}

#[derive(Debug, Layout, Encode, Decode)]
struct Upload<'a> {
    store: &'a str,
    entries: Vec<Entry<'a>>,
    #[schema(optional)]
    batch: Option<NonEmpty<&'a [u8]>>,
}

#[derive(Debug, Layout, Encode, Decode)]
enum Message<'a> {
    Upload(Upload<'a>),
    Ended {
        exit: Exit<u64, &'a str, f64>,
        causes: Vec<Cause<(), bool>>,
    },
    #[schema(untagged)]
    Entries(Vec<Entry<'a>>),
}

fn entries(random: &mut Random) -> Vec<Entry<'static>> {
    let entry = |random: &mut Random| Entry {
        id: &[7; 16],
        event: ["UserCreated", "UserRenamed"][random.below(2)],
        primary_key: ["user-1", "user-2", "user-3"][random.below(3)],
        payload: [&[][..], &[1, 2, 3], &[0xff; 40]][random.below(3)],
    };
    (0..random.below(8)).map(|_| entry(random)).collect()
}

fn message(random: &mut Random) -> Message<'static> {
    match random.below(3) {
        0 => Message::Upload(Upload {
            store: "default",
            entries: entries(random),
            batch: NonEmpty::new(vec![&[1][..]; random.below(3)]),
        }),
        1 => Message::Ended { exit: Exit::Success(7), causes: vec![Cause(vec![])] },
        _ => Message::Entries(entries(random)),
    }
}

#[test]
fn damaged_frames_of_derived_types() {
    for seed in 0..frames() as u64 {
        let mut random = Random::new(seed);
        for mode in [Mode::Default, Mode::Fingerprint, Mode::Strict] {
            let codec = Codec::<Message<'_>>::new(mode);
            let frame = codec.encode(&message(&mut random)).unwrap();
            let frame = random.damage(&frame);
            let _ = bounded(&frame, 0, || format!("seed {seed}"), || codec.decode(&frame).map(drop));
        }
        let frame = encode(&entries(&mut random)).unwrap();
        let frame = random.damage(&frame);
        let read = || schema_binary::decode::<Rows<'_, Entry<'_>>>(&frame).map(|rows| rows.iter().count());
        let _ = bounded(&frame, 0, || format!("seed {seed}"), read);
    }
}

#[test]
fn damaged_streams() {
    let description =
        json::parse(r#"{"type":"array","item":{"type":"struct","fields":{"a":{"type":"string"}}}}"#);
    let schema = common::schema(&description.unwrap()).unwrap();
    let codec = DynamicCodec::new(&schema, Mode::Default);
    let value = notation(r#"[{"a":"x"},{"a":"x"},{"a":"a longer string"}]"#);
    let stream = codec.encode(&value).unwrap().repeat(3);
    for seed in 0..frames() as u64 / 10 {
        let mut random = Random::new(seed);
        let damaged = random.damage(&stream);
        let run = || {
            let mut parser = Parser::with_max_frame(codec, 1000);
            let pieces = damaged.chunks(1 + random.clone().below(50));
            let failed = pieces.map(|piece| parser.feed(piece)).find_map(Result::err);
            (failed, parser.end())
        };
        let (failed, end) = bounded(&damaged, 0, || format!("seed {seed}"), run);
        if let Some(error) = failed {
            assert_ne!(error.code, Code::Absent);
            assert_eq!(end.unwrap_err().code, Code::ParserSpent);
        }
    }
}

fn notation(text: &str) -> Value {
    schema_binary::dynamic::notation::read(&json::parse(text).unwrap()).unwrap()
}

fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    schema_binary::wire::put_sized(&mut frame, &[&[0x20], body].concat());
    frame
}

#[test]
fn claimed_lengths_and_counts_reserve_nothing() {
    let bodies: [&[u8]; 4] = [
        &[0xff, 0xff, 0x3f],
        &[0xff, 0xff, 0x3f, 0, 0xff, 0xff, 0xff, 0x7f],
        &[0x80, 0x80, 0x40, 0x80, 0x80, 0x40],
        &[0xff, 0xff, 0xff, 0xff, 0x7f],
    ];
    let array =
        Schema::parse(r#"{"type":"array","item":{"type":"array","item":{"type":"string"}}}"#).unwrap();
    for body in bodies {
        let frame = frame(body);
        let read = bounded(&frame, 0, String::new, || array.decode(&frame, Mode::Default));
        assert!(read.is_err());
        assert!(bounded(&frame, 0, String::new, || schema_binary::decode::<Vec<String>>(&frame)).is_err());
        assert!(bounded(&frame, 0, String::new, || schema_binary::decode::<Vec<Vec<f64>>>(&frame)).is_err());
    }
}

/// A run in which one long string is repeated by reference `rows` times.
fn repeated(text: &str, rows: usize) -> Vec<u8> {
    encode(&vec![RepeatedRow { s: text }; rows]).unwrap()
}

#[derive(Debug, Clone, Layout, Encode, Decode)]
struct RepeatedRow<'a> {
    s: &'a str,
}

#[derive(Debug, Layout, Encode, Decode)]
struct OwnedRow {
    s: String,
}

#[test]
fn references_do_not_multiply_text_without_bound() {
    let long = "x".repeat(1 << 20);
    let frame = repeated(&long, 20_000);
    assert!(frame.len() < 2 << 20);
    let schema =
        Schema::parse(r#"{"type":"array","item":{"type":"struct","fields":{"s":{"type":"string"}}}}"#)
            .unwrap();
    let shared = bounded(&frame, 0, String::new, || schema.decode(&frame, Mode::Default)).unwrap();
    assert!(matches!(shared, Value::Array(rows) if rows.len() == 20_000));
    let borrowed = bounded(&frame, 0, String::new, || schema_binary::decode::<Vec<RepeatedRow<'_>>>(&frame));
    assert_eq!(borrowed.unwrap().len(), 20_000);
    let owned = bounded(&frame, 16 << 20, String::new, || schema_binary::decode::<Vec<OwnedRow>>(&frame));
    assert_eq!(owned.unwrap_err().code, Code::CountLimit);
    let modest = schema_binary::decode::<Vec<OwnedRow>>(&repeated("user-1", 5000)).unwrap();
    assert_eq!(modest.len(), 5000);
}

#[test]
fn keys_do_not_multiply_either() {
    let key = "k".repeat(1 << 16);
    let row = format!(r#"{{"r":{{"{key}":1}}}}"#);
    let description = r#"{"type":"array","item":{"type":"struct","fields":{"r":{"type":"record","value":{"type":"number"}}}}}"#;
    let schema = Schema::parse(description).unwrap();
    let Value::Object(row) = notation(&row) else { panic!("not an object") };
    let frame = schema.encode(&Value::Array(vec![Value::Object(row); 5000]), Mode::Default).unwrap();
    assert!(frame.len() < 200_000);
    bounded(&frame, 0, String::new, || schema.decode(&frame, Mode::Default)).unwrap();
}

#[test]
fn arrays_of_nothing_share_one_allowance() {
    let schema = Schema::parse(r#"{"type":"array","item":{"type":"array","item":{"type":"null"}}}"#).unwrap();
    let inner = [3, 0x80, 0x80, 0x40];
    let body = [&[100][..], &inner.repeat(100)].concat();
    let frame = frame(&body);
    let read = bounded(&frame, ZERO_WIDTH, String::new, || schema.decode(&frame, Mode::Default));
    assert_eq!(read.unwrap_err().code, Code::CountLimit);
}

#[test]
fn deep_nesting_ends_with_an_error() {
    let tree = common::schema(&json::parse(r#"{"type":"ref","name":"Tree"}"#).unwrap()).unwrap();
    let mut body = vec![0];
    for _ in 0..2000 {
        let mut outer = vec![1];
        schema_binary::wire::put_sized(&mut outer, &body);
        body = outer;
    }
    let deep = frame(&body);
    assert_eq!(tree.decode(&deep, Mode::Default).unwrap_err().code, Code::Depth);
    let unknown = Schema::parse(r#"{"type":"unknown"}"#).unwrap();
    let text = "[".repeat(1 << 20);
    let deep = frame(text.as_bytes());
    assert_eq!(unknown.decode(&deep, Mode::Default).unwrap_err().code, Code::Depth);
}

#[test]
fn frames_in_frames_end_with_an_error() {
    let body = r#"{"F":{"type":"struct","fields":{"f":{"type":"codec","schema":{"type":"ref","name":"F"},"optional":"key"}}}}"#;
    let definitions = json::parse(body).unwrap();
    let root = json::parse(r#"{"type":"ref","name":"F"}"#).unwrap();
    let schema = Schema::from_description(&root, Some(&definitions)).unwrap();
    let id = schema_binary::field_id("f");
    let mut nested = frame(&[]);
    let mut worked = 0;
    for level in 0..3000 {
        let mut body = Vec::new();
        schema_binary::wire::put_uvarint(&mut body, u64::from(id) << 3);
        schema_binary::wire::put_sized(&mut body, &nested);
        nested = frame(&body);
        if schema.decode(&nested, Mode::Default).is_ok() {
            worked = level;
        } else if level > 600 && level < 2990 {
            continue;
        }
    }
    assert!((50..600).contains(&worked), "{worked} levels");
}

#[test]
fn schemas_that_consist_of_themselves_are_refused() {
    let definitions = json::parse(
        r#"{"A":{"type":"ref","name":"A"},"B":{"type":"check","item":{"type":"ref","name":"B"},"check":"nonEmpty"},
            "C":{"type":"union","members":[{"type":"check","item":{"type":"ref","name":"C"},"check":"nonEmpty"}]},
            "D":{"type":"ref","name":"nowhere"},"E":{"type":"brand","item":{"type":"ref","name":"E"},"brand":"E"}}"#,
    )
    .unwrap();
    for name in ["A", "B", "C", "D", "E"] {
        let root = common::object([("type", "ref".into()), ("name", name.into())]);
        assert_eq!(
            Schema::from_description(&root, Some(&definitions)).unwrap_err().code,
            Code::Schema,
            "{name}"
        );
    }
    let deep = format!(
        "{}{}{}",
        r#"{"type":"array","item":"#.repeat(2000),
        r#"{"type":"string"}"#,
        "}".repeat(2000)
    );
    assert!(Schema::parse(&deep).is_err());
    let misplaced = r#"{"type":"tuple","elements":[{"type":"int","optional":"key"},{"type":"int"}]}"#;
    for text in [
        misplaced,
        "",
        "[]",
        "{}",
        r#"{"type":"what"}"#,
        r#"{"type":"struct"}"#,
        r#"{"type":"array","item":3}"#,
    ] {
        assert!(Schema::parse(text).is_err(), "{text}");
    }
}
