//! The device's half against recorded bytes, and against the server's half of this crate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use bytes::Bytes;
use logkeep_protocol::{
    Algorithm, AnswerForm, Authenticate, Begun, Call, Chunked, CompactionCall, Entry, EntryId, Envelope,
    ErrorCode, Exit, HelloResponse, Item, PayloadMode, ProtocolError, Reason, Received, RemoteId, Reply,
    Request, RequestId, ScopeRef, SealedEntries, StageEnd, StageResult, Status, Upload, WriteAck, read_acks,
    read_begun, read_defect, read_entries, read_hello, read_input_headers, read_items, read_remote_batches,
    read_segment, read_stage_end, read_status, read_void, write_chunk, write_entries,
    write_entries_plaintext,
};
use proptest::prelude::*;
use serde_json::Value;

const SCOPE: ScopeRef<'static> = ScopeRef { public_key: "me-ключ", store_id: "notes" };

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

const MODES: [PayloadMode; 2] = [PayloadMode::Plain, PayloadMode::Fingerprinted];

fn request(id: u32, call: &Call<'_>) -> String {
    let payload = call.write(PayloadMode::Plain).unwrap();
    hex(&Envelope::Request(Request::new(RequestId::number(id), call.tag(), &payload)).write())
}

#[test]
fn requests_are_the_bytes_effect_sends() {
    assert_eq!(
        request(0, &Call::Hello),
        "2221a71fbf488612ff6b07000201200200000e4576656e744c6f672e48656c6c6f0100"
    );
    let key = "11111111-1111-4111-8111-111111111111";
    let changes =
        Call::Changes { scope: ScopeRef { public_key: key, store_id: "default" }, start_sequence: 12 };
    assert_eq!(
        request(4, &changes),
        format!(
            "6121a71fbf488612ff6b07003f3e209885f1a8260764656661756c74b1f8f3b63b18f8efc0827a24{}\
             020008104576656e744c6f672e4368616e6765730100",
            hex(key.as_bytes())
        )
    );
    let login = Call::Authenticate(Authenticate {
        public_key: key,
        signing_public_key: &[7; 32],
        signature: &[8; 64],
        algorithm: Algorithm::Ed25519,
    });
    assert_eq!(
        request(1, &login),
        format!(
            "ce0121a71fbf488612ff6b0700a601a40120d096ad910e0745643235353139e896edea2f40{}f8efc0827a24{}e0f9e2cb7b20{}\
             020002154576656e744c6f672e41757468656e7469636174650100",
            "08".repeat(64),
            hex(key.as_bytes()),
            "07".repeat(32)
        )
    );
}

#[test]
fn a_server_reads_every_call_as_it_was_meant() {
    let calls = [
        Call::Hello,
        Call::Authenticate(Authenticate {
            public_key: "k",
            signing_public_key: &[1; 32],
            signature: &[2; 64],
            algorithm: Algorithm::Ed25519,
        }),
        Call::WriteSingle { data: b"message" },
        Call::WriteChunked(Chunked { id: 7, index: 2, total: 300, data: b"part" }),
        Call::Changes { scope: SCOPE, start_sequence: (1 << 52) - 1 },
    ];
    let stage = "stage";
    let compaction = [
        CompactionCall::Status,
        CompactionCall::Begin,
        CompactionCall::Input { stage },
        CompactionCall::Fetch { stage, batches: vec![0, 7, 1 << 40] },
        CompactionCall::Part { stage, chunk: Chunked { id: 0, index: 0, total: 1, data: b"segment" } },
        CompactionCall::Abort { stage },
        CompactionCall::Commit { stage, result: StageResult::Snapshot { segment_count: 3 } },
        CompactionCall::Commit { stage, result: StageResult::NoOp },
    ];
    let compaction = compaction.map(|call| Call::Compaction { call, scope: SCOPE });
    for call in calls.iter().chain(&compaction) {
        for mode in MODES {
            let payload = call.write(mode).unwrap();
            assert_eq!(PayloadMode::of(&payload), mode);
            assert_eq!(Call::read(call.tag(), &payload).as_ref(), Ok(call));
        }
    }
}

