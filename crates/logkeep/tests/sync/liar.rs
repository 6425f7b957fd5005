//! A server that keeps to the protocol in every way but one.
#![allow(unreachable_pub)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use logkeep::sync::link::{BoxFuture, Connector, Link, LinkEnd, LinkError, link};
use logkeep::{Entry, EntryId, Identity, RemoteId};
use logkeep_crypto::{OsRandom, SealCounter, Sealer};
use logkeep_protocol::{
    AnswerForm, Batch, Call, Envelope, Exit, FrameReader, HelloResponse, Item, MAX_ENVELOPE, RequestId,
    SealedEntries, Status, Upload, WriteAck, batch_list, stored_row, write_chunk, write_entries,
    write_entries_plaintext,
};
use tokio::sync::mpsc;

/// What the server does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    Nothing,
    /// Every message comes twice.
    Repeat,
    /// Messages come in the opposite order.
    Reverse,
    /// The third batch lost its last byte.
    Truncate,
    /// The third batch lists its ids in the opposite order.
    Relabel,
    /// Uploads are acknowledged with ids of nobody and sequences far ahead, and not stored.
    FalseAcks,
    /// Every connection says another remote id.
    ChangeId,
    /// From the second connection on there is less in the store.
    GoBack,
    /// Chunks come without waiting for an acknowledgement.
    Flood,
    /// Instead of a Chunk, bytes without sense.
    Garbage,
    /// A Chunk whose items make no sense.
    BadItems,
    /// A frame that announces more than anybody may send.
    HugeFrame,
    /// Nothing is ever answered.
    Silent,
    /// A part of a message comes again and again, the last one never.
    EndlessParts,
    /// Writes are refused.
    RefuseWrites,
    /// A defect in answer to everything.
    Defect,
}

pub struct Liar {
    lie: Lie,
    batches: Mutex<Vec<Batch>>,
    connections: AtomicU32,
    address: String,
}

struct Uncounted;

impl SealCounter for Uncounted {
    fn reserve(&mut self, _: u64) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        Ok(0)
    }
}

/// A batch of entries as a device uploads it, in the form in which a server keeps it.
pub fn sealed(identity: &Identity, store: &str, entries: &[Entry]) -> Batch {
    let mut sealer = Sealer::new(identity.batch_key(), Arc::new(OsRandom), Box::new(Uncounted));
    let entry_ids: Vec<EntryId> = entries.iter().map(|entry| entry.id).collect();
    let ids: Vec<[u8; 16]> = entry_ids.iter().map(|id| id.0).collect();
    let sealed = sealer.seal(store, &ids, write_entries_plaintext(entries)).unwrap();
    let batch = SealedEntries { entry_ids, iv: sealed.iv, encrypted: sealed.ciphertext };
    let scope = logkeep_protocol::ScopeRef { public_key: "", store_id: "" };
    let frame = Bytes::from(write_entries(scope, &[batch]));
    Upload::read(&frame).unwrap().batches(&frame).unwrap().remove(0)
}

impl Liar {
    pub fn new(lie: Lie, batches: Vec<Batch>) -> Arc<Self> {
        let address = format!("lie://{lie:?}");
        Arc::new(Self { lie, batches: Mutex::new(batches), connections: AtomicU32::new(0), address })
    }

    pub fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }

    /// The entries uploaded or given, by their number.
    pub fn held(&self) -> u64 {
        self.batches.lock().unwrap().iter().map(|batch| u64::from(batch.count)).sum()
    }

    fn remote_id(&self) -> RemoteId {
        RemoteId(if self.lie == Lie::ChangeId { [self.connections() as u8; 16] } else { [0xee; 16] })
    }
}

/// The liar as something to connect to.
pub struct ToLiar(pub Arc<Liar>);

impl Connector for ToLiar {
    fn connect(&self) -> BoxFuture<'_, Result<Link, LinkError>> {
        let number = self.0.connections.fetch_add(1, Ordering::SeqCst);
        let (link, end) = link();
        if number > 0 && self.0.lie == Lie::GoBack {
            self.0.batches.lock().unwrap().truncate(1);
        }
        tokio::spawn(serve(self.0.clone(), end));
        Box::pin(async { Ok(link) })
    }

    fn address(&self) -> &str {
        &self.0.address
    }
}

type Replies = mpsc::Sender<Result<Bytes, LinkError>>;

async fn serve(liar: Arc<Liar>, end: LinkEnd) {
    let LinkEnd { incoming, mut outgoing, traffic } = end;
    let mut frames = FrameReader::new(MAX_ENVELOPE);
    let mut stream = None;
    while let Some(message) = outgoing.recv().await {
        frames.push(message);
        while let Some(frame) = frames.next_frame().unwrap() {
            if liar.lie == Lie::Silent {
                continue;
            }
            traffic.received.fetch_add(1, Ordering::SeqCst);
            match Envelope::read(&frame).unwrap() {
                Envelope::Request(request) => {
                    let call = Call::read(request.tag, request.payload).unwrap();
                    let to = (request.id.clone(), request.answer_form());
                    answer(&liar, &incoming, to, call, &mut stream).await;
                }
                Envelope::Ack { .. } => next_chunk(&liar, &incoming, &mut stream).await,
                Envelope::Ping => send(&incoming, Envelope::Pong.write()).await,
                _ => {}
            }
        }
    }
}

/// What is still to be sent on the open stream.
type Open = Option<(To, Vec<Vec<u8>>)>;

