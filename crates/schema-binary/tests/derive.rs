//! Derived types against schemas read at run time: the same fingerprint, the same bytes, the same values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use schema_binary::dynamic::{self, Schema, Value, json, notation};
use schema_binary::types::{
    BigInt, Cause, Date, DateTimeUtc, Exit, Frame, Items, Json, NonEmpty, Nullable, Reason, Rows, Symbol,
    Undefined,
};
use schema_binary::{Code, Codec, Decode, Encode, Layout, Mode, decode, encode};

/// The type and the description give the same frames, both ways, in both modes.
#[track_caller]
fn same<T: Encode + for<'de> Decode<'de> + PartialEq + Debug>(typed: &T, description: &str, value: &str) {
    let schema = Schema::parse(description).unwrap();
    let value = notation::read(&json::parse(value).unwrap()).unwrap();
    assert_eq!(Codec::<T>::fingerprint(), schema.fingerprint(), "fingerprint");
    for mode in [Mode::Default, Mode::Fingerprint, Mode::Strict] {
        let frame = schema.encode(&value, mode).unwrap();
        let codec = Codec::<T>::new(mode);
        assert_eq!(codec.encode(typed).unwrap(), frame, "{mode:?}");
        assert_eq!(codec.decode(&frame).unwrap(), *typed, "{mode:?}");
    }
}

#[derive(Debug, Clone, PartialEq, Default, Layout, Encode, Decode)]
struct Everything {
    flag: bool,
    number: f64,
    int: i64,
    natural: u32,
    text: String,
    bytes: Vec<u8>,
    big: BigInt,
    wide: i128,
    date: Date,
    utc: DateTimeUtc,
    option: Option<String>,
    nothing: (),
    pair: (u16, String),
    numbers: Vec<f64>,
    ints: Vec<i32>,
    texts: Vec<String>,
    record: BTreeMap<String, f64>,
    #[schema(optional)]
    absent: Option<String>,
    #[schema(optional)]
    present: Option<f64>,
    #[schema(undefined)]
    perhaps: Option<bool>,
    #[schema(nullable)]
    null: Option<String>,
    #[schema(optional, nullable)]
    both: Option<Option<u32>>,
    #[schema(undefined, nullable)]
    all: Option<Option<u32>>,
    #[schema(default)]
    count: u64,
    #[schema(literal = "Ed25519")]
    algorithm: (),
    #[schema(literal = -2.5)]
    version: (),
    #[schema(literal = true)]
    yes: (),
    #[schema(rename = "odd name", id = 77)]
    renamed: Arc<str>,
}

const EVERYTHING: &str = r#"{"type":"struct","fields":{
    "flag":{"type":"boolean"},"number":{"type":"number"},"int":{"type":"int"},"natural":{"type":"natural"},
    "text":{"type":"string"},"bytes":{"type":"bytes"},"big":{"type":"bigint"},"wide":{"type":"bigint"},
    "date":{"type":"date"},"utc":{"type":"dateTimeUtc"},"option":{"type":"option","item":{"type":"string"}},
    "nothing":{"type":"void"},"pair":{"type":"tuple","elements":[{"type":"int"},{"type":"string"}]},
    "numbers":{"type":"array","item":{"type":"number"}},"ints":{"type":"array","item":{"type":"int"}},
    "texts":{"type":"array","item":{"type":"string"}},"record":{"type":"record","value":{"type":"number"}},
    "absent":{"type":"string","optional":"key"},"present":{"type":"number","optional":"key"},
    "perhaps":{"type":"boolean","optional":"undefined"},
    "null":{"type":"union","members":[{"type":"string"},{"type":"null"}]},
    "both":{"type":"union","members":[{"type":"int"},{"type":"null"}],"optional":"key"},
    "all":{"type":"union","members":[{"type":"int"},{"type":"null"}],"optional":"undefined"},
    "count":{"type":"natural","optional":"key"},"algorithm":{"type":"literal","value":"Ed25519"},
    "version":{"type":"literal","value":-2.5},"yes":{"type":"literal","value":true},
    "odd name":{"type":"string","fieldId":77}}}"#;

