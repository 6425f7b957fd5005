//! Recorded connections of the reference: every frame of them is understood.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::HashMap;

use bytes::Bytes;
use logkeep_protocol::{
    Call, CallError, Envelope, FrameReader, MAX_ENVELOPE, PayloadMode, RequestId, Upload, read_acks,
    read_begun, read_defect, read_hello, read_stage_end, read_status, read_void,
};
use serde_json::Value;

/// What was understood of a capture.
#[derive(Debug, Default, PartialEq, Eq)]
struct Understood {
    calls: usize,
    /// Calls of another name, or with a payload that does not fit.
    odd_calls: usize,
    exits: usize,
    defects: usize,
    fingerprinted: usize,
}

/// A direction of a connection, and the calls that were made on it.
type Streams = HashMap<(u64, String), FrameReader>;
type Calls = HashMap<(u64, RequestId), String>;

fn understand(capture: &str) -> Understood {
    let (mut streams, mut calls) = (Streams::new(), Calls::new());
    let mut understood = Understood::default();
    for line in capture.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (Some(direction), Some(data)) = (line["dir"].as_str(), line["data"].as_str()) else { continue };
        let connection = line["conn"].as_u64().unwrap();
        let stream = streams.entry((connection, direction.to_owned()));
        let stream = stream.or_insert_with(|| FrameReader::new(MAX_ENVELOPE));
        stream.push(unhex(data).into());
        while let Ok(Some(frame)) = stream.next_frame() {
            if let Ok(envelope) = Envelope::read(&frame) {
                understood.take(connection, &envelope, &mut calls);
            }
        }
    }
    understood
}

impl Understood {
    fn take(&mut self, connection: u64, envelope: &Envelope<'_>, calls: &mut Calls) {
        match envelope {
            Envelope::Request(request) => {
                calls.insert((connection, request.id.clone()), request.tag.to_owned());
                let mode = PayloadMode::of(request.payload);
                self.fingerprinted += usize::from(mode == PayloadMode::Fingerprinted);
                match Call::read(request.tag, request.payload) {
                    Ok(call) => {
                        assert_eq!(call.write(mode).unwrap(), request.payload);
                        self.call(&call);
                    }
                    Err(CallError::UnknownTag(_) | CallError::Malformed(_)) => self.odd_calls += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            Envelope::Exit { id, exit } => {
                read_exit(&calls[&(connection, id.clone())], exit);
                self.exits += 1;
            }
            Envelope::Defect { defect } => {
                assert!(read_defect(defect).unwrap().starts_with(r#"{"name":"SchemaError""#));
                self.defects += 1;
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Call<'_>) {
        self.calls += 1;
        if let Call::WriteSingle { data } = call
            && let Ok(upload) = Upload::read(data)
        {
            assert!(!upload.batches(&Bytes::copy_from_slice(data)).unwrap().is_empty());
        }
    }
}

/// Panics unless the exit is one of the call.
fn read_exit(tag: &str, exit: &[u8]) {
    match tag.trim_start_matches("EventLog.") {
        // A discarded Hello tells nothing but success.
        "Hello" => assert!(read_hello(exit).is_ok() || read_void(exit).is_ok()),
        "WriteSingle" | "WriteChunked" => drop(read_acks(exit).unwrap()),
        "CompactionStatus" => drop(read_status(exit).unwrap()),
        "CompactionBegin" => drop(read_begun(exit).unwrap()),
        "CompactionCommit" => drop(read_stage_end(exit).unwrap()),
        _ => drop(read_void(exit).unwrap()),
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn hand_made_messages() {
    let understood = understand(include_str!("../../../interop/fixtures/edge-schemabinary.jsonl"));
    let expected = Understood { calls: 29, odd_calls: 2, exits: 28, defects: 2, fingerprinted: 0 };
    assert_eq!(understood, expected);
}

#[test]
fn a_session_with_plain_payloads() {
    let understood = understand(include_str!("../../../interop/fixtures/encrypted-basic-schemabinary.jsonl"));
    assert_eq!(understood, Understood { calls: 6, exits: 6, ..Understood::default() });
}

#[test]
fn a_session_with_fingerprinted_payloads() {
    let understood =
        understand(include_str!("../../../interop/fixtures/encrypted-basic-schemabinary-fp.jsonl"));
    assert_eq!(understood, Understood { calls: 6, exits: 6, fingerprinted: 6, ..Understood::default() });
}