async fn send(replies: &Replies, bytes: Vec<u8>) {
    let _ = replies.send(Ok(bytes.into())).await;
}

/// Whom an answer goes to, and how it is written.
type To = (RequestId, AnswerForm);

async fn exit(replies: &Replies, (id, form): To, exit: Exit<'_>) {
    send(replies, Envelope::Exit { id, exit: &exit.write(form) }.write()).await;
}

async fn answer(liar: &Liar, replies: &Replies, to: To, call: Call<'_>, stream: &mut Open) {
    match call {
        Call::Hello => {
            let challenge = &[5; 32];
            let hello =
                HelloResponse { remote_id: liar.remote_id(), challenge, first_sequence: 1, compaction: true };
            exit(replies, to, Exit::Hello(hello)).await;
        }
        Call::Authenticate(_) if liar.lie == Lie::Defect => {
            send(replies, Envelope::Defect { defect: &logkeep_protocol::defect(to.1.mode, "no") }.write())
                .await;
        }
        Call::Authenticate(_) => exit(replies, to, Exit::Void).await,
        Call::Compaction { .. } => {
            let head = liar.held() as i64;
            exit(replies, to, Exit::Status(Status { wanted: false, head })).await;
        }
        Call::WriteSingle { data } => write(liar, replies, to, data).await,
        Call::Changes { start_sequence, .. } => {
            let messages = messages(liar, start_sequence);
            *stream = Some((to, messages));
            next_chunk(liar, replies, stream).await;
        }
        other => panic!("{other:?}"),
    }
}

async fn write(liar: &Liar, replies: &Replies, to: To, data: &[u8]) {
    if liar.lie == Lie::RefuseWrites {
        let code = logkeep_protocol::ErrorCode::InvalidRequest;
        let error = logkeep_protocol::ProtocolError::new("WriteEntries", code, "the store is full");
        return exit(replies, to, Exit::Fail(error)).await;
    }
    let frame = Bytes::copy_from_slice(data);
    let uploaded = Upload::read(&frame).unwrap().batches(&frame).unwrap();
    let mut sequence = liar.held();
    let mut acks = Vec::new();
    for batch in uploaded {
        for id in batch.entry_ids[1..].chunks(17) {
            sequence += 1;
            acks.push(WriteAck { entry_id: EntryId(id[1..].try_into().unwrap()), sequence });
        }
        if liar.lie != Lie::FalseAcks {
            liar.batches.lock().unwrap().push(batch);
        }
    }
    if liar.lie == Lie::FalseAcks {
        acks.iter_mut()
            .for_each(|ack| *ack = WriteAck { entry_id: EntryId([9; 16]), sequence: ack.sequence + 1000 });
    }
    exit(replies, to, Exit::Acks(&acks)).await;
}

/// One message for each batch from a sequence on.
fn messages(liar: &Liar, start: u64) -> Vec<Vec<u8>> {
    let mut sequence = 1;
    let mut messages = Vec::new();
    for (at, batch) in liar.batches.lock().unwrap().iter().enumerate() {
        let first = sequence;
        sequence += u64::from(batch.count);
        if sequence <= start {
            continue;
        }
        let mut batch = batch.clone();
        if at == 2 {
            spoil(liar.lie, &mut batch);
        }
        let mut row = Vec::new();
        stored_row(&mut row, first, &batch.sealed, &batch.entry_ids);
        let item = batch_list(&[&row], 1).unwrap();
        messages.push([&item.head[..], &item.body.concat()].concat());
    }
    match liar.lie {
        Lie::Repeat => messages.iter().flat_map(|message| [message.clone(), message.clone()]).collect(),
        Lie::Reverse => messages.into_iter().rev().collect(),
        _ => messages,
    }
}

fn spoil(lie: Lie, batch: &mut Batch) {
    match lie {
        // Without its last byte, the ciphertext is one shorter than its length says; so is that.
        Lie::Truncate => {
            let mut sealed = batch.sealed.to_vec();
            let last = sealed.len() - 1;
            sealed[last] ^= 0xff;
            batch.sealed = sealed.into();
        }
        Lie::Relabel => {
            let ids: Vec<u8> = batch.entry_ids[1..].chunks(17).rev().flatten().copied().collect();
            batch.entry_ids = [&batch.entry_ids[..1], &ids].concat().into();
        }
        _ => {}
    }
}

async fn next_chunk(liar: &Liar, replies: &Replies, stream: &mut Open) {
    let Some(((id, form), messages)) = stream else { return };
    match liar.lie {
        Lie::Garbage => return send(replies, vec![5, 0xff, 0, 1, 2, 3]).await,
        Lie::HugeFrame => return send(replies, vec![0xff, 0xff, 0xff, 0xff, 0x0f]).await,
        Lie::BadItems => {
            return send(replies, Envelope::Chunk { values: &[3, 0x20, 1, 9], id: id.clone() }.write()).await;
        }
        Lie::EndlessParts => {
            let item = Item { part: Some((1, 0, 4096)), head: vec![7; 400_000], body: vec![] };
            return send(replies, write_chunk(id, form.mode, &[item]).unwrap()).await;
        }
        _ => {}
    }
    while !messages.is_empty() {
        let message = messages.remove(0);
        let item = Item { part: None, head: message, body: vec![] };
        send(replies, write_chunk(id, form.mode, &[item]).unwrap()).await;
        if liar.lie != Lie::Flood {
            return;
        }
    }
}
