//! What must hold for all schemas and values: round trips, evolution, streams cut anywhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::random::Random;
use common::{get, object, schemas, values, with};
use schema_binary::dynamic::{Codec, Connection, Object, Schema, Value, json, notation};
use schema_binary::stream::{Parser, Splitter};
use schema_binary::{Code, Mode};

const MODES: [Mode; 3] = [Mode::Default, Mode::Fingerprint, Mode::Strict];

fn rounds() -> u64 {
    if common::long() { 100_000 } else { 1_500 }
}

/// A usable random schema and values that fit it.
fn case(seed: u64, count: usize) -> Option<(Value, Schema, Vec<Value>)> {
    let mut random = Random::new(seed);
    let description = schemas::schema(&mut random, 4);
    let schema = common::schema(&description)?;
    let values = (0..count).map(|_| values::value(&mut random, &description, 6));
    let values = values.filter(|value| schema.encode(value, Mode::Default).is_ok()).collect();
    Some((description, schema, values))
}

#[test]
fn what_was_written_reads_as_the_same_value() {
    let mut written = 0;
    for seed in 0..rounds() {
        let Some((description, schema, values)) = case(seed, 3) else { continue };
        for (mode, value) in MODES.iter().flat_map(|mode| values.iter().map(move |value| (*mode, value))) {
            let frame = schema.encode(value, mode).unwrap();
            let read = schema.decode(&frame, mode);
            assert_eq!(
                read.as_ref(),
                Ok(value),
                "seed {seed}, {mode:?}, {}",
                json::print(&description).unwrap()
            );
            assert_eq!(
                schema.encode(&read.unwrap(), mode).unwrap(),
                frame,
                "seed {seed}: not the same bytes again"
            );
            written += 1;
        }
    }
    assert!(written > 1_000);
}

#[test]
fn notation_keeps_every_value() {
    for seed in 0..rounds() {
        let Some((_, _, values)) = case(seed, 2) else { continue };
        for value in values {
            let text = json::print(&notation::write(&value)).unwrap();
            assert_eq!(notation::read(&json::parse(&text).unwrap()).unwrap(), value, "{text}");
        }
    }
}

