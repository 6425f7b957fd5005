//! The layouts of the sync protocol (format section 4) out of the derive macros, byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use schema_binary::types::{NonEmpty, Nullable, RowStream, Rows, Undefined};
use schema_binary::wire::Reader;
use schema_binary::{Code, Codec, Decode, Encode, Layout, Mode, decode, encode};

#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
struct Entry<'a> {
    id: &'a [u8],
    event: &'a str,
    #[schema(rename = "primaryKey")]
    primary_key: &'a str,
    payload: &'a [u8],
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct WriteEntriesUnencrypted<'a> {
    #[schema(rename = "publicKey")]
    public_key: &'a str,
    #[schema(rename = "storeId")]
    store_id: &'a str,
    entries: Vec<Entry<'a>>,
}

#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
struct EncryptedBatch<'a> {
    #[schema(rename = "entryIds")]
    entry_ids: NonEmpty<&'a [u8]>,
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted_batch: &'a [u8],
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct WriteEntries<'a> {
    #[schema(rename = "publicKey")]
    public_key: &'a str,
    #[schema(rename = "storeId")]
    store_id: &'a str,
    batches: Vec<EncryptedBatch<'a>>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct CompactionInputHeader<'a> {
    sequence: u64,
    #[schema(rename = "entryIds")]
    entry_ids: NonEmpty<&'a [u8]>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct EncryptedRemoteBatch<'a> {
    sequence: u64,
    #[schema(rename = "entryIds")]
    entry_ids: NonEmpty<&'a [u8]>,
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted_batch: &'a [u8],
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct RemoteEntry<'a> {
    #[schema(rename = "remoteSequence")]
    remote_sequence: u64,
    entry: Entry<'a>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
struct Todo<'a> {
    id: &'a str,
    name: &'a str,
    completed: bool,
    quantity: u32,
    #[schema(nullable)]
    note: Option<&'a str>,
}

#[derive(Debug, Default, PartialEq, Layout, Encode, Decode)]
struct TodoPatch<'a> {
    #[schema(optional)]
    name: Option<&'a str>,
    #[schema(optional)]
    completed: Option<bool>,
    #[schema(optional)]
    quantity: Option<u32>,
    #[schema(optional, nullable)]
    note: Option<Option<&'a str>>,
}

#[derive(Debug, PartialEq, Layout, Encode, Decode)]
enum RowEvent<Row, Fields, Key> {
    #[schema(rename = "set")]
    Set { row: Row },
    #[schema(rename = "patch")]
    Patch { key: Key, fields: Fields },
    #[schema(rename = "remove")]
    Remove { key: Key },
}

type TodoEvent<'a> = RowEvent<Todo<'a>, TodoPatch<'a>, &'a str>;

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Encoding gives these bytes, and decoding them gives the value.
#[track_caller]
fn both_ways<'a, T: Encode + Decode<'a> + PartialEq + std::fmt::Debug>(value: &T, frame: &'a [u8]) {
    assert_eq!(hex_of(&encode(value).unwrap()), hex_of(frame));
    assert_eq!(decode::<T>(frame).unwrap(), *value);
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const IDS: [[u8; 16]; 4] = [id(1), id(2), id(3), id(4)];
const IVS: [[u8; 12]; 2] =
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]];

const fn id(n: u8) -> [u8; 16] {
    [0x01, 0x93, 0x4a, 0x5b, 0x6c, n, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, n]
}

fn entries() -> Vec<Entry<'static>> {
    let entry = |id, event, primary_key, payload| Entry { id, event, primary_key, payload };
    vec![
        entry(&IDS[0], "UserCreated", "user-1", &[1, 2]),
        entry(&IDS[1], "UserCreated", "user-1", &[2, 3]),
        entry(&IDS[2], "UserRenamed", "user-2", &[]),
    ]
}

fn batches() -> Vec<EncryptedBatch<'static>> {
    let batch = |ids: &[&'static [u8]], iv: usize, encrypted_batch| EncryptedBatch {
        entry_ids: NonEmpty::new(ids.to_vec()).unwrap(),
        iv: &IVS[iv],
        encrypted_batch,
    };
    vec![batch(&[&IDS[0], &IDS[1]], 0, &[1, 2, 3, 4]), batch(&[&IDS[2]], 1, &[2, 3, 4, 5])]
}

