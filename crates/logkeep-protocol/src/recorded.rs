//! Every message kind as the reference wrote it, in both modes: read, and written again the same.

use bytes::Bytes;
use schema_binary::wire::Reader;
use schema_binary::{Decode, Encode, Layout};
use serde_json::Value;

use crate::answer::AnswerKind;
use crate::answer::schema::ANSWERS;
use crate::hole::Hole;
use crate::item::ITEMS;
use crate::splice::put_region;
use crate::{
    AnswerForm, Call, Envelope, Item, PayloadMode, Received, RemoteBatch, RequestId, SealedEntries, Upload,
    batch_list, read_entries, read_input_headers, read_items, read_remote_batches, read_segment, stored_row,
    write_chunk, write_entries, write_entries_plaintext, write_input_headers, write_segment,
};

fn unhex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// The lines of a serialization: name, call, frame.
fn lines(serialization: &str) -> Vec<(String, String, Vec<u8>)> {
    let file = include_str!("../tests/fixtures/messages.jsonl");
    let values = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    values
        .filter(|line| line["serialization"] == serialization)
        .map(|line| (text(&line["name"]), text(&line["call"]), unhex(&text(&line["data"]))))
        .collect()
}

fn again<'a, T: Layout + Encode + Decode<'a>>(hole: &Hole<T>, bytes: &'a [u8]) -> Vec<u8> {
    hole.write(PayloadMode::of(bytes), &hole.read(bytes).unwrap()).unwrap()
}

fn exit_again(form: AnswerForm, exit: &[u8]) -> Vec<u8> {
    match form.kind {
        AnswerKind::Hello => again(&ANSWERS.hello, exit),
        AnswerKind::DiscardedHello => again(&ANSWERS.discarded_hello, exit),
        AnswerKind::Void => again(&ANSWERS.void, exit),
        AnswerKind::Acks => {
            let acks = again(&ANSWERS.read_acks, exit);
            assert_eq!(ANSWERS.acks.head(form.mode), ANSWERS.read_acks.head(form.mode));
            acks
        }
        AnswerKind::Status => again(&ANSWERS.status, exit),
        AnswerKind::Begin => again(&ANSWERS.begin, exit),
        AnswerKind::Commit => again(&ANSWERS.commit, exit),
        AnswerKind::Unknown => again(&ANSWERS.unknown, exit),
    }
}

/// The Chunk written from its items the way a server does.
fn chunk_again(id: &RequestId, values: &[u8]) -> Vec<u8> {
    let items: Vec<Item<'_>> = read_items(values)
        .unwrap()
        .into_iter()
        .map(|item| match item {
            Received::Single(data) => Item { part: None, head: Vec::new(), body: vec![data] },
            Received::Chunked(part) => {
                let numbers = (u64::try_from(part.id).unwrap(), part.index, part.total);
                Item { part: Some(numbers), head: part.data.to_vec(), body: Vec::new() }
            }
        })
        .collect();
    write_chunk(id, PayloadMode::of(values), &items).unwrap()
}

fn check(name: &str, call: &str, frame: &[u8]) {
    let mut reader = Reader::new(frame);
    let envelope = Envelope::read(reader.sized().unwrap()).unwrap();
    assert_eq!(envelope.write(), frame, "{name}");
    match &envelope {
        Envelope::Request(request) => {
            let read = Call::read(request.tag, request.payload).unwrap();
            assert_eq!(read.tag(), call, "{name}");
            assert_eq!(read.write(request.answer_form().mode).unwrap(), request.payload, "{name}");
        }
        Envelope::Exit { exit, .. } => {
            let discard = call == "any (discard)";
            let tag = if discard { "EventLog.Hello" } else { call };
            assert_eq!(exit_again(AnswerForm::of(tag, exit, discard), exit), *exit, "{name}");
        }
        Envelope::Chunk { id, values } => {
            assert_eq!(again(&ITEMS.list, values), *values, "{name}");
            assert_eq!(chunk_again(id, values), frame, "{name}");
        }
        Envelope::Defect { defect } => assert_eq!(again(&ANSWERS.defect, defect), *defect, "{name}"),
        _ => {}
    }
}

#[test]
fn plain_messages() {
    let lines = lines("schemabinary");
    assert_eq!(lines.len(), 65);
    lines.iter().for_each(|(name, call, frame)| check(name, call, frame));
}

#[test]
fn fingerprinted_messages() {
    let lines = lines("schemabinary-fp");
    assert_eq!(lines.len(), 65);
    lines.iter().for_each(|(name, call, frame)| check(name, call, frame));
}

#[test]
fn data_within_calls() {
    let mut unchecked = Vec::new();
    for (name, _, frame) in lines("any") {
        let kind = name.split(',').next().unwrap();
        let written = match kind {
            "WriteEntries" => {
                let (scope, batches) = upload(&frame);
                write_entries(scope_of(&scope), &batches)
            }
            "changes" if name.contains(", encrypted") => {
                let batches = read_remote_batches(&frame).unwrap();
                assert_eq!(spliced(&batches), frame, "{name}");
                schema_binary::encode(&batches).unwrap()
            }
            "compaction input" => write_input_headers(&read_input_headers(&frame).unwrap()).unwrap(),
            "segment" => {
                let whole = Bytes::from(frame.clone());
                let batches = read_segment(&whole).unwrap();
                write_segment(&batches.iter().map(sealed).collect::<Vec<_>>())
            }
            "batch plaintext" => write_entries_plaintext(&read_entries(&frame).unwrap()),
            _ => {
                unchecked.push(name);
                continue;
            }
        };
        assert_eq!(written, frame, "{name}");
    }
    // Those of unencrypted servers.
    assert_eq!(unchecked.len(), 5, "{unchecked:?}");
}

/// The message of these batches the way a server makes it of stored bytes.
fn spliced(batches: &[RemoteBatch<'_>]) -> Vec<u8> {
    let mut rows = Vec::new();
    for batch in batches {
        let mut entry_ids = vec![batch.entry_ids.len() as u8];
        batch.entry_ids.iter().for_each(|id| entry_ids.extend([&[16], &id.0[..]].concat()));
        let mut sealed = Vec::new();
        put_region(&mut sealed, batch.iv);
        put_region(&mut sealed, batch.encrypted);
        stored_row(&mut rows, batch.sequence, &sealed, &entry_ids);
    }
    let item = batch_list(&[&rows], batches.len()).unwrap();
    [item.head, item.body.concat()].concat()
}

fn scope_of(scope: &(String, String)) -> crate::ScopeRef<'_> {
    crate::ScopeRef { public_key: &scope.0, store_id: &scope.1 }
}

fn upload(frame: &[u8]) -> ((String, String), Vec<SealedEntries>) {
    let whole = Bytes::copy_from_slice(frame);
    let upload = Upload::read(&whole).unwrap();
    let scope = (upload.scope.public_key.to_owned(), upload.scope.store_id.to_owned());
    (scope, upload.batches(&whole).unwrap().iter().map(sealed).collect())
}

fn sealed(batch: &crate::Batch) -> SealedEntries {
    let ids = batch.entry_ids[1..].chunks(17).map(|id| crate::EntryId(id[1..].try_into().unwrap()));
    let mut reader = Reader::new(&batch.sealed);
    let mut region = || {
        let length = reader.uvarint().unwrap() / 2;
        reader.take(length).unwrap().to_vec()
    };
    SealedEntries { entry_ids: ids.collect(), iv: region().try_into().unwrap(), encrypted: region() }
}
