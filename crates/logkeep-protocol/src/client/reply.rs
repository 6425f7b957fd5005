//! How a call ended, as a client reads it (rpc-wire 3.3, 7.2).

use schema_binary::types::{Exit, Json, Never, Reason as WireReason};

use crate::answer::schema::{ANSWERS, Failure};
use crate::{Begun, HelloResponse, Malformed, ProtocolError, StageEnd, Status, WriteAck};

/// The end of a call that succeeds with a `T`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a, T> {
    /// It succeeded.
    Success(T),
    /// It failed, with the first reason given.
    Failure(Reason<'a>),
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason<'a> {
    /// A failure that is part of the protocol.
    Fail(ProtocolError<'a>),
    /// A defect of the server, as JSON.
    Die(&'a str),
    /// The call was interrupted.
    Interrupt,
    /// No reason was given, or one of an unknown kind.
    Unknown,
}

/// Reads the exit of a Hello.
///
/// # Errors
/// If it does not decode, or an id or challenge has another length than it must have.
pub fn read_hello(exit: &[u8]) -> Result<Reply<'_, HelloResponse<'_>>, Malformed> {
    Ok(Reply::of(ANSWERS.hello.read(exit)?, |never: Never| match never {}).map(HelloResponse::from))
}

/// Reads the exit of a call that has nothing to tell but success: an Authenticate, a stream, a
/// CompactionPart or CompactionAbort.
///
/// # Errors
/// If it does not decode.
pub fn read_void(exit: &[u8]) -> Result<Reply<'_, ()>, Malformed> {
    Ok(Reply::of(ANSWERS.void.read(exit)?, Reason::of))
}

/// Reads the exit of a write.
///
/// # Errors
/// If it does not decode, or an id is not 16 bytes long.
pub fn read_acks(exit: &[u8]) -> Result<Reply<'_, Vec<WriteAck>>, Malformed> {
    Ok(Reply::of(ANSWERS.read_acks.read(exit)?, Reason::of))
}

/// Reads the exit of a CompactionStatus.
///
/// # Errors
/// If it does not decode.
pub fn read_status(exit: &[u8]) -> Result<Reply<'_, Status>, Malformed> {
    Ok(Reply::of(ANSWERS.status.read(exit)?, Reason::of))
}

/// Reads the exit of a CompactionBegin.
///
/// # Errors
/// If it does not decode.
pub fn read_begun(exit: &[u8]) -> Result<Reply<'_, Begun<'_>>, Malformed> {
    Ok(Reply::of(ANSWERS.begin.read(exit)?, Reason::of))
}

/// Reads the exit of a CompactionCommit.
///
/// # Errors
/// If it does not decode.
pub fn read_stage_end(exit: &[u8]) -> Result<Reply<'_, StageEnd>, Malformed> {
    Ok(Reply::of(ANSWERS.commit.read(exit)?, Reason::of))
}

impl<'a, T> Reply<'a, T> {
    fn of<E>(exit: Exit<T, E, Json<'a>>, failure: impl FnOnce(E) -> Reason<'a>) -> Self {
        match exit {
            Exit::Success(value) => Self::Success(value),
            Exit::Failure(cause) => Self::Failure(match cause.0.into_iter().next() {
                Some(WireReason::Fail(error)) => failure(error),
                Some(WireReason::Die(defect)) => Reason::Die(defect.0),
                Some(WireReason::Interrupt(_)) => Reason::Interrupt,
                None => Reason::Unknown,
            }),
        }
    }

    fn map<U>(self, success: impl FnOnce(T) -> U) -> Reply<'a, U> {
        match self {
            Self::Success(value) => Reply::Success(success(value)),
            Self::Failure(reason) => Reply::Failure(reason),
        }
    }
}

impl<'a> Reason<'a> {
    fn of(failure: Failure<'a>) -> Self {
        Self::Fail(failure.into())
    }
}
