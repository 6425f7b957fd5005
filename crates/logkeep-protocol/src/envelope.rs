//! RPC envelopes: one message of the connection each (WIRE-050, section 3.2).
//!
//! Payloads, stream values, exits and defects are *holes*: complete frames of their own that an envelope
//! carries as opaque bytes.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use schema_binary::{Codec, Decode, Encode, Layout, Mode};

use crate::{AnswerForm, Malformed};

static CODEC: LazyLock<Codec<Envelope<'static>>> = LazyLock::new(|| Codec::new(Mode::Fingerprint));

/// A message of a connection, borrowed from its frame.
#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
pub enum Envelope<'a> {
    /// Client to server: the last Chunk of this request was taken.
    Ack {
        /// The streaming request.
        #[schema(rename = "requestId")]
        id: RequestId,
    },
    /// Server to client: the request ended.
    Exit {
        /// The request it answers.
        #[schema(rename = "requestId")]
        id: RequestId,
        /// The hole with the exit.
        exit: &'a [u8],
    },
    /// Server to client: something failed that concerns all requests.
    Defect {
        /// The hole with the defect.
        defect: &'a [u8],
    },
    /// Client to server: are you there?
    Ping,
    /// Client to server: no more requests; socket clients never send it.
    Eof,
    /// Server to client: items of a stream.
    Chunk {
        /// The streaming request.
        #[schema(rename = "requestId")]
        id: RequestId,
        /// The hole with a non-empty array of items.
        values: &'a [u8],
    },
    /// Server to client: I am.
    Pong,
    /// A call.
    Request(Request<'a>),
    /// Client to server: the answer is no longer wanted.
    Interrupt {
        /// The request it concerns.
        #[schema(rename = "requestId")]
        id: RequestId,
    },
}

/// A call.
#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
pub struct Request<'a> {
    /// Chosen by the client, unique among its live requests.
    pub id: RequestId,
    /// The name of the call, for example `EventLog.Hello`.
    pub tag: &'a str,
    /// The hole with the payload.
    pub payload: &'a [u8],
    /// Names and values; the event log has none.
    pub headers: Vec<(&'a str, &'a str)>,
    /// Present if no answer is wanted at all.
    #[schema(undefined, rename = "isNotification")]
    pub is_notification: Option<Yes>,
    /// Present if only the start of the call is to be answered.
    #[schema(undefined)]
    pub discard: Option<Yes>,
    /// The trace the call belongs to.
    #[schema(undefined, rename = "traceId")]
    pub trace_id: Option<&'a str>,
    /// The span the call belongs to.
    #[schema(undefined, rename = "spanId")]
    pub span_id: Option<&'a str>,
    /// Whether the trace is recorded.
    #[schema(undefined)]
    pub sampled: Option<bool>,
}

/// A flag that is true or absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
#[schema(literals)]
pub enum Yes {
    /// It is set.
    #[schema(literal = true)]
    Yes,
}

/// The id of a request as its sender chose it. The number 30 and the text "30" are different ids.
#[derive(Debug, Clone, Layout, Encode, Decode)]
#[schema(untagged)]
pub enum RequestId {
    /// A number, mostly of a counter.
    Number(f64),
    /// Any text.
    Text(Box<str>),
}

impl RequestId {
    /// The id a client counts its requests with.
    pub fn number(n: u32) -> Self {
        Self::Number(n.into())
    }

    /// Tells ids apart: a number by its bits, so that each equals itself.
    fn key(&self) -> (u64, Option<&str>) {
        match self {
            Self::Number(number) => (number.to_bits(), None),
            Self::Text(text) => (0, Some(text)),
        }
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl<'a> Envelope<'a> {
    /// Reads the body of a frame: everything behind its length.
    ///
    /// # Errors
    /// If the peer speaks something else, or a field is malformed.
    pub fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        CODEC.decode_body(body).map_err(Malformed::envelope)
    }

    /// Writes the frame, length included.
    pub fn write(&self) -> Vec<u8> {
        // Nothing in an envelope is beyond the format: encoding cannot fail.
        CODEC.encode(self).unwrap_or_default()
    }
}

impl<'a> Request<'a> {
    /// A call that wants its answer, without headers and trace.
    pub fn new(id: RequestId, tag: &'a str, payload: &'a [u8]) -> Self {
        Self {
            id,
            tag,
            payload,
            headers: Vec::new(),
            is_notification: None,
            discard: None,
            trace_id: None,
            span_id: None,
            sampled: None,
        }
    }

    /// How the request is to be answered.
    pub fn answer_form(&self) -> AnswerForm {
        AnswerForm::of(self.tag, self.payload, self.discard.is_some())
    }
}