#[test]
fn payloads_that_do_not_fit_are_told() {
    let told = |tag: &str, payload: &[u8]| Call::read(tag, payload).unwrap_err().to_string();
    assert_eq!(told("EventLog.Nope", &[1, 0x20]), "Unknown request tag: EventLog.Nope");
    assert_eq!(told("EventLog.CompactionNope", &[1, 0x20]), "Unknown request tag: EventLog.CompactionNope");
    assert_eq!(told("EventLog.CompactionStatus", &[1, 0x20]), "Missing key\n  at [\"storeId\"]");
    let backwards = Call::WriteChunked(Chunked { id: 1, index: 2, total: 2, data: b"" });
    assert_eq!(
        told("EventLog.WriteChunked", &backwards.write(PayloadMode::Plain).unwrap()),
        "Malformed bytes: check\n  at [\"part\"]"
    );
    let other = Call::WriteSingle { data: b"" }.write(PayloadMode::Fingerprinted).unwrap();
    assert_eq!(told("EventLog.Hello", &other), "Expected the fingerprint of the same schema");
    let beyond = Call::Changes { scope: SCOPE, start_sequence: 1 << 53 };
    assert!(beyond.write(PayloadMode::Plain).is_err());
}

#[test]
fn the_plaintext_of_a_batch_is_as_specified() {
    let entry = |number: u8, event: &str, primary_key: &str, payload: &[u8]| Entry {
        id: EntryId([number; 16]),
        event: event.to_owned(),
        primary_key: primary_key.to_owned(),
        payload: payload.to_vec(),
    };
    let entries = [
        entry(1, "UserCreated", "user-1", &[1, 2]),
        entry(2, "UserCreated", "user-1", &[2, 3]),
        entry(3, "UserRenamed", "user-2", &[]),
    ];
    let [one, two, three] = [1, 2, 3].map(|number: u8| hex(&[number; 16]));
    let expected = unhex(&format!(
        "7e 20 03 3c 00 a5efbd9803 04 0102 e0d5e1b903 20 {one} 90e4f8b10c 0c 757365722d31 9fa1c3f10f 16 5573657243726561746564
         17 01 04 0203 20 {two} 01 01  26 01 00 20 {three} 0c 757365722d32 16 5573657252656e616d6564"
    ));
    assert_eq!(hex(&write_entries_plaintext(&entries)), hex(&expected));
    assert_eq!(read_entries(&expected).unwrap(), entries);
}

#[test]
fn plaintexts_of_effect_are_read_and_written_alike() {
    let file: Value =
        serde_json::from_str(include_str!("../../logkeep-crypto/tests/fixtures/crypto.json")).unwrap();
    let vectors = file["batchEncryption"].as_array().unwrap();
    for vector in vectors {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let entries: Vec<Entry> = vector["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| Entry {
                id: EntryId(unhex(&text(&entry["id"])).try_into().unwrap()),
                event: text(&entry["event"]),
                primary_key: text(&entry["primaryKey"]),
                payload: unhex(&text(&entry["payload"])),
            })
            .collect();
        let plaintext = text(&vector["plaintext"]);
        assert_eq!(hex(&write_entries_plaintext(&entries)), plaintext, "{}", vector["name"]);
        assert_eq!(read_entries(&unhex(&plaintext)).unwrap(), entries, "{}", vector["name"]);
    }
    assert_eq!(vectors.len(), 12);
}

#[test]
fn texts_that_repeat_are_written_once_as_long_as_it_pays() {
    let entries = |keys: &[u32]| -> Vec<Entry> {
        let entry = |key: &u32| Entry {
            id: EntryId([0; 16]),
            event: "e".to_owned(),
            primary_key: format!("key-{key:04}"),
            payload: vec![],
        };
        keys.iter().map(entry).collect()
    };
    let written = |keys: &[u32]| {
        let bytes = write_entries_plaintext(&entries(keys));
        assert_eq!(read_entries(&bytes).unwrap(), entries(keys));
        bytes.windows(4).filter(|window| window == b"key-").count()
    };
    assert_eq!(written(&[1, 2, 1, 2]), 2);
    let different: Vec<u32> = (0..65).collect();
    assert_eq!(written(&[&different[..], &[0, 1, 64]].concat()), 68, "the 65th new text turns the table off");
    assert_eq!(written(&[&different[..64], &[0, 64, 1]].concat()), 65, "a hit in time keeps it on");
}