#[test]
fn fields_of_every_form() {
    let everything = Everything {
        flag: true,
        number: 1.5,
        int: -7,
        natural: 300,
        text: "é".to_owned(),
        bytes: vec![0, 255],
        big: "-123456789012345678901234567890".parse().unwrap(),
        wide: 12,
        date: Date { epoch_millis: -5 },
        utc: DateTimeUtc { epoch_millis: 1_700_000_000_000 },
        option: Some("x".to_owned()),
        pair: (3, "b".to_owned()),
        numbers: vec![1.0, 2.5],
        ints: vec![-1, 300],
        texts: vec!["a".to_owned(), "a".to_owned()],
        record: [("b".to_owned(), 1.0), ("a".to_owned(), 2.5)].into(),
        present: Some(f64::INFINITY),
        perhaps: Some(false),
        both: Some(None),
        all: Some(Some(4)),
        count: 9,
        renamed: "r".into(),
        ..Everything::default()
    };
    same(
        &everything,
        EVERYTHING,
        r#"{"flag":true,"number":1.5,"int":-7,"natural":300,"text":"é","bytes":{"$bytes":"00ff"},
            "big":{"$bigint":"-123456789012345678901234567890"},"wide":{"$bigint":"12"},"date":{"$date":-5},
            "utc":{"$utc":1700000000000},"option":{"$some":"x"},"nothing":{"$undefined":true},"pair":[3,"b"],
            "numbers":[1,2.5],"ints":[-1,300],"texts":["a","a"],"record":{"b":1,"a":2.5},
            "present":{"$number":"Infinity"},"perhaps":false,"null":null,"both":null,"all":4,"count":9,
            "algorithm":"Ed25519","version":-2.5,"yes":true,"odd name":"r"}"#,
    );
    let absent = dynamic_frame(EVERYTHING, |object| {
        for name in ["absent", "present", "perhaps", "both", "all", "count"] {
            object.retain(|(key, _)| key != name);
        }
    });
    let read: Everything = decode(&absent).unwrap();
    assert_eq!((read.present, read.perhaps, read.both, read.all, read.count), (None, None, None, None, 0));
}

/// A frame of a value of all fields of `EVERYTHING`, changed by `change`.
fn dynamic_frame(description: &str, change: impl FnOnce(&mut Vec<(String, Value)>)) -> Vec<u8> {
    let schema = Schema::parse(description).unwrap();
    let frame = encode(&Everything { renamed: "r".into(), ..Everything::default() }).unwrap();
    let Value::Object(object) = schema.decode(&frame, Mode::Default).unwrap() else {
        panic!("not an object")
    };
    let mut entries: Vec<_> = object.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    change(&mut entries);
    schema.encode(&Value::Object(entries.into_iter().collect()), Mode::Default).unwrap()
}