const ENTRIES: &str = "7e20
    03 3c00 a5efbd9803 04 0102 e0d5e1b903 20 01934a5b6c01700080000000 00000001 90e4f8b10c 0c 757365722d31
       9fa1c3f10f 16 5573657243726561746564
    1701 04 0203 20 01934a5b6c02700080000000 00000002 01 01
    2601 00 20 01934a5b6c03700080000000 00000003 0c 757365722d32 16 5573657252656e616d6564";

#[test]
fn entry() {
    let frame = hex("3c20 a8faeec319 02 0102 80ae8dce1b 10 01934a5b6c0170008000000000000001
        80a1c68f63 06 757365722d31 f8899a8c7f 0b 5573657243726561746564");
    both_ways(&entries()[0], &frame);
}

#[test]
fn entries_of_a_batch() {
    both_ways(&NonEmpty::new(entries()).unwrap(), &hex(ENTRIES));
    let frame = hex(ENTRIES);
    let rows: Rows<'_, Entry<'_>> = decode(&frame).unwrap();
    assert_eq!(rows.iter().collect::<Result<Vec<_>, _>>().unwrap(), entries());
    assert!(decode::<NonEmpty<Entry<'_>>>(&hex("022000")).is_err());
}

#[test]
fn write_entries_unencrypted() {
    let frame = hex(&format!(
        "9901 20 9885f1a826 05 73746f7265 98af90d637 7d {} f8efc0827a 04 706b2d31",
        &ENTRIES[4..]
    ));
    let value = WriteEntriesUnencrypted { public_key: "pk-1", store_id: "store", entries: entries() };
    both_ways(&value, &frame);
    let none = WriteEntriesUnencrypted { entries: Vec::new(), ..value };
    both_ways(&none, &hex("1d209885f1a8260573746f726598af90d6370100f8efc0827a04706b2d31"));
}

#[test]
fn write_entries() {
    let frame = hex("8b01 20 9885f1a826 05 73746f7265 d8b6839963 6f 02
        4600 b68ee2c904 18 0102030405060708090a0b0c c5bffa8106 08 01020304
             f7b8b9c30c 46 02 10 01934a5b6c0170008000000000000001 10 01934a5b6c0270008000000000000002
        2601 18 02030405060708090a0b0c0d 08 02030405 24 01 10 01934a5b6c0370008000000000000003
        f8efc0827a 04 706b2d31");
    both_ways(&WriteEntries { public_key: "pk-1", store_id: "store", batches: batches() }, &frame);
    let segment = [&[0x71, 0x20][..], &frame[20..131]].concat();
    assert_eq!(encode(&NonEmpty::new(batches()).unwrap()).unwrap()[2..], segment[2..]);
}

#[test]
fn compaction_input_headers() {
    let header = |sequence, ids: &[&'static [u8]]| CompactionInputHeader {
        sequence,
        entry_ids: NonEmpty::new(ids.to_vec()).unwrap(),
    };
    let headers = vec![header(1, &[&IDS[0]]), header(2, &[&IDS[1], &IDS[2]]), header(300, &[&IDS[3]])];
    let frame = hex("63 20 03
        2000 e8de8fe203 02 02 f7b8b9c30c 24 01 10 01934a5b6c0170008000000000000001
        2701 02 04 46 02 10 01934a5b6c0270008000000000000002 10 01934a5b6c0370008000000000000003
        1701 04 d804 24 01 10 01934a5b6c0470008000000000000004");
    both_ways(&NonEmpty::new(headers).unwrap(), &frame);
}

#[test]
fn encrypted_remote_batches() {
    let [first, second] = <[_; 2]>::try_from(batches()).unwrap();
    let remote = |sequence, batch: EncryptedBatch<'static>| EncryptedRemoteBatch {
        sequence,
        entry_ids: batch.entry_ids,
        iv: batch.iv,
        encrypted_batch: batch.encrypted_batch,
    };
    let frame = hex("79 20 02
        4d00 e8de8fe203 02 0e b68ee2c904 18 0102030405060708090a0b0c c5bffa8106 08 01020304
             f7b8b9c30c 46 02 10 01934a5b6c0170008000000000000001 10 01934a5b6c0270008000000000000002
        2801 02 12 18 02030405060708090a0b0c0d 08 02030405 24 01 10 01934a5b6c0370008000000000000003");
    both_ways(&NonEmpty::new(vec![remote(7, first), remote(9, second)]).unwrap(), &frame);
}

#[test]
fn remote_entries() {
    let sequences = [1, 2, 1 << 49];
    let remote: Vec<_> = entries().into_iter().zip(sequences).collect();
    let remote = remote.into_iter().map(|(entry, remote_sequence)| RemoteEntry { remote_sequence, entry });
    let remote: Vec<_> = remote.collect();
    let frame = hex("d101 20 03
        4900 93af8fd60c 76 a8faeec319 02 0102 80ae8dce1b 10 01934a5b6c0170008000000000000001
                80a1c68f63 06 757365722d31 f8899a8c7f 0b 5573657243726561746564 a2f284a20d 02 02
        3f01 76 a8faeec319 02 0203 80ae8dce1b 10 01934a5b6c0270008000000000000002
                80a1c68f63 06 757365722d31 f8899a8c7f 0b 5573657243726561746564 02 04
        4401 72 a8faeec319 00 80ae8dce1b 10 01934a5b6c0370008000000000000003
                80a1c68f63 06 757365722d32 f8899a8c7f 0b 5573657252656e616d6564 10 8080808080808002");
    both_ways(&remote, &frame);
    let single = hex("48 20 98f9fab065 3b a8faeec319 02 0102 80ae8dce1b 10 01934a5b6c0170008000000000000001
        80a1c68f63 06 757365722d31 f8899a8c7f 0b 5573657243726561746564 9192a7906a 02");
    both_ways(&remote[0], &single);
}

#[test]
fn row_events() {
    let set = hex("30 20 0a 9326c195 d8d7c38322 24 80ae8dce1b 02 6731 c1fdd1dc25 04 b0deb7ce46 04 4d696c6b
        e8c3c1e648 01 02 9391909d7a");
    let row = Todo { id: "g1", name: "Milk", completed: false, quantity: 2, note: None };
    both_ways(&TodoEvent::Set { row }, &set);
    let patch = |fields| TodoEvent::Patch { key: "g1", fields };
    let completed = TodoPatch { completed: Some(true), ..TodoPatch::default() };
    both_ways(&patch(completed), &hex("19200ac7375f2de0d78c9003059491909d7ae086b98534026731"));
    let fields = TodoPatch { quantity: Some(300), note: Some(None), ..TodoPatch::default() };
    both_ways(&patch(fields), &hex("22200ac7375f2de0d78c90030ec1fdd1dc25d804e8c3c1e6480102e086b98534026731"));
    both_ways(&patch(TodoPatch::default()), &hex("14200ac7375f2de0d78c900300e086b98534026731"));
    both_ways(&TodoEvent::Remove { key: "g1" }, &hex("0e200ae89a62f4e086b98534026731"));
}

#[test]
fn fingerprints_of_derived_types_are_those_of_their_descriptions() {
    use schema_binary::dynamic::Schema;
    let description = r#"{"type":"array","item":{"type":"struct","fields":{
        "id":{"type":"bytes"},"event":{"type":"string"},"primaryKey":{"type":"string"},"payload":{"type":"bytes"}}}}"#;
    let schema = Schema::parse(description).unwrap();
    assert_eq!(Codec::<Vec<Entry<'_>>>::fingerprint(), schema.fingerprint());
    let codec = Codec::<Vec<Entry<'_>>>::new(Mode::Fingerprint);
    let frame = codec.encode(&entries()).unwrap();
    assert_eq!(codec.decode(&frame).unwrap(), entries());
    assert_eq!(
        schema.encode(&schema.decode(&frame, Mode::Fingerprint).unwrap(), Mode::Fingerprint).unwrap(),
        frame
    );
}

#[test]
fn unions_with_nothing() {
    both_ways(&Nullable::Value("a"), &hex("03200561"));
    both_ways(&Nullable::<&str>::Null, &hex("022002"));
    both_ways(&Undefined::Value(Nullable::<&str>::Null), &hex("022002"));
    both_ways(&Undefined::<Nullable<&str>>::Undefined, &hex("022003"));
}

#[test]
fn rows_that_arrive_one_by_one() {
    let frame = encode(&batches()).unwrap();
    let mut run = Reader::new(&frame[3..]);
    let mut rows = RowStream::default();
    for expected in batches() {
        // Each row has memory of its own.
        let row = run.sized().unwrap().to_vec();
        assert_eq!(rows.read::<EncryptedBatch<'_>>(&row).unwrap(), expected);
    }
    assert!(run.is_empty());

    let row = encode(&batches()[..1]).unwrap();
    let row = Reader::new(&row[3..]).sized().unwrap().to_vec();
    let mut rows = RowStream::default();
    let refused = (0..30_000).find_map(|_| rows.read::<EncryptedBatch<'_>>(&row).err()).unwrap();
    assert_eq!(refused.code, Code::CountLimit, "shapes are remembered up to a limit");
}