#[test]
fn a_server_reads_uploads_as_they_were_written() {
    let batch = |number: u8, count: u8| SealedEntries {
        entry_ids: (0..count).map(|at| EntryId([number + at; 16])).collect(),
        iv: [number; 12],
        encrypted: vec![number; 40],
    };
    let frame = Bytes::from(write_entries(SCOPE, &[batch(1, 3), batch(9, 1)]));
    let upload = Upload::read(&frame).unwrap();
    assert_eq!(upload.scope, SCOPE);
    let batches = upload.batches(&frame).unwrap();
    assert_eq!(batches.iter().map(|batch| batch.count).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(batches[1].entry_ids, unhex(&format!("01 10 {}", "09".repeat(16))));
    assert_eq!(batches[1].sealed, unhex(&format!("18 {} 50 {}", "09".repeat(12), "09".repeat(40))));
}

#[test]
fn stream_items_and_batches_are_read_back() {
    let row = |shape: &str, sequence: &str, id: u8| {
        let ids = format!("24 01 10 {}", hex(&[id; 16]));
        unhex(&match shape {
            "new" => format!(
                "00 e8de8fe203 02 {sequence} b68ee2c904 18 {} c5bffa8106 04 aabb f7b8b9c30c {ids}",
                "11".repeat(12)
            ),
            _ => format!("01 02 {sequence} 18 {} 04 aabb {ids}", "11".repeat(12)),
        })
    };
    let (first, second) = (row("new", "0e", 1), row("known", "12", 2));
    let mut body = vec![0x20, 2];
    for row in [&first, &second] {
        body.push(row.len() as u8);
        body.extend_from_slice(row);
    }
    let mut frame = vec![body.len() as u8];
    if body.len() > 127 {
        frame = vec![(body.len() & 0x7f | 0x80) as u8, (body.len() >> 7) as u8];
    }
    frame.extend_from_slice(&body);
    let batches = read_remote_batches(&frame).unwrap();
    assert_eq!(batches.iter().map(|batch| batch.sequence).collect::<Vec<_>>(), [7, 9]);
    assert_eq!(*batches[1].entry_ids, [EntryId([2; 16])]);
    assert_eq!((batches[0].iv, batches[0].encrypted), (&[0x11; 12][..], &[0xaa, 0xbb][..]));

    let items = [
        Item { part: None, head: frame.clone(), body: vec![] },
        Item { part: Some((3, 1, 2)), head: vec![], body: vec![b"sec", b"ond"] },
    ];
    for (mode, id) in MODES.into_iter().zip([RequestId::number(5), RequestId::Text("five".into())]) {
        let envelope = write_chunk(&id, mode, &items).unwrap();
        let Envelope::Chunk { id: echo, values } = Envelope::read(&envelope[2..]).unwrap() else { panic!() };
        assert_eq!(echo, id);
        let part = Chunked { id: 3, index: 1, total: 2, data: b"second" };
        assert_eq!(read_items(values).unwrap(), [Received::Single(&frame), Received::Chunked(part)]);
    }
}

/// The form of the answers to a call.
fn form(tag: &str, mode: PayloadMode) -> AnswerForm {
    let payload = Call::Hello.write(mode).unwrap();
    AnswerForm::of(&format!("EventLog.{tag}"), &payload, false)
}

#[test]
fn answers_are_read_back() {
    for mode in MODES {
        let form = |tag| form(tag, mode);
        assert_eq!(read_void(&Exit::Void.write(form("Authenticate"))), Ok(Reply::Success(())));
        for (first_sequence, compaction) in [(0, false), (1, true)] {
            let challenge = &[9; 32];
            let remote_id = RemoteId([4; 16]);
            let hello = HelloResponse { remote_id, challenge, first_sequence, compaction };
            let exit = Exit::Hello(hello).write(form("Hello"));
            assert_eq!(read_hello(&exit), Ok(Reply::Success(hello)));
        }
        let ack = |sequence| WriteAck { entry_id: EntryId([sequence as u8; 16]), sequence };
        let acks: Vec<WriteAck> = (0..300).map(ack).collect();
        for acks in [&acks[..], &[]] {
            let exit = Exit::Acks(acks).write(form("WriteChunked"));
            assert_eq!(read_acks(&exit), Ok(Reply::Success(acks.to_vec())));
        }
        let status = Status { wanted: true, head: -1 };
        let exit = Exit::Status(status).write(form("CompactionStatus"));
        assert_eq!(read_status(&exit), Ok(Reply::Success(status)));
        for begun in [Begun::Started { stage_id: "s" }, Begun::Busy, Begun::NotWanted] {
            let exit = Exit::Begun(begun).write(form("CompactionBegin"));
            assert_eq!(read_begun(&exit), Ok(Reply::Success(begun)));
        }
        for end in [StageEnd::Committed, StageEnd::Superseded] {
            let exit = Exit::StageEnd(end).write(form("CompactionCommit"));
            assert_eq!(read_stage_end(&exit), Ok(Reply::Success(end)));
        }
    }
}

#[test]
fn failures_are_read_back() {
    for mode in MODES {
        let failure = |exit: &Exit<'_>, expected: Reason<'_>| {
            let written = exit.write(form("Changes", mode));
            assert_eq!(read_void(&written), Ok(Reply::Failure(expected)));
        };
        let error = ProtocolError::new("Changes", ErrorCode::NotFound, "no").in_scope(SCOPE);
        failure(&Exit::Fail(error.clone()), Reason::Fail(error));
        let bare =
            ProtocolError::new("EventLog.WriteSingle", ErrorCode::Forbidden, "Unauthenticated request");
        failure(&Exit::Fail(bare.clone()), Reason::Fail(bare.clone()));
        failure(&Exit::Die("boom"), Reason::Die("\"boom\""));
        failure(&Exit::Interrupted, Reason::Interrupt);
        failure(&Exit::Acks(&[]), Reason::Die("\"the call does not end like this\""));
        let hello = Exit::Fail(bare).write(form("Hello", mode));
        assert_eq!(read_hello(&hello), Ok(Reply::Failure(Reason::Die("\"Unauthenticated request\""))));
        let beyond = [WriteAck { entry_id: EntryId([0; 16]), sequence: 1 << 53 }];
        let beyond = Exit::Acks(&beyond).write(form("WriteSingle", mode));
        let Ok(Reply::Failure(Reason::Die(text))) = read_acks(&beyond) else { panic!() };
        assert!(text.starts_with("\"Failed to encode the response: "), "{text}");
    }
    assert_eq!(read_void(&[3, 0x20, 1, 0]), Ok(Reply::Failure(Reason::Unknown)), "an empty cause");
    let by_fiber = unhex("0d 20 01 01 09 03 0000000000002e40");
    assert_eq!(read_void(&by_fiber), Ok(Reply::Failure(Reason::Interrupt)));
}

#[test]
fn an_error_without_identity_says_so_as_the_reference_does() {
    let error = ProtocolError::new("EventLog.WriteSingle", ErrorCode::Forbidden, "Unauthenticated request");
    let exit = Exit::Fail(error).write(form("WriteSingle", PayloadMode::Plain));
    let recorded = "5720010153000a6973bb46a08ec1bc1217556e61757468656e746963617465642072657175657374d092b7d452144576656e744c6f672e577269746553696e676c65f8efc0827a0103a0cfadcc7c09466f7262696464656e";
    assert_eq!(hex(&exit), recorded);
}

#[test]
fn defects_have_the_words_of_the_reference() {
    let error = Envelope::read(&[0xff, 0xff, 0xff]).unwrap_err().to_string();
    assert_eq!(error, "Expected version 2 envelope, flags 1");
    for mode in MODES {
        let defect = logkeep_protocol::defect(mode, &error);
        let json = r#"{"name":"SchemaError","message":"Expected version 2 envelope, flags 1"}"#;
        assert_eq!(read_defect(&defect), Ok(json));
        assert_eq!(PayloadMode::of(&defect), mode);
    }
}

#[test]
fn ids_of_requests_never_mix_numbers_and_texts() {
    let frame = |digits: &str| unhex(&format!("21a71fbf488612ff6b00 {digits}"));
    let id = |digits: &str| match Envelope::read(&frame(digits)).unwrap() {
        Envelope::Ack { id } => id,
        other => panic!("{other:?}"),
    };
    let (number, text) = (id("02 003c"), id("03 013330"));
    assert_eq!((&number, &text), (&RequestId::number(30), &RequestId::Text("30".into())));
    assert_ne!(number, text);
    assert_eq!(id("03 00bc00"), number, "however it was written");
    assert!(Envelope::read(&frame("00")).is_err());
    assert!(Envelope::read(&frame("02 0208")).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut frame = vec![bytes.len() as u8 & 0x7f];
        frame.extend_from_slice(&bytes[..frame[0] as usize]);
        for input in [&bytes, &frame] {
            let _ = (read_entries(input), read_items(input), read_remote_batches(input), read_void(input));
            let _ = (read_hello(input), read_acks(input), read_status(input), read_begun(input));
            let _ = (read_stage_end(input), read_defect(input), read_input_headers(input));
            let _ = (Envelope::read(input), read_segment(&Bytes::copy_from_slice(input)));
            for call in ["Authenticate", "WriteChunked", "Changes", "CompactionPart", "CompactionCommit"] {
                let _ = Call::read(&format!("EventLog.{call}"), input);
            }
        }
    }

    #[test]
    fn no_damage_makes_a_reader_panic(at in 0usize..150, to in any::<u8>(), cut in 0usize..150) {
        let entries = [1u8, 2, 3].map(|number| Entry {
            id: EntryId([number; 16]), event: "e".to_owned(), primary_key: "key".to_owned(), payload: vec![number; 9],
        });
        let mut bytes = write_entries_plaintext(&entries);
        if let Some(byte) = bytes.get_mut(at) { *byte = to; }
        let _ = read_entries(&bytes);
        let _ = read_entries(&bytes[..cut.min(bytes.len())]);
    }
}
