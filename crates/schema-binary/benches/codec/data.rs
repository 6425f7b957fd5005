//! What is written and read; `interop/codec/bench.mjs` makes the same values.

use schema_binary::types::{Items, NonEmpty};
use schema_binary::{Decode, Encode, Layout};

/// An entry of an event log.
#[derive(Layout, Encode, Decode)]
pub(crate) struct Event<'a> {
    id: &'a [u8],
    event: &'a str,
    #[schema(rename = "primaryKey")]
    primary_key: &'a str,
    pub(crate) payload: &'a [u8],
}

/// The description of an array of [`Event`].
pub(crate) const ENTRIES: &str = r#"{"type":"array","item":{"type":"struct","fields":{"id":{"type":"bytes"},
    "event":{"type":"string"},"primaryKey":{"type":"string"},"payload":{"type":"bytes"}}}}"#;

const EVENTS: [&str; 4] = ["TodoCreated", "TodoRenamed", "TodoCompleted", "TodoRemoved"];
const KEYS: [&str; 5] =
    ["todo-0000000001", "todo-0000000002", "todo-0000000003", "todo-0000000004", "todo-0000000005"];

/// Bytes to lend.
pub(crate) struct Bytes {
    ids: Vec<[u8; 16]>,
    payload: Vec<u8>,
    data: Vec<u8>,
}

impl Bytes {
    pub(crate) fn new() -> Self {
        let id = |n: usize| std::array::from_fn(|i| (n + i) as u8);
        let data = |len: usize| (0..len).map(|i| (i * 7) as u8).collect();
        Self { ids: (0..100).map(id).collect(), payload: data(100), data: data(64 << 10) }
    }
}

/// 100 entries with payloads of 100 bytes.
pub(crate) fn entries(bytes: &Bytes) -> Vec<Event<'_>> {
    let texts = EVENTS.iter().cycle().zip(KEYS.iter().cycle());
    let mut entries = Vec::new();
    for (id, (event, primary_key)) in bytes.ids.iter().zip(texts) {
        entries.push(Event { id, event, primary_key, payload: &bytes.payload });
    }
    entries
}

/// A sealed batch as a server sends it.
#[derive(Layout, Encode, Decode)]
pub(crate) struct RemoteBatch<'a> {
    sequence: u64,
    #[schema(rename = "entryIds")]
    entry_ids: NonEmpty<&'a [u8]>,
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted_batch: &'a [u8],
}

/// The same, for readers that look at ids one by one.
#[derive(Layout, Decode)]
pub(crate) struct LentBatch<'a> {
    sequence: u64,
    #[schema(rename = "entryIds")]
    entry_ids: Items<'a, &'a [u8]>,
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted_batch: &'a [u8],
}

impl LentBatch<'_> {
    /// The bytes of the batch, ids and all.
    pub(crate) fn size(&self) -> usize {
        let ids: usize = self.entry_ids.iter().flatten().map(<[u8]>::len).sum();
        self.sequence as usize + ids + self.iv.len() + self.encrypted_batch.len()
    }
}

/// 16 batches of 64 KiB.
pub(crate) fn batches(bytes: &Bytes) -> Vec<RemoteBatch<'_>> {
    let ids = || NonEmpty::new(bytes.ids.iter().take(10).map(<[u8; 16]>::as_slice).collect());
    let batch = |sequence| {
        Some(RemoteBatch {
            sequence,
            entry_ids: ids()?,
            iv: bytes.ids.first()?,
            encrypted_batch: &bytes.data,
        })
    };
    (0..16).filter_map(batch).collect()
}

macro_rules! settings {
    ($($text:ident $number:ident $flag:ident $optional:ident),*) => {
        /// A struct of 40 fields.
        #[derive(Layout, Encode, Decode)]
        pub(crate) struct Settings<'a> {
            $($text: &'a str, $number: f64, $flag: bool, #[schema(optional)] $optional: Option<&'a str>,)*
        }

        /// Every other optional field is there.
        pub(crate) fn settings() -> Settings<'static> {
            let mut n = 0;
            let mut next = || {
                n += 1;
                n
            };
            Settings {
                $($text: "some text", $number: f64::from(next()) + 0.5, $flag: next() % 3 == 0,
                    $optional: (next() % 2 == 0).then_some("there"),)*
            }
        }
    };
}

settings!(t0 n0 f0 o0, t1 n1 f1 o1, t2 n2 f2 o2, t3 n3 f3 o3, t4 n4 f4 o4, t5 n5 f5 o5, t6 n6 f6 o6, t7 n7 f7 o7,
    t8 n8 f8 o8, t9 n9 f9 o9);

/// A row of mostly text.
#[derive(Layout, Encode, Decode)]
pub(crate) struct Text<'a> {
    id: &'a str,
    title: &'a str,
    body: &'a str,
    author: &'a str,
    state: &'a str,
    #[schema(optional)]
    note: Option<&'a str>,
}

/// Texts to lend.
pub(crate) fn texts() -> Vec<(String, String, String)> {
    let text = |n: usize| {
        (format!("id-{n:08}"), format!("Title number {n}"), "Words of a body, é and all. ".repeat(1 + n % 5))
    };
    (0..1000).map(text).collect()
}

/// 1000 rows.
pub(crate) fn text_rows(texts: &[(String, String, String)]) -> Vec<Text<'_>> {
    let mut rows = Vec::new();
    for (n, (id, title, body)) in texts.iter().enumerate() {
        let author = if n % 3 == 0 { "ada" } else { "grace" };
        let state = if n % 2 == 0 { "open" } else { "closed" };
        rows.push(Text { id, title, body, author, state, note: (n % 4 == 0).then_some("a note") });
    }
    rows
}

/// Number arrays of the three forms.
#[derive(Layout, Encode, Decode)]
pub(crate) struct Numbers {
    integers: Vec<f64>,
    decimals: Vec<f64>,
    floats: Vec<f64>,
    ints: Vec<i64>,
}

/// 1000 numbers of each form.
pub(crate) fn numbers() -> Numbers {
    let numbers = |of: fn(i32) -> f64| (0..1000).map(of).collect();
    Numbers {
        integers: numbers(|n| f64::from(n * 37 - 5000)),
        decimals: numbers(|n| f64::from(n * 13) / 100.0),
        floats: numbers(|n| f64::from(n + 1).sqrt()),
        ints: (0..1000).map(|n| n * 1_000_003).collect(),
    }
}
