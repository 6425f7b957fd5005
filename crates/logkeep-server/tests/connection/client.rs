//! A client that speaks bytes to a connection and turns the clock.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use logkeep_crypto::Identity;
use logkeep_protocol::{Envelope, Request, RequestId};
use logkeep_server::connection::Connection;
use logkeep_server::environment::{Clock, Random};
use logkeep_server::executor::InlineExecutor;
use logkeep_server::hub::Hub;
use logkeep_server::limits::Limits;
use logkeep_server::mailbox::Mailbox;
use logkeep_server::service::Service;
use logkeep_server::storage::Storage;
use logkeep_server::storage::sqlite::SqliteStorage;
use schema_binary::types::NonEmpty;
use schema_binary::{Decode, Encode, Layout, decode, encode};

/// A clock that stands until it is turned.
#[derive(Default)]
pub(crate) struct Turned(AtomicU64);

impl Clock for Turned {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts instead of being random.
#[derive(Default)]
struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        bytes.iter_mut().zip(count.to_le_bytes().iter().cycle()).for_each(|(byte, count)| *byte = *count);
        Ok(())
    }
}

/// A server in memory.
pub(crate) struct World {
    pub(crate) service: Arc<Service>,
    clock: Arc<Turned>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let storage = SqliteStorage::in_memory(logkeep_protocol::RemoteId([7; 16])).unwrap();
        let (hub, clock) = (Arc::new(Hub::default()), Arc::new(Turned::default()));
        let executor =
            InlineExecutor::new(&storage, Arc::clone(&hub), clock.clone(), Arc::default()).unwrap();
        let service = Service {
            remote_id: storage.remote_id(),
            executor: Arc::new(executor),
            hub,
            random: Arc::new(Counting::default()),
            limits,
            spool_directory: None,
            health: Arc::default(),
            memory: Arc::default(),
            sending: Arc::default(),
        };
        Self { service: Arc::new(service), clock }
    }

    pub(crate) fn turn(&self, millis: u64) {
        self.clock.0.fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) fn connect(&self) -> Client {
        let mailbox = Arc::new(Mailbox::default());
        Client {
            connection: Connection::new(Arc::clone(&self.service), Arc::clone(&mailbox)),
            mailbox,
            clock: Arc::clone(&self.clock),
            next: 0,
            frames: VecDeque::new(),
        }
    }

    /// A client that is logged in as `identity`.
    pub(crate) fn session(&self, identity: &Identity) -> Client {
        let mut client = self.connect();
        assert_eq!(client.log_in(identity), "");
        client
    }
}

pub(crate) fn identity(name: &str) -> Identity {
    Identity::new(name, name.as_bytes())
}

#[derive(Layout, Encode)]
struct Authenticate<'a> {
    #[schema(rename = "publicKey")]
    public_key: &'a str,
    #[schema(rename = "signingPublicKey")]
    signing_public_key: &'a [u8],
    signature: &'a [u8],
    algorithm: &'a str,
}

#[derive(Layout, Encode)]
struct WriteSingle<'a> {
    data: &'a [u8],
}

#[derive(Layout, Encode)]
struct WriteChunked<'a> {
    #[schema(rename = "_tag")]
    tag: &'a str,
    id: i64,
    part: (u64, u64),
    data: &'a [u8],
}

#[derive(Layout, Encode)]
struct Changes<'a> {
    #[schema(rename = "publicKey")]
    public_key: &'a str,
    #[schema(rename = "storeId")]
    store_id: &'a str,
    #[schema(rename = "startSequence")]
    start_sequence: u64,
}

#[derive(Layout, Encode)]
struct WriteEntries<'a> {
    #[schema(rename = "publicKey")]
    public_key: &'a str,
    #[schema(rename = "storeId")]
    store_id: &'a str,
    batches: Vec<EncryptedBatch<'a>>,
}

#[derive(Layout, Encode)]
struct EncryptedBatch<'a> {
    #[schema(rename = "entryIds")]
    entry_ids: NonEmpty<&'a [u8]>,
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted_batch: &'a [u8],
}

#[derive(Layout, Decode)]
struct Ack<'a> {
    #[schema(rename = "entryId")]
    entry_id: &'a [u8],
    sequence: u64,
}

#[derive(Layout, Decode)]
struct RemoteBatch<'a> {
    sequence: u64,
    #[schema(rename = "entryIds")]
    entry_ids: NonEmpty<&'a [u8]>,
    #[expect(dead_code, reason = "part of the layout")]
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted_batch: &'a [u8],
}