/// An object without one property.
fn without(fields: &Object, name: &str) -> Object {
    fields.iter().filter(|(key, _)| *key != name).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn structure(fields: &Object) -> Value {
    object([("type", "struct".into()), ("fields", Value::Object(fields.clone()))])
}

#[test]
fn readers_of_other_versions_understand_structs() {
    let mut changed = 0;
    for seed in 0..rounds() {
        let mut random = Random::new(seed);
        let mut older = Object::new();
        for name in ["a", "b", "c", "d"].into_iter().take(1 + random.below(4)) {
            let field = schemas::schema(&mut random, 2);
            older.set(name, if random.one_in(3) { with(&field, "optional", "key".into()) } else { field });
        }
        let Some(writer) = common::schema(&structure(&older)) else { continue };
        let value = values::value(&mut random, &structure(&older), 4);
        let Ok(frame) = writer.encode(&value, Mode::Default) else { continue };
        let Value::Object(written) = &value else { panic!("not an object") };
        changed += 1;

        let mut newer = older.clone();
        newer.set("new", with(&schemas::schema(&mut random, 1), "optional", "key".into()));
        if let Some(reader) = common::schema(&structure(&newer)) {
            assert_eq!(
                reader.decode(&frame, Mode::Default).unwrap(),
                value,
                "seed {seed}: an added optional field"
            );
        }
        let reader = common::schema(&structure(&without(&older, "a"))).unwrap();
        let seen = Value::Object(without(written, "a"));
        assert_eq!(reader.decode(&frame, Mode::Default).unwrap(), seen, "seed {seed}: a removed field");
        if written.get("a").is_some() {
            let strict = reader.decode(&frame, Mode::Strict).unwrap_err();
            assert_eq!(strict.code, Code::UnknownField, "seed {seed}");
        }
        let mut required = older.clone();
        required.set("new", object([("type", "string".into())]));
        let reader = common::schema(&structure(&required)).unwrap();
        let missing = reader.decode(&frame, Mode::Default).unwrap_err();
        assert_eq!(missing.code, Code::MissingKey, "seed {seed}: an added required field");
        renamed(seed, &older, &frame, written);
    }
    assert!(changed > 500);
}

/// A field keeps its data under another name if it keeps its id.
fn renamed(seed: u64, older: &Object, frame: &[u8], written: &Object) {
    let Value::Object(description) = older.get("a").unwrap() else { panic!("not an object") };
    if description.get("fieldId").is_some() {
        return;
    }
    let id = f64::from(schema_binary::field_id("a"));
    let mut newer = without(older, "a");
    newer.set("other", with(&Value::Object(description.clone()), "fieldId", Value::Number(id)));
    let reader = common::schema(&structure(&newer)).unwrap();
    let mut seen = without(written, "a");
    if let Some(value) = written.get("a") {
        seen.set("other", value.clone());
    }
    assert_eq!(
        reader.decode(frame, Mode::Default).unwrap(),
        Value::Object(seen),
        "seed {seed}: a renamed field"
    );
}

#[test]
fn integers_widen_and_unions_grow() {
    let int =
        common::schema(&json::parse(r#"{"type":"struct","fields":{"n":{"type":"int"}}}"#).unwrap()).unwrap();
    let number = Schema::parse(r#"{"type":"struct","fields":{"n":{"type":"number"}}}"#).unwrap();
    let value = notation::read(&json::parse(r#"{"n":-7}"#).unwrap()).unwrap();
    let frame = int.encode(&value, Mode::Default).unwrap();
    assert_eq!(number.decode(&frame, Mode::Default).unwrap(), value);
    for seed in 0..rounds() {
        let mut random = Random::new(seed);
        let added = schemas::schema(&mut random, 2);
        let members =
            |list: &[Value]| object([("type", "union".into()), ("members", Value::Array(list.to_vec()))]);
        let text = object([("type", "string".into())]);
        let null = object([("type", "null".into())]);
        let field = |union: Value| object([("u", with(&union, "optional", "key".into()))]);
        let wide = field(members(&[text.clone(), null.clone(), added.clone()]));
        let Some(writer) = common::schema(&structure_of(&wide)) else { continue };
        let reader = common::schema(&structure_of(&field(members(&[text, null])))).unwrap();
        let value = object([("u", values::value(&mut random, &added, 3))]);
        let Ok(frame) = writer.encode(&value, Mode::Default) else { continue };
        let read = reader.decode(&frame, Mode::Default).unwrap();
        let known = matches!(get(&value, "u"), Value::String(_) | Value::Null);
        let expected = if known { value } else { Value::Object(Object::new()) };
        assert_eq!(read, expected, "seed {seed}: {}", json::print(&added).unwrap());
    }
}

fn structure_of(fields: &Value) -> Value {
    object([("type", "struct".into()), ("fields", fields.clone())])
}

#[test]
fn streams_cut_anywhere_give_the_same_values() {
    for seed in 0..rounds() / 2 {
        let Some((_, schema, values)) = case(seed, 4) else { continue };
        let mut random = Random::new(!seed);
        let codec = Codec::new(&schema, Mode::Default);
        let stream: Vec<u8> = values.iter().flat_map(|value| codec.encode(value).unwrap()).collect();
        let mut parser = Parser::new(codec);
        let mut read = Vec::new();
        let mut rest = &*stream;
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(random.below(rest.len().min(40) + 1));
            read.extend(parser.feed(chunk).unwrap());
            rest = after;
        }
        assert_eq!(read, values, "seed {seed}");
        assert_eq!(parser.end(), Ok(()));
    }
}

#[test]
fn connections_share_strings_both_ways() {
    let mut shared = 0;
    for seed in 0..rounds() {
        let Some((_, schema, values)) = case(seed, 6) else { continue };
        for mode in [Mode::Default, Mode::Fingerprint] {
            let codec = Codec::new(&schema, mode);
            let Ok(mut writer) = Connection::with_dictionary(codec) else { continue };
            let mut reader = Parser::new(Connection::with_dictionary(codec).unwrap());
            for value in values.iter().chain(&values) {
                let frame = writer.encode(value).unwrap();
                assert_eq!(reader.feed(&frame).unwrap(), std::slice::from_ref(value), "seed {seed}");
                shared += 1;
            }
        }
    }
    assert!(shared > 1_000);
}

#[test]
fn a_frame_that_fails_leaves_the_dictionary_alone() {
    let schema =
        Schema::parse(r#"{"type":"tuple","elements":[{"type":"string"},{"type":"string"}]}"#).unwrap();
    let mut writer = Connection::with_dictionary(Codec::new(&schema, Mode::Default)).unwrap();
    let mut reader = Parser::new(Connection::with_dictionary(Codec::new(&schema, Mode::Default)).unwrap());
    let pair = |left: &str, right: Value| Value::Array(vec![left.into(), right]);
    let values = ["a", "b", "a", "c"].map(|left| pair(left, "x".into()));
    for value in values {
        assert!(writer.encode(&pair("lost", Value::Null)).is_err());
        let frame = writer.encode(&value).unwrap();
        assert_eq!(reader.feed(&frame).unwrap(), [value]);
    }
}

#[test]
fn splitters_hold_no_more_than_has_arrived() {
    let mut splitter = Splitter::with_max_frame(1 << 40);
    splitter.push(&[0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(splitter.next_body().unwrap(), None);
    splitter.push(&[1, 2, 3]);
    assert_eq!(splitter.next_body().unwrap(), None);
    assert_eq!(splitter.buffered(), 8);
    let mut limited = Splitter::with_max_frame(2);
    limited.push(&[3]);
    assert_eq!(limited.next_body().unwrap_err().code, Code::FrameTooLarge);
}