#[test]
fn wrong_literals_and_ranges_are_refused() {
    let description =
        EVERYTHING.replace("\"Ed25519\"", "\"RSA\"").replace("{\"type\":\"natural\"}", "{\"type\":\"int\"}");
    let frame = |name: &'static str, value: Value| {
        let schema = Schema::parse(&description).unwrap();
        let Value::Object(object) = Schema::parse(EVERYTHING)
            .unwrap()
            .decode(&dynamic_frame(EVERYTHING, |_| {}), Mode::Default)
            .unwrap()
        else {
            panic!("not an object")
        };
        let entries = object.iter().map(|(key, value)| (key.to_string(), value.clone()));
        let changed = [("algorithm".to_owned(), Value::from("RSA")), (name.to_owned(), value)];
        let kept = entries.filter(|(key, _)| key != "algorithm" && key != name);
        schema.encode(&Value::Object(kept.chain(changed).collect()), Mode::Default).unwrap()
    };
    let error = decode::<Everything>(&frame("flag", Value::Bool(true))).unwrap_err();
    assert_eq!(error.to_string(), "value at algorithm");
    let error = decode::<Everything>(&frame("natural", Value::Number(-1.0))).unwrap_err();
    assert_eq!(error.code, Code::Value, "the literal comes first in the order of the wire");
    assert_eq!(decode::<u16>(&encode(&70_000i64).unwrap()).unwrap_err().code, Code::Check);
    assert_eq!(decode::<u64>(&encode(&-1i64).unwrap()).unwrap_err().code, Code::Check);
    assert_eq!(encode(&(1u64 << 53)).unwrap_err().code, Code::Check);
    assert_eq!(decode::<[u8; 2]>(&encode(&vec![1u8, 2, 3]).unwrap()).unwrap_err().code, Code::Check);
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
#[schema(literals)]
enum Status {
    #[schema(rename = "open")]
    Open,
    #[schema(rename = "closed")]
    Closed,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
#[schema(literals)]
enum Level {
    #[schema(literal = 1)]
    Low,
    #[schema(literal = 2.5)]
    High,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Ticket {
    status: Status,
    level: Level,
}

#[test]
fn enums_of_literals() {
    let description = r#"{"type":"array","item":{"type":"struct","fields":{
        "status":{"type":"literals","values":["open","closed"]},"level":{"type":"literals","values":[1,2.5]}}}}"#;
    let tickets = vec![
        Ticket { status: Status::Closed, level: Level::Low },
        Ticket { status: Status::Open, level: Level::High },
    ];
    same(&tickets, description, r#"[{"status":"closed","level":1},{"status":"open","level":2.5}]"#);
    same(&Status::Open, r#"{"type":"literals","values":["closed","open"]}"#, r#""open""#);
    assert_eq!(decode::<Status>(&encode("neither").unwrap()).unwrap_err().code, Code::Value);
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
#[schema(tag = "Chunked")]
struct Chunked {
    id: i64,
    part: (u64, u64),
    data: Vec<u8>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
enum Item {
    Single {
        data: Vec<u8>,
    },
    Chunked(Chunked),
    Nothing,
    #[schema(untagged)]
    Text(String),
    #[schema(untagged)]
    Count(u32),
}

const CHUNKED: &str = r#"{"type":"taggedStruct","tag":"Chunked","fields":{"id":{"type":"int"},
    "part":{"type":"tuple","elements":[{"type":"int"},{"type":"int"}]},"data":{"type":"bytes"}}}"#;

fn item_description() -> String {
    format!(
        r#"{{"type":"union","members":[{{"type":"taggedStruct","tag":"Single","fields":{{"data":{{"type":"bytes"}}}}}},
        {CHUNKED},{{"type":"taggedStruct","tag":"Nothing","fields":{{}}}},{{"type":"string"}},{{"type":"int"}}]}}"#
    )
}

