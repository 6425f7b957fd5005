//! What a server answers: exits, their values and their failures (rpc-wire 3.3, 7.2).

use schema_binary::wire::{put_sized, put_uvarint};

use crate::fields::{framed, put_bytes, put_int, put_natural, put_number_region, put_region};
use crate::{EntryId, RemoteId, ScopeRef, field};

/// The answer to a Hello (SV-020).
#[derive(Debug, Clone, Copy)]
pub struct HelloResponse<'a> {
    /// The server's id.
    pub remote_id: RemoteId,
    /// What an Authenticate has to sign.
    pub challenge: &'a [u8; 32],
    /// The lowest sequence the server assigns.
    pub first_sequence: u64,
    /// Whether clients may build snapshots.
    pub compaction: bool,
}

/// Where an uploaded entry ended up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteAck {
    /// The entry.
    pub entry_id: EntryId,
    /// Its sequence in the store.
    pub sequence: u64,
}

/// What kind of failure a protocol error is; clients react to `Forbidden` and `NotFound` (SV-004).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the wire")]
pub enum ErrorCode {
    Unauthorized,
    Forbidden,
    NotFound,
    InvalidRequest,
    InternalServerError,
}

/// A failure that is part of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolError<'a> {
    /// The call it concerns: its full name from the authentication check, else its short one (7.5).
    pub request_tag: &'a str,
    /// The identity it concerns. Without one the field is written as undefined, as the reference does.
    pub public_key: Option<&'a str>,
    /// The store it concerns.
    pub store_id: Option<&'a str>,
    /// What kind it is.
    pub code: ErrorCode,
    /// What a person reads.
    pub message: &'a str,
}

impl<'a> ProtocolError<'a> {
    /// An error that names no identity.
    pub const fn new(request_tag: &'a str, code: ErrorCode, message: &'a str) -> Self {
        Self { request_tag, public_key: None, store_id: None, code, message }
    }

    /// The same error, naming the identity it concerns.
    pub const fn of(mut self, public_key: &'a str) -> Self {
        self.public_key = Some(public_key);
        self
    }

    /// The same error, naming the identity and store it concerns.
    pub const fn in_scope(mut self, scope: ScopeRef<'a>) -> Self {
        self.public_key = Some(scope.public_key);
        self.store_id = Some(scope.store_id);
        self
    }
}

/// How a call ended.
#[derive(Debug, Clone)]
pub enum Exit<'a> {
    /// Nothing to tell but success.
    Void,
    /// The answer to a Hello.
    Hello(HelloResponse<'a>),
    /// The answer to a write.
    Acks(&'a [WriteAck]),
    /// The answer to a CompactionStatus.
    Status {
        /// Whether a snapshot is wanted.
        wanted: bool,
        /// The highest assigned sequence; one less than the first if there is none.
        head: i64,
    },
    /// The answer to a CompactionBegin that does not start a stage.
    NotWanted,
    /// A failure of the protocol.
    Fail(ProtocolError<'a>),
    /// A defect with this text.
    Die(&'a str),
    /// The request was interrupted.
    Interrupted,
}

impl Exit<'_> {
    /// Writes the exit hole.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Void => framed(success),
            Self::Hello(hello) => framed(|out| {
                success(out);
                hello.write(out);
            }),
            Self::Acks(acks) => framed(|out| {
                success(out);
                write_acks(out, acks);
            }),
            Self::Status { wanted, head } => framed(|out| {
                success(out);
                put_uvarint(out, u64::from(field::HEAD) * 8 + 1);
                put_int(out, *head);
                put_uvarint(out, u64::from(field::WANTED) * 8 + if *wanted { 4 } else { 3 });
            }),
            Self::NotWanted => framed(|out| {
                success(out);
                out.extend_from_slice(&[0x0a, 0x57, 0x2a, 0x90, 0x1e]);
            }),
            Self::Fail(error) => failure(&{
                let mut reason = vec![0];
                error.write(&mut reason);
                reason
            }),
            Self::Die(text) => failure(&{
                let mut reason = vec![1];
                reason.extend_from_slice(json_text(text).as_bytes());
                reason
            }),
            Self::Interrupted => failure(&[2]),
        }
    }
}

/// The hole of a Defect: an error with a name and a message, as JSON (WIRE-042).
pub fn defect(message: &str) -> Vec<u8> {
    framed(|out| {
        out.extend_from_slice(br#"{"name":"SchemaError","message":"#);
        out.extend_from_slice(json_text(message).as_bytes());
        out.push(b'}');
    })
}

/// The hole of a Defect that is a text.
pub fn text_defect(text: &str) -> Vec<u8> {
    framed(|out| out.extend_from_slice(json_text(text).as_bytes()))
}

fn success(out: &mut Vec<u8>) {
    out.push(0);
}

fn failure(reason: &[u8]) -> Vec<u8> {
    framed(|out| {
        out.extend_from_slice(&[1, 1]);
        put_sized(out, reason);
    })
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl HelloResponse<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, field::CHALLENGE, self.challenge);
        if self.compaction {
            put_bytes(out, field::COMPACTION, &[1, 1]);
        }
        put_bytes(out, field::REMOTE_ID, &self.remote_id.0);
        if self.first_sequence > 0 {
            let mut number = vec![4];
            put_natural(&mut number, self.first_sequence);
            put_bytes(out, field::FIRST_SEQUENCE, &number);
        }
    }
}

impl ProtocolError<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0x0a, 0x69, 0x73, 0xbb, 0x46]);
        put_bytes(out, field::MESSAGE, self.message.as_bytes());
        if self.store_id.is_some() {
            put_text_or_undefined(out, field::STORE_ID, self.store_id);
        }
        put_bytes(out, field::REQUEST_TAG, self.request_tag.as_bytes());
        put_text_or_undefined(out, field::PUBLIC_KEY, self.public_key);
        put_bytes(out, field::CODE, self.code.name().as_bytes());
    }
}

impl ErrorCode {
    /// The code as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::InvalidRequest => "InvalidRequest",
            Self::InternalServerError => "InternalServerError",
        }
    }
}

/// A field that may hold undefined carries a union selector (WIRE-101).
fn put_text_or_undefined(out: &mut Vec<u8>, id: u32, text: Option<&str>) {
    let value = text.map_or(vec![3], |text| [&[5], text.as_bytes()].concat());
    put_bytes(out, id, &value);
}

/// A row run: the first row declares the shape, the others repeat it.
fn write_acks(out: &mut Vec<u8>, acks: &[WriteAck]) {
    put_uvarint(out, acks.len() as u64);
    let mut row = Vec::with_capacity(40);
    for (index, ack) in acks.iter().enumerate() {
        row.clear();
        put_uvarint(&mut row, u64::from(index > 0));
        if index == 0 {
            put_uvarint(&mut row, u64::from(field::SEQUENCE));
        }
        put_number_region(&mut row, ack.sequence);
        if index == 0 {
            put_uvarint(&mut row, u64::from(field::ENTRY_ID));
        }
        put_region(&mut row, &ack.entry_id.0);
        put_sized(out, &row);
    }
}