#[derive(Layout, Decode)]
enum StreamItem<'a> {
    Single {
        data: &'a [u8],
    },
    Chunked {
        #[expect(dead_code, reason = "part of the layout")]
        id: i64,
        part: (u64, u64),
        data: &'a [u8],
    },
}

/// A batch as the tests see it: its ids, each one byte, and the length of its ciphertext.
pub(crate) type Made<'a> = (&'a [u8], usize);

/// A batch that arrived: its sequence, its ids, the length of its ciphertext.
pub(crate) type Arrived = (u64, Vec<u8>, usize);

pub(crate) struct Client {
    pub(crate) connection: Connection,
    mailbox: Arc<Mailbox>,
    clock: Arc<Turned>,
    next: u32,
    frames: VecDeque<Vec<u8>>,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: Vec<u8>) {
        self.connection.receive(Bytes::from(bytes), self.clock.now());
        self.pump();
    }

    pub(crate) fn pump(&mut self) {
        loop {
            let events = self.mailbox.take();
            let idle = events.is_empty();
            events.into_iter().for_each(|event| self.connection.handle(event, self.clock.now()));
            while let Some(frame) = self.connection.outbox().next_frame() {
                self.frames.push_back(frame);
            }
            if idle {
                return;
            }
        }
    }

    pub(crate) fn request(&mut self, tag: &str, payload: &[u8]) -> RequestId {
        self.next += 1;
        let id = RequestId::number(self.next);
        self.send(Envelope::Request(Request::new(id.clone(), tag, payload)).write());
        id
    }

    /// The exit hole of a call that is answered at once.
    pub(crate) fn call(&mut self, tag: &str, payload: &[u8]) -> Vec<u8> {
        let id = self.request(tag, payload);
        self.exit(&id).unwrap_or_else(|| panic!("{tag} is answered"))
    }

    /// The exit hole of a request, if it has come.
    pub(crate) fn exit(&mut self, wanted: &RequestId) -> Option<Vec<u8>> {
        self.pump();
        self.take(|envelope| match envelope {
            Envelope::Exit { id, exit } if id == wanted => Some(exit.to_vec()),
            _ => None,
        })
    }

    /// Removes the first frame for which `find` finds something.
    pub(crate) fn take<T>(&mut self, find: impl Fn(&Envelope<'_>) -> Option<T>) -> Option<T> {
        let mut found = None;
        let frames = std::mem::take(&mut self.frames);
        for frame in frames {
            let value = if found.is_none() { find(&Envelope::read(body(&frame)).unwrap()) } else { None };
            if value.is_some() {
                found = value;
            } else {
                self.frames.push_back(frame);
            }
        }
        found
    }

    pub(crate) fn hello(&mut self) -> [u8; 32] {
        let exit = self.call("EventLog.Hello", &encode(&()).unwrap());
        // length, 20, success; then the field `challenge` and its length.
        assert_eq!(exit[3..9], [0xf0, 0x83, 0xf2, 0x39, 0x20, exit[8]]);
        exit[8..40].try_into().unwrap()
    }

    pub(crate) fn authenticate(&mut self, identity: &Identity, challenge: &[u8]) -> String {
        let proof = identity.sign_session(&[7; 16], challenge);
        self.authenticate_with(identity.public_key(), &identity.signing_public_key(), &proof.signature)
    }

    pub(crate) fn authenticate_with(&mut self, public_key: &str, key: &[u8], signature: &[u8]) -> String {
        let payload = Authenticate { public_key, signing_public_key: key, signature, algorithm: "Ed25519" };
        failure(&self.call("EventLog.Authenticate", &encode(&payload).unwrap()))
    }

    /// Empty if it worked, else what is wrong.
    pub(crate) fn log_in(&mut self, identity: &Identity) -> String {
        let challenge = self.hello();
        self.authenticate(identity, &challenge)
    }

    /// The acks of a write as (id, sequence), or what is wrong.
    pub(crate) fn write(
        &mut self,
        identity: &Identity,
        store: &str,
        batches: &[Made<'_>],
    ) -> Result<Vec<(u8, u64)>, String> {
        let data = body_of_write(identity.public_key(), store, batches);
        let exit = self.call("EventLog.WriteSingle", &encode(&WriteSingle { data: &data }).unwrap());
        acks(&exit)
    }

    pub(crate) fn write_part(
        &mut self,
        id: i64,
        part: (u64, u64),
        data: &[u8],
    ) -> Result<Vec<(u8, u64)>, String> {
        let payload = WriteChunked { tag: "Chunked", id, part, data };
        acks(&self.call("EventLog.WriteChunked", &encode(&payload).unwrap()))
    }

    pub(crate) fn changes(&mut self, identity: &Identity, store: &str, start: u64) -> RequestId {
        let payload = Changes { public_key: identity.public_key(), store_id: store, start_sequence: start };
        self.request("EventLog.Changes", &encode(&payload).unwrap())
    }

    pub(crate) fn ack(&mut self, id: &RequestId) {
        self.send(Envelope::Ack { id: id.clone() }.write());
    }

    /// The values hole of the stream's next Chunk, if there is one.
    pub(crate) fn chunk(&mut self, wanted: &RequestId) -> Option<Vec<u8>> {
        self.pump();
        self.take(|envelope| match envelope {
            Envelope::Chunk { values, id } if id == wanted => Some(values.to_vec()),
            _ => None,
        })
    }

    /// Takes and acknowledges Chunks until no more come; `took` is how long each takes.
    pub(crate) fn drain(&mut self, stream: &RequestId, took: impl Fn(usize) -> u64) -> Vec<Arrived> {
        let mut arrived = Vec::new();
        let mut parts: Vec<u8> = Vec::new();
        while let Some(values) = self.chunk(stream) {
            for item in decode::<NonEmpty<StreamItem<'_>>>(&values).unwrap().iter() {
                match item {
                    StreamItem::Single { data } => read_batches(data, &mut arrived),
                    StreamItem::Chunked { part: (index, total), data, .. } => {
                        parts.extend_from_slice(data);
                        if index + 1 == *total {
                            read_batches(&std::mem::take(&mut parts), &mut arrived);
                        }
                    }
                }
            }
            self.clock.0.fetch_add(took(values.len()), Ordering::Relaxed);
            self.ack(stream);
        }
        assert!(parts.is_empty(), "every message is complete");
        arrived
    }

    pub(crate) fn drain_at_once(&mut self, stream: &RequestId) -> Vec<Arrived> {
        self.drain(stream, |_| 0)
    }
}

