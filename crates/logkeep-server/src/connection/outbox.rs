//! What waits to be sent to the peer.

use std::borrow::Cow;
use std::collections::VecDeque;

/// Above so many waiting bytes nothing more is read from the peer.
const CROWDED: usize = 1024 * 1024;

/// Why and how a connection is ended: a WebSocket close code (RFC 6455, 7.4) and a reason of at most 123
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// The close code.
    pub code: u16,
    /// What a person reads.
    pub reason: Cow<'static, str>,
}

impl Close {
    /// The server shuts down.
    pub const GOING_AWAY: Self = Self::new(1001, "the server is shutting down");
    /// A request used the id of a live one (WIRE-084).
    pub const REUSED_ID: Self = Self::new(1001, "a request used the id of a request still alive");
    /// A request came after the end of requests was announced (WIRE-077).
    pub const AFTER_EOF: Self = Self::new(1001, "a request came after Eof");
    /// The client speaks another serialization (WIRE-003).
    pub const UNSUPPORTED: Self =
        Self::new(1003, "this server speaks SchemaBinary, not JSON: use RpcSerialization.layerSchemaBinary");
    /// Too many connections are not logged in.
    pub const SHED: Self = Self::new(1013, "too many connections that are not logged in");
    /// The peer takes nothing.
    pub const STALLED: Self = Self::new(1008, "nothing was received for too long");

    const fn new(code: u16, reason: &'static str) -> Self {
        Self { code, reason: Cow::Borrowed(reason) }
    }

    /// Something exceeded a limit of the transport.
    pub fn too_large(reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        reason.truncate(reason.floor_char_boundary(120));
        Self { code: 1009, reason: reason.into() }
    }
}

/// Envelopes in the order they are sent, answers to Pings before all others.
#[derive(Debug, Default)]
pub struct Outbox {
    urgent: VecDeque<Vec<u8>>,
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    close: Option<Close>,
}

impl Outbox {
    pub(super) fn push(&mut self, frame: Vec<u8>) {
        self.bytes += frame.len();
        self.frames.push_back(frame);
    }

    /// Sends `frame` before everything that waits.
    pub fn push_urgent(&mut self, frame: Vec<u8>) {
        self.bytes += frame.len();
        self.urgent.push_back(frame);
    }

    /// Ends the connection once everything is sent.
    pub fn close(&mut self, close: Close) {
        self.close.get_or_insert(close);
    }

    /// Takes the next envelope to send.
    pub fn next_frame(&mut self) -> Option<Vec<u8>> {
        let frame = self.urgent.pop_front().or_else(|| self.frames.pop_front())?;
        self.bytes -= frame.len();
        if self.frames.is_empty() {
            self.frames = VecDeque::new();
        }
        Some(frame)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.frames.is_empty()
    }

    /// How the connection is to be ended, when everything has been sent.
    pub fn closing(&self) -> Option<&Close> {
        self.close.as_ref().filter(|_| self.is_empty())
    }

    pub(super) const fn is_closing(&self) -> bool {
        self.close.is_some()
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.bytes > CROWDED
    }
}
