//! Round trips, exactness, and what is refused.

use proptest::prelude::*;

use super::{Json, Limits, SyntaxError, Text, parse, parse_reader};

fn reprint(text: &str) -> String {
    parse(text.as_bytes()).unwrap().to_string()
}

fn reason(text: &[u8]) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn numbers_stay_as_written() {
    for number in ["0", "-0", "9007199254740993", "123456789012345678901234567890", "1.50", "1e400", "-2E-3"]
    {
        assert_eq!(reprint(number), number);
    }
}

#[test]
fn strings_have_one_form() {
    assert_eq!(reprint(r#""\u0041\/\u001f\u00e9""#), "\"A/\\u001fé\"");
    assert_eq!(reprint(r#""\ud83e\udE81""#), "\"🪁\"");
    assert_eq!(reprint(r#""cut \ud83e""#), r#""cut \ud83e""#);
    assert_eq!(reprint(r#""\udc00\ud83e\ud83e\udc00""#), "\"\\udc00\\ud83e\u{1f800}\"");
}

#[test]
fn half_a_pair_reads_as_a_replacement_character() {
    let value = parse(br#"{"t":"a\ud83eb\n\"\\"}"#).unwrap();
    assert_eq!(value.text(&["t"]).unwrap(), "a\u{fffd}b\n\"\\");
}

#[test]
fn fields_keep_their_order_and_the_last_of_a_name_counts() {
    assert_eq!(reprint(r#"{"b":1,"a":2,"b":3}"#), r#"{"b":3,"a":2}"#);
    let many: Vec<String> = (0..40).map(|n| format!("\"k{}\":{n}", n % 20)).collect();
    let value = parse(format!("{{{}}}", many.join(",")).as_bytes()).unwrap();
    assert_eq!(value.fields().len(), 20);
    assert_eq!(value.integer(&["k3"]), Some(23));
}

#[test]
fn pretty_is_what_javascript_prints() {
    let value = parse(br#"{"a":[],"b":{},"c":[1,{"d":"x"}]}"#).unwrap();
    let expected =
        "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"x\"\n    }\n  ]\n}";
    assert_eq!(value.pretty(), expected);
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_are_read_over() {
    assert_eq!(parse(b"\xef\xbb\xbf{\r\n\"a\": 1\r\n}\r\n").unwrap().integer(&["a"]), Some(1));
}

#[test]
fn damaged_text_is_named_with_its_place() {
    assert_eq!(reason(b""), "empty document at byte 0");
    assert_eq!(reason(&[0; 413]), "NUL byte in place of a value at byte 0");
    assert_eq!(reason(b"{\"a\": \"b"), "unexpected end of a string at byte 8");
    assert_eq!(reason(b"{\"a\": 1}}"), "more text after the end of the value at byte 8");
    assert_eq!(reason(b"\"\xff\""), "bytes that are not UTF-8 at byte 2");
    assert_eq!(reason(b"{\"a\" 1}"), "expected a colon at byte 5");
    assert_eq!(reason(b"01"), "more text after the end of the value at byte 1");
    assert_eq!(reason("[".repeat(100_000).as_bytes()), "nested too deep at byte 512");
}

#[test]
fn long_strings_are_cut_and_counted() {
    let limits = Limits { string: 5000, total: usize::MAX };
    let text = format!("{{\"a\":\"{}\",\"b\":\"short\"}}", "\\n".repeat(100_000));
    let parsed = parse_reader(text.as_bytes(), limits).unwrap();
    assert_eq!(parsed.cut, 1);
    assert_eq!(parsed.value.text(&["a"]).unwrap().len(), 2048);
    assert_eq!(parsed.value.text(&["b"]).unwrap(), "short");
}

#[test]
fn a_total_limit_stops_reading_early() {
    let limits = Limits { string: usize::MAX, total: 10_000 };
    let endless = std::io::Read::chain(&b"["[..], std::io::repeat(b'['));
    assert!(parse_reader(endless, limits).is_err());
    let text = format!("[{}1]", "1,".repeat(100_000));
    let error = parse_reader(text.as_bytes(), limits).unwrap_err();
    assert!(matches!(error, SyntaxError::TooLarge { offset: 0..1000, .. }), "{error}");
    let long = std::io::Read::chain(&b"\""[..], std::io::repeat(b'x'));
    assert!(matches!(parse_reader(long, limits), Err(SyntaxError::TooLarge { .. })));
}

/// A reader that hands out one byte at a time, so that every token is split.
struct Drip<'a>(&'a [u8]);

impl std::io::Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(1);
        std::io::Read::read(&mut self.0, &mut buffer[..length])
    }
}

#[test]
fn a_merge_patch_follows_the_examples_of_its_rfc() {
    for (target, patch, expected) in [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
        (r#"["a"]"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
        (r#"{}"#, r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        (r#"[1,2]"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, r#"null"#, r#"null"#),
    ] {
        let mut value = parse(target.as_bytes()).unwrap();
        value.merge_patch(parse(patch.as_bytes()).unwrap());
        assert_eq!(value.to_string(), expected, "{target} with {patch}");
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::from),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?(e[+-]?[0-9]{1,4})?".prop_map(|n| Json::Number(n.into())),
        any::<String>().prop_map(|s| Json::from(s.as_str())),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            proptest::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|fields| {
                Json::Object(fields.into_iter().map(|(k, v)| (Text::from(k.as_str()), v)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(value in any_json()) {
        prop_assert_eq!(&parse(value.to_string().as_bytes()).unwrap(), &value);
        prop_assert_eq!(&parse(value.pretty().as_bytes()).unwrap(), &value);
        let dripped = parse_reader(Drip(value.pretty().as_bytes()), Limits::NONE).unwrap();
        prop_assert_eq!(&dripped.value, &value);
    }

    #[test]
    fn plain_text_comes_back(plain in any::<String>()) {
        let text = Text::from(plain.as_str());
        prop_assert_eq!(text.plain(), plain);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
        let _ = parse_reader(Drip(&bytes), Limits { string: 8, total: 600 });
    }

    #[test]
    fn cutting_leaves_valid_text(bytes in "[\\x20-\\x7e\u{e9}\n\\\\\"]{4000,4400}", limit in 1usize..4200) {
        let text = Json::from(bytes.as_str()).to_string();
        let parsed = parse_reader(text.as_bytes(), Limits { string: limit, total: usize::MAX }).unwrap();
        prop_assert_eq!(&parse(parsed.value.to_string().as_bytes()).unwrap(), &parsed.value);
        let Json::String(kept) = parsed.value else { panic!("a string") };
        prop_assert!(bytes.starts_with(&*kept.plain()));
    }
}