fn read_batches(data: &[u8], arrived: &mut Vec<Arrived>) {
    for batch in decode::<NonEmpty<RemoteBatch<'_>>>(data).unwrap().iter() {
        let ids = batch.entry_ids.iter().map(|id| id[15]).collect();
        arrived.push((batch.sequence, ids, batch.encrypted_batch.len()));
    }
}

pub(crate) fn body_of_write(public_key: &str, store: &str, batches: &[Made<'_>]) -> Vec<u8> {
    let ids: Vec<Vec<[u8; 16]>> =
        batches.iter().map(|(ids, _)| ids.iter().map(|id| entry_id(*id)).collect()).collect();
    let sealed: Vec<Vec<u8>> = batches.iter().map(|(_, length)| vec![0xab; *length]).collect();
    let batches = ids.iter().zip(&sealed).map(|(ids, sealed)| EncryptedBatch {
        entry_ids: NonEmpty::new(ids.iter().map(|id| &id[..]).collect()).unwrap(),
        iv: &[1; 12],
        encrypted_batch: sealed,
    });
    encode(&WriteEntries { public_key, store_id: store, batches: batches.collect() }).unwrap()
}

fn entry_id(id: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[15] = id;
    bytes
}

fn acks(exit: &[u8]) -> Result<Vec<(u8, u64)>, String> {
    let wrong = failure(exit);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    // length, 20, success; the list is a frame of its own without them.
    let (header, body) = split(exit);
    assert_eq!(header, body.len());
    let list = [&[0x20][..], &body[2..]].concat();
    let mut frame = Vec::new();
    schema_binary::wire::put_sized(&mut frame, &list);
    Ok(decode::<Vec<Ack<'_>>>(&frame).unwrap().iter().map(|ack| (ack.entry_id[15], ack.sequence)).collect())
}

/// Empty for a success, else the code and message of the failure.
pub(crate) fn failure(exit: &[u8]) -> String {
    let (_, body) = split(exit);
    if body[1] == 0 {
        return String::new();
    }
    body[2..].iter().filter(|byte| (32..127).contains(*byte)).map(|byte| *byte as char).collect()
}

fn split(frame: &[u8]) -> (usize, &[u8]) {
    let mut reader = schema_binary::wire::Reader::new(frame);
    let length = reader.uvarint().unwrap() as usize;
    (length, reader.rest())
}

fn body(frame: &[u8]) -> &[u8] {
    split(frame).1
}
