//! Answers as they are written (rpc-wire 3.3, 7.2).

use std::sync::LazyLock;

use schema_binary::types::{Exit, Json, Never, Undefined};
use schema_binary::{Decode, Encode, Layout};

use super::{Begun, ErrorCode, HelloResponse, ProtocolError, StageEnd, Status, WriteAck};
use crate::RemoteId;
use crate::envelope::Yes;
use crate::hole::Hole;

/// How a call that can fail ends.
pub(crate) type Ended<'a, T> = Exit<T, Failure<'a>, Json<'a>>;

/// How a call ends that has no failures of its own.
pub(crate) type Unfailing<'a, T> = Exit<T, Never, Json<'a>>;

/// The schemas of all answers (WIRE-041).
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) hello: Hole<Unfailing<'static, Hello<'static>>>,
    pub(crate) discarded_hello: Hole<Unfailing<'static, ()>>,
    pub(crate) void: Hole<Ended<'static, ()>>,
    /// As it is written; it is read as the next.
    pub(crate) acks: Hole<Ended<'static, &'static [WriteAck]>>,
    pub(crate) read_acks: Hole<Ended<'static, Vec<WriteAck>>>,
    pub(crate) status: Hole<Ended<'static, Status>>,
    pub(crate) begin: Hole<Ended<'static, Begun<'static>>>,
    pub(crate) commit: Hole<Ended<'static, StageEnd>>,
    pub(crate) unknown: Hole<Unfailing<'static, Never>>,
    pub(crate) defect: Hole<Json<'static>>,
}

pub(crate) static ANSWERS: LazyLock<Answers> = LazyLock::new(Answers::default);

/// A [`HelloResponse`].
#[derive(Debug, PartialEq, Layout, Encode, Decode)]
pub(crate) struct Hello<'a> {
    #[schema(rename = "remoteId")]
    remote_id: RemoteId,
    challenge: &'a [u8; 32],
    #[schema(undefined, rename = "firstSequence")]
    first_sequence: Option<u64>,
    #[schema(undefined)]
    compaction: Option<Yes>,
}

/// The failures of calls: a union of one.
#[derive(Debug, PartialEq, Layout, Encode, Decode)]
pub(crate) enum Failure<'a> {
    #[schema(rename = "EventLogProtocolError")]
    Protocol(ProtocolFailure<'a>),
}

/// A [`ProtocolError`]. A field can be undefined, which the reference writes, or absent.
#[derive(Debug, PartialEq, Layout, Encode, Decode)]
pub(crate) struct ProtocolFailure<'a> {
    #[schema(rename = "requestTag")]
    request_tag: &'a str,
    #[schema(optional, rename = "publicKey")]
    public_key: Option<Undefined<&'a str>>,
    #[schema(optional, rename = "storeId")]
    store_id: Option<Undefined<&'a str>>,
    code: ErrorCode,
    message: &'a str,
}

impl<'a> From<&HelloResponse<'a>> for Hello<'a> {
    fn from(hello: &HelloResponse<'a>) -> Self {
        Self {
            remote_id: hello.remote_id,
            challenge: hello.challenge,
            first_sequence: (hello.first_sequence > 0).then_some(hello.first_sequence),
            compaction: hello.compaction.then_some(Yes::Yes),
        }
    }
}

impl<'a> From<Hello<'a>> for HelloResponse<'a> {
    fn from(hello: Hello<'a>) -> Self {
        Self {
            remote_id: hello.remote_id,
            challenge: hello.challenge,
            first_sequence: hello.first_sequence.unwrap_or(0),
            compaction: hello.compaction.is_some(),
        }
    }
}

impl<'a> From<&ProtocolError<'a>> for Failure<'a> {
    fn from(error: &ProtocolError<'a>) -> Self {
        Self::Protocol(ProtocolFailure {
            request_tag: error.request_tag,
            public_key: Some(error.public_key.into()),
            store_id: error.store_id.map(Undefined::Value),
            code: error.code,
            message: error.message,
        })
    }
}

impl<'a> From<Failure<'a>> for ProtocolError<'a> {
    fn from(Failure::Protocol(failure): Failure<'a>) -> Self {
        Self {
            request_tag: failure.request_tag,
            public_key: failure.public_key.and_then(Option::from),
            store_id: failure.store_id.and_then(Option::from),
            code: failure.code,
            message: failure.message,
        }
    }
}
