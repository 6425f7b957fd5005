//! The state of one connection: bytes and events in, envelopes out (SV-010, rpc-wire section 5).
//!
//! No socket and no clock is touched here; a [`Connection`] runs the same in a server and in a test that owns
//! time.

mod auth;
mod changes;
mod cut;
mod echo;
mod operations;
mod outbox;
mod pace;
mod requests;
mod streams;
mod writes;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use logkeep_protocol::{
    AnswerForm, Envelope, FrameReader, FramingError, JoinLimits, Joining, PayloadMode, RequestId, defect,
    text_defect,
};

use self::auth::Challenge;
use self::changes::Changes;
use self::operations::Operation;
pub use self::outbox::{Close, Outbox};
use crate::mailbox::{Event, Mailbox};
use crate::service::Service;
use crate::spool::{Part, Spool};
use crate::storage::Millis;

/// One connection of a client.
pub struct Connection {
    service: Arc<Service>,
    mailbox: Arc<Mailbox>,
    frames: FrameReader,
    outbox: Outbox,
    challenge: Option<Challenge>,
    identities: Vec<Arc<str>>,
    /// Requests that are not answered yet.
    requests: HashMap<RequestId, Live>,
    operations: BTreeMap<u64, Operation>,
    streams: HashMap<u64, Changes>,
    joining: Joining<Part>,
    spool: Option<Spool>,
    parts_in_memory: usize,
    uploads_in_flight: usize,
    next_number: u64,
    /// The mode of the latest request; what concerns all requests is written in it.
    mode: PayloadMode,
    greeted: bool,
    /// Whether Eof was received.
    ending: bool,
    /// Whether the server is shutting down.
    leaving: bool,
}

/// A request that is not answered yet.
#[derive(Clone, Copy)]
struct Live {
    work: Work,
    form: AnswerForm,
}

/// What is done for a request.
#[derive(Clone, Copy)]
enum Work {
    /// A call whose answer comes with this operation.
    Call(u64),
    /// This stream.
    Stream(u64),
}

impl Connection {
    /// A fresh connection that reacts to the events of `mailbox`.
    pub fn new(service: Arc<Service>, mailbox: Arc<Mailbox>) -> Self {
        let limits = &service.limits;
        let frames = FrameReader::new(limits.envelope_before_login.min(limits.envelope));
        let joining = Joining::new(JoinLimits {
            open_messages: limits.open_messages,
            parts: limits.parts,
            message_bytes: limits.write,
        });
        Self {
            service,
            mailbox,
            frames,
            outbox: Outbox::default(),
            challenge: None,
            identities: Vec::new(),
            requests: HashMap::new(),
            operations: BTreeMap::new(),
            streams: HashMap::new(),
            joining,
            spool: None,
            parts_in_memory: 0,
            uploads_in_flight: 0,
            next_number: 0,
            mode: PayloadMode::default(),
            greeted: false,
            ending: false,
            leaving: false,
        }
    }

    /// What is to be sent.
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Whether an identity was authenticated.
    pub fn is_logged_in(&self) -> bool {
        !self.identities.is_empty()
    }

    /// Whether the beginning of an envelope waits for its end.
    pub fn is_receiving(&self) -> bool {
        self.frames.is_partial()
    }

    /// Whether more may be received now. While it may not, the peer is held back by the transport.
    pub fn wants_input(&self) -> bool {
        !self.leaving
            && self.uploads_in_flight <= self.service.limits.uploads_in_flight
            && !self.outbox.is_crowded()
    }

    /// Takes bytes from the peer, cut anywhere (WIRE-013).
    pub fn receive(&mut self, bytes: Bytes, now: Millis) {
        if self.outbox.is_closing() || bytes.is_empty() {
            return;
        }
        if !self.greeted && speaks_json(&bytes) {
            self.outbox.close(Close::UNSUPPORTED);
            return;
        }
        self.frames.push(bytes);
        while !self.outbox.is_closing() {
            match self.frames.next_frame() {
                Ok(Some(frame)) => self.envelope(&frame, now),
                Ok(None) => return,
                Err(error) => return self.unreadable(error),
            }
        }
    }

    /// Takes an event of the mailbox.
    pub fn handle(&mut self, event: Event, now: Millis) {
        match event {
            Event::Done { operation, outcome } => self.done(operation, outcome, now),
            Event::Published { stream, page } => self.published(stream, page, now),
            Event::Shutdown => {
                self.leaving = true;
                self.leave();
            }
            Event::Shed => self.outbox.close(Close::SHED),
        }
    }

    fn envelope(&mut self, frame: &Bytes, now: Millis) {
        match Envelope::read(frame) {
            Ok(envelope) => {
                self.greeted = true;
                self.dispatch(envelope, frame, now);
            }
            Err(error) => {
                self.frames.spend();
                self.defect(&defect(self.mode, &error.to_string()));
            }
        }
    }

    fn dispatch(&mut self, envelope: Envelope<'_>, frame: &Bytes, now: Millis) {
        match envelope {
            Envelope::Request(request) => self.request(&request, frame, now),
            Envelope::Ack { id } => self.acked(&id, now),
            Envelope::Interrupt { id } => self.interrupt(&id),
            Envelope::Ping => self.outbox.push_urgent(Envelope::Pong.write()),
            Envelope::Eof if self.requests.is_empty() => self.reset(),
            Envelope::Eof => self.ending = true,
            Envelope::Exit { .. } => self.unexpected("Exit"),
            Envelope::Defect { .. } => self.unexpected("Defect"),
            Envelope::Chunk { .. } => self.unexpected("Chunk"),
            Envelope::Pong => self.unexpected("Pong"),
        }
    }

    fn unexpected(&mut self, kind: &str) {
        let text = format!("Unknown request tag: {kind}");
        self.defect(&text_defect(self.mode, &text));
    }

    fn defect(&mut self, defect: &[u8]) {
        self.outbox.push(Envelope::Defect { defect }.write());
    }

    /// A frame that cannot be cut off the stream: only a new connection helps (WIRE-052).
    fn unreadable(&mut self, error: FramingError) {
        self.defect(&defect(self.mode, &error.to_string()));
        if let FramingError::TooLarge { .. } = error {
            self.outbox.close(Close::too_large(error.to_string()));
        }
    }

    /// Eof with nothing in flight: the client starts over (WIRE-077).
    fn reset(&mut self) {
        self.identities.clear();
        self.challenge = None;
        self.joining.clear();
    }

    /// Closes a connection of a server that shuts down, as soon as its writes are answered.
    fn leave(&mut self) {
        let writing = self.operations.values().any(|operation| operation.writes_to().is_some());
        if self.leaving && !writing {
            self.outbox.close(Close::GOING_AWAY);
        }
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        for (_, stream) in self.streams.drain() {
            self.service.hub.unsubscribe(&stream.subscription);
        }
    }
}

/// The first bytes of a client whose serialization is one of the JSON kinds (WIRE-003).
fn speaks_json(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    text.starts_with(b"{\"") || text.starts_with(b"[{") || text.starts_with(b"[]")
}
