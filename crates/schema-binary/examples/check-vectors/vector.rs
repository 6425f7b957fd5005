//! One test vector: what to do, and what must come out.

use schema_binary::dynamic::{Codec, Connection, Object, Schema, Value, json, notation};
use schema_binary::stream::Parser;
use schema_binary::{Error, Mode, Step};

/// Why a vector fails.
type Problem = String;

/// The name of a vector.
pub(crate) fn name(vector: &Value) -> String {
    let named = object(vector).ok().and_then(|vector| string(vector, "name").ok());
    named.unwrap_or("a vector without a name").to_owned()
}

/// Does what a vector says and compares.
pub(crate) fn check(vector: &Value) -> Result<(), Problem> {
    let vector = object(vector)?;
    let schema = Schema::from_description(member(vector, "schema")?, vector.get("defs"));
    if string(vector, "op")? == "schema-error" {
        return if schema.is_err() { Ok(()) } else { Err("the schema is accepted".to_owned()) };
    }
    let schema = schema.map_err(|error| format!("the schema is refused: {error}"))?;
    let codec = Codec::new(&schema, mode(vector)?);
    match string(vector, "op")? {
        "roundtrip" => {
            encodes(codec, value(vector, "value")?, &hex(string(vector, "hex")?)?)?;
            decodes(codec, vector, "value")
        }
        "encode" => {
            encodes(codec, value(vector, "value")?, &hex(string(vector, "hex")?)?)?;
            decodes(codec, vector, "decoded")
        }
        "reencode" => {
            let frame = hex(string(vector, "hex")?)?;
            let value = codec.decode(&frame).map_err(|error| format!("decoding fails: {error}"))?;
            encodes(codec, value, &frame)
        }
        "decode" => {
            writes(vector)?;
            decodes(codec, vector, "value")
        }
        "encode-error" => match codec.encode(&value(vector, "value")?) {
            Ok(frame) => Err(format!("encoding succeeds: {}", to_hex(&frame))),
            Err(error) => fails_as(&error, member(vector, "error")?),
        },
        "parser" => parses(codec, vector),
        "dictionary" => shares(codec, vector),
        op => Err(format!("unknown op {op}")),
    }
}

fn mode(vector: &Object) -> Result<Mode, Problem> {
    match vector.get("mode").map(|_| string(vector, "mode")).transpose()? {
        None | Some("default") => Ok(Mode::Default),
        Some("fingerprint") => Ok(Mode::Fingerprint),
        Some("strict") => Ok(Mode::Strict),
        Some(other) => Err(format!("unknown mode {other}")),
    }
}

fn encodes(codec: Codec<'_>, value: Value, expected: &[u8]) -> Result<(), Problem> {
    let frame = codec.encode(&value).map_err(|error| format!("encoding fails: {error}"))?;
    same_bytes(&frame, expected)
}

fn same_bytes(frame: &[u8], expected: &[u8]) -> Result<(), Problem> {
    if frame == expected {
        return Ok(());
    }
    Err(format!("encoded as {}, expected {}", to_hex(frame), to_hex(expected)))
}

/// The frame of a vector decodes to its `wanted` member, or fails as its `error` says.
fn decodes(codec: Codec<'_>, vector: &Object, wanted: &str) -> Result<(), Problem> {
    let result = codec.decode(&hex(string(vector, "hex")?)?);
    match (result, vector.get(wanted), vector.get("error")) {
        (Ok(decoded), Some(expected), None) => same_value(&decoded, expected),
        (Err(error), None, Some(expected)) => fails_as(&error, expected),
        (Ok(decoded), ..) => Err(format!("decodes to {}", show(&decoded))),
        (Err(error), ..) => Err(format!("decoding fails: {error}")),
    }
}

fn same_value(value: &Value, expected: &Value) -> Result<(), Problem> {
    let expected = notation::read(expected).map_err(|error| format!("bad value: {error}"))?;
    if *value == expected {
        Ok(())
    } else {
        Err(format!("decoded {}, expected {}", show(value), show(&expected)))
    }
}

/// That it fails is the contract; the reason and the place are compared only if `CHECK_CODES` is set.
fn fails_as(error: &Error, expected: &Value) -> Result<(), Problem> {
    let expected = object(expected)?;
    let same = string(expected, "code")? == error.code.name() && expected.get("path") == Some(&path(error));
    if same || std::env::var_os("CHECK_CODES").is_none() {
        return Ok(());
    }
    Err(format!("fails with {error}, expected {}", show(&Value::Object(expected.clone()))))
}

fn path(error: &Error) -> Value {
    let step = |step| match step {
        Step::Key(key) => Value::from(key.as_str()),
        Step::Index(index) => Value::Number(index as f64),
    };
    error.path().into_iter().map(step).collect()
}