#[test]
fn tagged_and_untagged_members() {
    let chunked = || Chunked { id: 5, part: (0, 2), data: vec![1] };
    let value = r#"{"_tag":"Chunked","id":5,"part":[0,2],"data":{"$bytes":"01"}}"#;
    same(&chunked(), CHUNKED, value);
    same(&Item::Chunked(chunked()), &item_description(), value);
    same(&Item::Single { data: vec![] }, &item_description(), r#"{"_tag":"Single","data":{"$bytes":""}}"#);
    same(&Item::Nothing, &item_description(), r#"{"_tag":"Nothing"}"#);
    same(&Item::Text("a".to_owned()), &item_description(), r#""a""#);
    same(&Item::Count(3), &item_description(), "3");
    let list = vec![Item::Nothing, Item::Count(3)];
    let list_description = format!(r#"{{"type":"array","item":{}}}"#, item_description());
    same(&list, &list_description, r#"[{"_tag":"Nothing"},3]"#);
    let nullable = format!(r#"{{"type":"union","members":[{},{{"type":"null"}}]}}"#, item_description());
    same(&Nullable::Value(Item::Count(3)), &nullable, "3");
    same(&Nullable::<Item>::Null, &nullable, "null");
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Known {
    #[schema(optional)]
    item: Option<Item>,
    n: f64,
}

#[test]
fn unknown_members_are_absent() {
    let schema = Schema::parse(
        r#"{"type":"struct","fields":{"n":{"type":"number"},"item":{"type":"union","members":[
            {"type":"taggedStruct","tag":"New","fields":{"x":{"type":"string"}}},{"type":"boolean"}]}}}"#,
    )
    .unwrap();
    for value in [r#"{"n":1,"item":true}"#, r#"{"n":1,"item":{"_tag":"New","x":"y"}}"#] {
        let value = notation::read(&json::parse(value).unwrap()).unwrap();
        let frame = schema.encode(&value, Mode::Default).unwrap();
        assert_eq!(decode::<Known>(&frame).unwrap(), Known { item: None, n: 1.0 });
        let strict = Codec::<Known>::new(Mode::Strict).decode(&frame).unwrap_err();
        assert_eq!(strict.code, Code::UnknownMember);
    }
    let alone = encode(&true).unwrap();
    assert!(decode::<Item>(&alone).is_err());
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Tree {
    name: String,
    #[schema(optional)]
    left: Option<Box<Self>>,
    children: Vec<Self>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
enum Expr {
    Num { value: f64 },
    Add { left: Box<Self>, right: Box<Self> },
}

#[test]
fn recursive_types() {
    let leaf = |name: &str| Tree { name: name.to_owned(), left: None, children: vec![] };
    let tree = Tree {
        left: Some(Box::new(leaf("l"))),
        children: vec![leaf("a"), Tree { children: vec![leaf("b")], ..leaf("a") }],
        name: "root".to_owned(),
    };
    let description = json::parse(
        r#"{"type":"struct","fields":{"name":{"type":"string"},"left":{"type":"ref","name":"T","optional":"key"},
            "children":{"type":"array","item":{"type":"ref","name":"T"}}}}"#,
    )
    .unwrap();
    let definitions = Value::Object([("T", description)].into_iter().collect());
    let root = json::parse(r#"{"type":"ref","name":"T"}"#).unwrap();
    let schema = Schema::from_description(&root, Some(&definitions)).unwrap();
    assert_eq!(Codec::<Tree>::fingerprint(), schema.fingerprint());
    let frame = encode(&tree).unwrap();
    assert_eq!(decode::<Tree>(&frame).unwrap(), tree);
    assert_eq!(schema.encode(&schema.decode(&frame, Mode::Default).unwrap(), Mode::Default).unwrap(), frame);
    let expr =
        Expr::Add { left: Box::new(Expr::Num { value: 1.0 }), right: Box::new(Expr::Num { value: 2.5 }) };
    assert_eq!(decode::<Expr>(&encode(&expr).unwrap()).unwrap(), expr);
}

#[test]
fn recursion_ends_at_512_levels() {
    let chain = |levels: usize| {
        (1..levels).fold(Tree { name: String::new(), left: None, children: vec![] }, |inner, _| Tree {
            name: String::new(),
            left: Some(Box::new(inner)),
            children: vec![],
        })
    };
    // The name and the children of the innermost tree are one level further down.
    assert_eq!(decode::<Tree>(&encode(&chain(511)).unwrap()).unwrap(), chain(511));
    assert_eq!(decode::<Tree>(&encode(&chain(512)).unwrap()).unwrap_err().code, Code::Depth);
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Open {
    id: String,
    #[schema(rest)]
    others: BTreeMap<String, Nullable<f64>>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Row {
    attributes: BTreeMap<String, String>,
    open: Open,
    tags: Vec<String>,
}

#[test]
fn records_and_rest() {
    let open = r#"{"type":"struct","fields":{"id":{"type":"string"}},
        "rest":[{"value":{"type":"union","members":[{"type":"number"},{"type":"null"}]}}]}"#;
    let make = |id: &str, keys: &[(&str, f64)]| Open {
        id: id.to_owned(),
        others: keys.iter().map(|(key, value)| ((*key).to_owned(), Nullable::Value(*value))).collect(),
    };
    same(&make("a", &[("k", 1.0), ("é", 2.0)]), open, r#"{"id":"a","k":1,"é":2}"#);
    same(
        &vec![make("a", &[("k", 1.0)]), make("a", &[])],
        &format!(r#"{{"type":"array","item":{open}}}"#),
        r#"[{"id":"a","k":1},{"id":"a"}]"#,
    );
    let row = |value: &str| Row {
        attributes: [("k".to_owned(), value.to_owned())].into(),
        open: make("o", &[("k", 1.0)]),
        tags: vec!["t".to_owned(), value.to_owned()],
    };
    let description = format!(
        r#"{{"type":"array","item":{{"type":"struct","fields":{{"attributes":{{"type":"record","value":{{"type":"string"}}}},
        "open":{open},"tags":{{"type":"array","item":{{"type":"string"}}}}}}}}}}"#
    );
    let json_row = |value: &str| {
        format!(r#"{{"attributes":{{"k":"{value}"}},"open":{{"id":"o","k":1}},"tags":["t","{value}"]}}"#)
    };
    same(
        &vec![row("x"), row("y"), row("x")],
        &description,
        &format!("[{},{},{}]", json_row("x"), json_row("y"), json_row("x")),
    );
    same(
        &vec![BTreeMap::from([("a".to_owned(), 1.0)])],
        r#"{"type":"array","item":{"type":"record","value":{"type":"number"}}}"#,
        r#"[{"a":1}]"#,
    );
    let map: HashMap<String, f64> = [("b".to_owned(), 1.0), ("a".to_owned(), 2.0)].into();
    same(&map, r#"{"type":"record","value":{"type":"number"}}"#, r#"{"a":2,"b":1}"#);
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Name(String);

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Named {
    name: Name,
    names: Vec<Name>,
    ids: NonEmpty<f64>,
}

#[test]
fn newtypes_keep_the_layout_of_what_they_hold() {
    let description = r#"{"type":"array","item":{"type":"struct","fields":{"name":{"type":"string"},
        "names":{"type":"array","item":{"type":"string"}},"ids":{"type":"nonEmptyArray","item":{"type":"number"}}}}}"#;
    let named = |name: &str| Named {
        name: Name(name.to_owned()),
        names: vec![Name("n".to_owned()), Name("n".to_owned())],
        ids: NonEmpty::new(vec![1.0, 2.0]).unwrap(),
    };
    let value = |name: &str| format!(r#"{{"name":"{name}","names":["n","n"],"ids":[1,2]}}"#);
    same(&vec![named("a"), named("a")], description, &format!("[{},{}]", value("a"), value("a")));
}

#[test]
fn exits_and_results() {
    let exit = r#"{"type":"exit","success":{"type":"void"},"failure":{"type":"string"},"defect":{"type":"unknown"}}"#;
    type Ended = Exit<(), String, Value>;
    same(&Ended::Success(()), exit, r#"{"$exit":{"success":{"$undefined":true}}}"#);
    let reasons = vec![
        Reason::Fail("no".to_owned()),
        Reason::Die(Value::from("boom")),
        Reason::Interrupt(None),
        Reason::Interrupt(Some(15.0)),
    ];
    let value = r#"{"$exit":{"cause":[{"fail":"no"},{"die":"boom"},{"interrupt":null},{"interrupt":15}]}}"#;
    same(&Ended::Failure(Cause(reasons)), exit, value);
    let result = r#"{"type":"result","success":{"type":"number"},"failure":{"type":"string"}}"#;
    same(&Ok::<f64, String>(1.5), result, r#"{"$success":1.5}"#);
    same(&Err::<f64, String>("e".to_owned()), result, r#"{"$failure":"e"}"#);
}

#[test]
fn leaves_of_every_kind() {
    same(&Symbol("k".to_owned()), r#"{"type":"symbol"}"#, r#"{"$symbol":"k"}"#);
    same(&std::time::Duration::from_millis(1500), r#"{"type":"duration"}"#, r#"{"$duration":"1500000000"}"#);
    same(&dynamic::Duration::Infinity, r#"{"type":"duration"}"#, r#"{"$duration":"Infinity"}"#);
    same(
        &dynamic::BigDecimal { value: 15.into(), scale: 1 },
        r#"{"type":"bigDecimal"}"#,
        r#"{"$bigDecimal":{"value":"15","scale":1}}"#,
    );
    let zoned = dynamic::Zoned { epoch_millis: 0.0, zone: dynamic::Zone::Named("Europe/London".to_owned()) };
    same(&zoned, r#"{"type":"dateTimeZoned"}"#, r#"{"$zoned":{"epochMillis":0,"zone":"Europe/London"}}"#);
    same(
        &Undefined::Value(1.5),
        r#"{"type":"union","members":[{"type":"number"},{"type":"undefined"}]}"#,
        "1.5",
    );
    same(&Box::new(1.5f32), r#"{"type":"number"}"#, "1.5");
    same(
        &Frame(vec![1.0]),
        r#"{"type":"codec","schema":{"type":"array","item":{"type":"number"}}}"#,
        r#"{"$bytes":"0420010102"}"#,
    );
    assert_eq!(decode::<Json<'_>>(&encode(&Json("{\"a\":1}")).unwrap()).unwrap(), Json("{\"a\":1}"));
    assert_eq!(encode(&Json("{a}")).unwrap_err().code, Code::Json);
    let negative = encode(&dynamic::Duration::Nanos((-1).into())).unwrap();
    assert_eq!(decode::<std::time::Duration>(&negative).unwrap_err().code, Code::Check);
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Lent<'a, T> {
    text: &'a str,
    cow: Cow<'a, str>,
    bytes: &'a [u8],
    fixed: &'a [u8; 2],
    generic: T,
}

#[test]
fn borrowing_fields_are_part_of_the_input() {
    let lent = Lent { text: "abc", cow: "d".into(), bytes: &[1, 2], fixed: &[3, 4], generic: vec![1.0] };
    let frame = encode(&lent).unwrap();
    let read: Lent<'_, Vec<f64>> = decode(&frame).unwrap();
    assert_eq!(read, lent);
    assert!(frame.as_ptr_range().contains(&read.text.as_ptr()));
    assert!(frame.as_ptr_range().contains(&read.bytes.as_ptr()));
    assert!(matches!(read.cow, Cow::Borrowed(_)));
}

#[derive(Debug, PartialEq, Layout, Decode)]
struct Point {
    #[schema(optional)]
    x: Option<f64>,
}

#[test]
fn items_are_read_one_by_one() {
    let frame = encode(&vec![&[1u8, 2][..], &[], &[3]]).unwrap();
    let items: Items<'_, &[u8]> = decode(&frame).unwrap();
    assert_eq!(items.iter().collect::<Result<Vec<_>, _>>().unwrap(), [&[1u8, 2][..], &[], &[3]]);
    let frame = encode(&vec![-1i64, 300]).unwrap();
    let items: Items<'_, i64> = decode(&frame).unwrap();
    assert_eq!((items.len(), items.iter().sum::<Result<i64, _>>().unwrap()), (2, 299));
    for leftover in [[3, 0x20, 0, 7], [3, 0x20, 0, 0]] {
        assert_eq!(decode::<Items<'_, i64>>(&leftover).unwrap_err().code, Code::Leftover);
        assert_eq!(decode::<Rows<'_, Point>>(&leftover).unwrap_err().code, Code::Leftover);
    }
    let short: Items<'_, &[u8]> = decode(&[4, 0x20, 2, 1, 7]).unwrap();
    let read: Vec<_> = short.iter().collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1].as_ref().unwrap_err().to_string(), "truncated at [1]");
}
