//! The RPC envelopes of the sync protocol out of the derive macros, against frames made with the real package.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use schema_binary::{Code, Codec, Decode, Encode, Layout, Mode};

#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
#[schema(untagged)]
enum RequestId<'a> {
    Number(f64),
    Text(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Layout, Encode, Decode)]
#[schema(literals)]
enum Yes {
    #[schema(literal = true)]
    Yes,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
enum Envelope<'a> {
    Request(Request<'a>),
    Ack {
        #[schema(rename = "requestId")]
        request_id: RequestId<'a>,
    },
    Interrupt {
        #[schema(rename = "requestId")]
        request_id: RequestId<'a>,
    },
    Ping,
    Eof,
    Chunk {
        #[schema(rename = "requestId")]
        request_id: RequestId<'a>,
        values: &'a [u8],
    },
    Exit {
        #[schema(rename = "requestId")]
        request_id: RequestId<'a>,
        exit: &'a [u8],
    },
    Defect {
        defect: &'a [u8],
    },
    Pong,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Request<'a> {
    id: RequestId<'a>,
    tag: &'a str,
    payload: &'a [u8],
    headers: Vec<(&'a str, &'a str)>,
    #[schema(undefined, rename = "isNotification")]
    is_notification: Option<Yes>,
    #[schema(undefined)]
    discard: Option<Yes>,
    #[schema(undefined, rename = "traceId")]
    trace_id: Option<&'a str>,
    #[schema(undefined, rename = "spanId")]
    span_id: Option<&'a str>,
    #[schema(undefined)]
    sampled: Option<bool>,
}

fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn codec<'a>() -> Codec<Envelope<'a>> {
    Codec::new(Mode::Fingerprint)
}

#[test]
fn the_fingerprint_is_that_of_the_protocol() {
    assert_eq!(Codec::<Envelope<'_>>::fingerprint(), 0x6bff_1286_48bf_1fa7);
}

#[test]
fn every_recorded_envelope_reads_and_writes_the_same() {
    let recorded = include_str!("fixtures/rpc-envelopes.tsv");
    assert!(recorded.lines().count() > 50);
    for line in recorded.lines() {
        let (name, digits) = line.split_once('\t').unwrap();
        let frame = hex(digits);
        let envelope = codec().decode(&frame).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(codec().encode(&envelope).unwrap(), frame, "{name}");
    }
}

#[test]
fn what_a_request_says() {
    let digits = "6c21a71fbf488612ff6b071f11016237616436623731363932303333333102012002000202000\
                  00e4576656e744c6f672e48656c6c6f210130616637363531393136636434336464383434386562323131633830333139631102\
                  0803782d61013105\
                  03782d6200020001020001";
    let line = include_str!("fixtures/rpc-envelopes.tsv")
        .lines()
        .find(|line| line.starts_with("request, all optional"));
    let frame = hex(line.unwrap().split_once('\t').unwrap().1);
    assert_eq!(frame[..40], hex(digits)[..40]);
    let request = Request {
        id: RequestId::Number(1.0),
        tag: "EventLog.Hello",
        payload: &[1, 32],
        headers: vec![("x-a", "1"), ("x-b", "")],
        is_notification: Some(Yes::Yes),
        discard: Some(Yes::Yes),
        trace_id: Some("0af7651916cd43dd8448eb211c80319c"),
        span_id: Some("b7ad6b7169203331"),
        sampled: Some(false),
    };
    assert_eq!(codec().decode(&frame).unwrap(), Envelope::Request(request));
}

#[test]
fn another_layout_is_refused() {
    let frame = Codec::<Request<'_>>::new(Mode::Fingerprint).encode(&Request {
        id: RequestId::Text("a"),
        tag: "",
        payload: &[],
        headers: Vec::new(),
        is_notification: None,
        discard: None,
        trace_id: None,
        span_id: None,
        sampled: None,
    });
    assert_eq!(codec().decode(&frame.unwrap()).unwrap_err().code, Code::Fingerprint);
    assert_eq!(codec().decode(&hex("022003")).unwrap_err().code, Code::Envelope);
    let beyond = hex("0a21a71fbf488612ff6b09");
    assert_eq!(codec().decode(&beyond).unwrap_err().code, Code::UnknownMember);
}