/// A vector may say which schema and value made its frame.
fn writes(vector: &Object) -> Result<(), Problem> {
    let Some(writer) = vector.get("writer") else { return Ok(()) };
    let writer = object(writer)?;
    let Some(written) = writer.get("value") else { return Ok(()) };
    let schema =
        Schema::from_description(member(writer, "schema")?, writer.get("defs").or(vector.get("defs")));
    let schema = schema.map_err(|error| format!("the writer's schema is refused: {error}"))?;
    let written = notation::read(written).map_err(|error| format!("bad value: {error}"))?;
    let frame = hex(string(vector, "hex")?)?;
    // The writer may have used another mode than the reader.
    let made = [mode(vector)?, Mode::Default, Mode::Fingerprint]
        .map(|mode| encodes(Codec::new(&schema, mode), written.clone(), &frame));
    if made.iter().any(Result::is_ok) {
        return Ok(());
    }
    let [problem, ..] = made;
    problem.map_err(|problem| format!("writer: {problem}"))
}

fn parses(codec: Codec<'_>, vector: &Object) -> Result<(), Problem> {
    let options = vector.get("options").map(object).transpose()?;
    let mut parser = match options.and_then(|options| options.get("maxFrameSize")) {
        Some(Value::Number(max)) => Parser::with_max_frame(codec, *max as u64),
        _ => Parser::new(codec),
    };
    let chunks = array(vector, "chunks")?;
    let feeds = array(vector, "feeds")?;
    if chunks.len() != feeds.len() {
        return Err("not one feed for each chunk".to_owned());
    }
    for (index, (chunk, expected)) in chunks.iter().zip(feeds).enumerate() {
        let Value::String(digits) = chunk else { return Err("a chunk that is no text".to_owned()) };
        let fed = parser.feed(&hex(&digits.to_str())?);
        feeds_as(fed, object(expected)?).map_err(|problem| format!("chunk {index}: {problem}"))?;
    }
    let expected = object(member(vector, "end")?)?;
    match (parser.end(), expected.get("error")) {
        (Ok(()), None) => Ok(()),
        (Err(error), Some(expected)) => fails_as(&error, expected),
        (Ok(()), Some(_)) => Err("the end is accepted".to_owned()),
        (Err(error), None) => Err(format!("the end is refused: {error}")),
    }
}

fn feeds_as(fed: Result<Vec<Value>, Error>, expected: &Object) -> Result<(), Problem> {
    match (fed, expected.get("values"), expected.get("error")) {
        (Ok(values), Some(expected), None) => same_value(&Value::Array(values), expected),
        (Err(error), None, Some(expected)) => fails_as(&error, expected),
        (Ok(values), ..) => Err(format!("gives {}", show(&Value::Array(values)))),
        (Err(error), ..) => Err(format!("fails: {error}")),
    }
}

fn shares(codec: Codec<'_>, vector: &Object) -> Result<(), Problem> {
    let connect = || Connection::with_dictionary(codec).map_err(|error| format!("no dictionary: {error}"));
    let mut writer = connect()?;
    let mut reader = Parser::new(connect()?);
    let values = array(vector, "values")?;
    let frames = array(vector, "frames")?;
    if values.len() != frames.len() {
        return Err("not one frame for each value".to_owned());
    }
    for (index, (value, frame)) in values.iter().zip(frames).enumerate() {
        let at = |problem| format!("frame {index}: {problem}");
        let Value::String(digits) = frame else { return Err(at("no text".to_owned())) };
        let expected = hex(&digits.to_str())?;
        let written = notation::read(value).and_then(|value| writer.encode(&value));
        same_bytes(&written.map_err(|error| at(format!("encoding fails: {error}")))?, &expected)
            .map_err(at)?;
        let read = reader.feed(&expected).map_err(|error| at(format!("decoding fails: {error}")))?;
        same_value(&Value::Array(read), &Value::Array(vec![value.clone()])).map_err(at)?;
    }
    Ok(())
}

fn object(value: &Value) -> Result<&Object, Problem> {
    if let Value::Object(object) = value { Ok(object) } else { Err("not an object".to_owned()) }
}

fn member<'v>(object: &'v Object, name: &str) -> Result<&'v Value, Problem> {
    object.get(name).ok_or_else(|| format!("no {name}"))
}

fn array<'v>(object: &'v Object, name: &str) -> Result<&'v [Value], Problem> {
    if let Value::Array(items) = member(object, name)? {
        Ok(items)
    } else {
        Err(format!("{name} is no list"))
    }
}

fn string<'v>(object: &'v Object, name: &str) -> Result<&'v str, Problem> {
    match member(object, name)? {
        Value::String(text) => text.as_str().ok_or_else(|| format!("{name} is not Unicode")),
        _ => Err(format!("{name} is no text")),
    }
}

fn value(object: &Object, name: &str) -> Result<Value, Problem> {
    notation::read(member(object, name)?).map_err(|error| format!("bad {name}: {error}"))
}

fn hex(digits: &str) -> Result<Vec<u8>, Problem> {
    let bytes = Value::Object([("$bytes", Value::from(digits))].into_iter().collect());
    match notation::read(&bytes) {
        Ok(Value::Bytes(bytes)) => Ok(bytes),
        _ => Err(format!("bad hex {digits}")),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn show(value: &Value) -> String {
    json::print(&notation::write(value)).unwrap_or_default()
}
