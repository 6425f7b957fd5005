//! Frames for the codec. The first byte chooses a schema and a mode, the rest is the frame.

use schema_binary::dynamic::{Codec as DynamicCodec, Connection, Schema};
use schema_binary::stream::Parser;
use schema_binary::types::{Cause, Exit, NonEmpty, Rows};
use schema_binary::{Codec, Decode, Encode, Layout, Mode};

/// Schemas that together have every layout.
const SCHEMAS: [&str; 8] = [
    r#"{"type":"array","item":{"type":"struct","fields":{"id":{"type":"bytes"},"event":{"type":"string"},
        "n":{"type":"number","optional":"key"},"tags":{"type":"array","item":{"type":"string"}},
        "more":{"type":"record","value":{"type":"number"}}}}}"#,
    r#"{"type":"struct","fields":{"a":{"type":"number"},"b":{"type":"boolean","optional":"key"},"c":{"type":"int"},
        "d":{"type":"union","members":[{"type":"string"},{"type":"null"},{"type":"bytes"}],"optional":"undefined"}},
        "rest":[{"value":{"type":"literals","values":["x","y"]}}]}"#,
    r#"{"type":"union","members":[{"type":"taggedStruct","tag":"A","fields":{"x":{"type":"bigint"}}},
        {"type":"taggedStruct","tag":"B","fields":{"y":{"type":"date"}}},{"type":"string"},{"type":"number"}]}"#,
    r#"{"type":"exit","success":{"type":"option","item":{"type":"duration"}},"failure":{"type":"bigDecimal"},
        "defect":{"type":"unknown"}}"#,
    r#"{"type":"tupleWithRest","elements":[{"type":"string"},{"type":"null"}],"rest":[{"type":"number"},{"type":"boolean"}]}"#,
    r#"{"type":"array","item":{"type":"number"}}"#,
    r#"{"type":"nonEmptyArray","item":{"type":"struct","fields":{"z":{"type":"dateTimeZoned","optional":"key"},
        "s":{"type":"symbol","optional":"key"},"t":{"type":"templateLiteral","parts":["id-",{"type":"number"}]}}}}"#,
    r#"{"type":"record","value":{"type":"result","success":{"type":"json"},"failure":{"type":"array","item":{"type":"bytes"}}}}"#,
];

const MODES: [Mode; 3] = [Mode::Default, Mode::Fingerprint, Mode::Strict];

/// A schema known at run time, a mode and a frame. What was read and written reads and writes as the same bytes.
pub fn dynamic(data: &[u8]) {
    let Some((schema, mode, frame)) = choose(data) else { return };
    if let Ok(value) = schema.decode(frame, mode)
        && let Ok(written) = schema.encode(&value, mode)
    {
        // Not the value: JSON has no -0 and no infinity.
        assert_eq!(
            schema.decode(&written, mode).and_then(|value| schema.encode(&value, mode)),
            Ok(written.clone())
        );
    }
}

fn choose(data: &[u8]) -> Option<(Schema, Mode, &[u8])> {
    let (choice, frame) = data.split_first()?;
    let schema = SCHEMAS.get(usize::from(choice % 8)).and_then(|schema| Schema::parse(schema).ok())?;
    Some((schema, *MODES.get(usize::from(choice / 8 % 3))?, frame))
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Entry<'a> {
    id: &'a [u8],
    event: &'a str,
    #[schema(optional)]
    count: Option<u32>,
    tags: Vec<&'a str>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
enum Message<'a> {
    Upload {
        store: &'a str,
        entries: Vec<Entry<'a>>,
    },
    Ended {
        exit: Exit<u64, &'a str, f64>,
        causes: Vec<Cause<(), bool>>,
    },
    #[schema(untagged)]
    Ids(NonEmpty<&'a [u8]>),
}

/// A derived type, a mode and a frame.
pub fn derived(data: &[u8]) {
    let Some((choice, frame)) = data.split_first() else { return };
    let codec = Codec::<Message<'_>>::new(MODES.get(usize::from(choice % 3)).copied().unwrap_or_default());
    if let Ok(message) = codec.decode(frame)
        && let Ok(written) = codec.encode(&message)
    {
        // Not the value: NaN is not equal to itself.
        assert_eq!(codec.decode(&written).and_then(|message| codec.encode(&message)), Ok(written.clone()));
    }
    if let Ok(rows) = schema_binary::decode::<Rows<'_, Entry<'_>>>(frame) {
        let one_by_one: Result<Vec<_>, _> = rows.iter().collect();
        let all = schema_binary::decode::<Vec<Entry<'_>>>(frame);
        assert_eq!(one_by_one.map_err(|error| error.code), all.map_err(|error| error.code));
    }
}

/// A stream with a connection dictionary where the schema allows one; the second byte says where it is cut.
pub fn stream(data: &[u8]) {
    let Some((schema, mode, rest)) = choose(data) else { return };
    let Some((cut, stream)) = rest.split_first() else { return };
    let codec = DynamicCodec::new(&schema, mode);
    let pieces = || stream.chunks(usize::from(*cut).max(1));
    let mut plain = Parser::with_max_frame(codec, 1 << 16);
    let _ = pieces().find_map(|piece| plain.feed(piece).err());
    if let Ok(connection) = Connection::with_dictionary(codec) {
        let mut shared = Parser::new(connection);
        let _ = pieces().find_map(|piece| shared.feed(piece).err());
        let _ = shared.end();
    }
}
