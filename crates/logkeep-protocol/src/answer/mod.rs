//! What a server answers: exits, their values and their failures (rpc-wire 3.3, 7.2).

mod form;
pub(crate) mod schema;

use schema_binary::types::{Cause, Exit as WireExit, Json, Reason};
use schema_binary::{Decode, Encode, Layout};

pub(crate) use self::form::AnswerKind;
pub use self::form::{AnswerForm, defect, read_defect, text_defect};
use self::schema::{ANSWERS, Ended, Failure, Hello, Unfailing};
use crate::hole::PayloadMode;
use crate::{EntryId, Malformed, RemoteId, ScopeRef};

/// The answer to a Hello (SV-020).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
pub struct WriteAck {
    /// The entry.
    #[schema(rename = "entryId")]
    pub entry_id: EntryId,
    /// Its sequence in the store.
    pub sequence: u64,
}

/// The answer to a CompactionStatus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
pub struct Status {
    /// Whether a snapshot is wanted.
    pub wanted: bool,
    /// The highest assigned sequence; one less than the first if there is none.
    pub head: i64,
}

/// The answer to a CompactionBegin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
pub enum Begun<'a> {
    /// The client may build a snapshot.
    Started {
        /// In this stage.
        #[schema(rename = "stageId")]
        stage_id: &'a str,
    },
    /// Another client is at it.
    Busy,
    /// No snapshot is wanted.
    NotWanted,
}

/// The answer to a CompactionCommit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
#[schema(literals)]
pub enum StageEnd {
    /// The snapshot counts.
    Committed,
    /// Another one came first.
    Superseded,
}

/// What kind of failure a protocol error is; clients react to `Forbidden` and `NotFound` (SV-004).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
#[schema(literals)]
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
    Status(Status),
    /// The answer to a CompactionBegin.
    Begun(Begun<'a>),
    /// The answer to a CompactionCommit.
    StageEnd(StageEnd),
    /// A failure of the protocol. A call that has no failures of its own dies of it.
    Fail(ProtocolError<'a>),
    /// A defect with this text.
    Die(&'a str),
    /// The request was interrupted.
    Interrupted,
}

impl Exit<'_> {
    /// Writes the exit hole of a request that is to be answered in `form`. What cannot be written, such as the
    /// success of another call, becomes a defect that says so.
    pub fn write(&self, form: AnswerForm) -> Vec<u8> {
        let written = self.try_write(form);
        let defect = |error: Malformed| {
            let text = format!("Failed to encode the response: {error}");
            Exit::Die(&text).try_write(form)
        };
        written.or_else(defect).unwrap_or_default()
    }

    fn try_write(&self, form: AnswerForm) -> Result<Vec<u8>, Malformed> {
        let defect = &mut String::new();
        let (kind, mode) = (form.kind, form.mode);
        match kind {
            AnswerKind::Hello => {
                let hello = if let Self::Hello(hello) = self { Some(Hello::from(hello)) } else { None };
                ANSWERS.hello.write(mode, &self.unfailing(hello, defect))
            }
            AnswerKind::DiscardedHello => {
                ANSWERS.discarded_hello.write(mode, &self.unfailing(self.void(), defect))
            }
            AnswerKind::Void => ANSWERS.void.write(mode, &self.ended(self.void(), defect)),
            AnswerKind::Acks => {
                let acks = if let Self::Acks(acks) = self { Some(*acks) } else { None };
                ANSWERS.acks.write(mode, &self.ended(acks, defect))
            }
            AnswerKind::Status => {
                let status = if let Self::Status(status) = self { Some(*status) } else { None };
                ANSWERS.status.write(mode, &self.ended(status, defect))
            }
            AnswerKind::Begin => {
                let begun = if let Self::Begun(begun) = self { Some(*begun) } else { None };
                ANSWERS.begin.write(mode, &self.ended(begun, defect))
            }
            AnswerKind::Commit => {
                let end = if let Self::StageEnd(end) = self { Some(*end) } else { None };
                ANSWERS.commit.write(mode, &self.ended(end, defect))
            }
            AnswerKind::Unknown => ANSWERS.unknown.write(mode, &self.unfailing(None, defect)),
        }
    }

    fn void(&self) -> Option<()> {
        matches!(self, Self::Void).then_some(())
    }

    /// The exit of a call that succeeds with `success`.
    fn ended<'a, T>(&'a self, success: Option<T>, defect: &'a mut String) -> Ended<'a, T> {
        match (self, success) {
            (_, Some(value)) => WireExit::Success(value),
            (Self::Fail(error), None) => WireExit::Failure(Cause(vec![Reason::Fail(Failure::from(error))])),
            (_, None) => WireExit::Failure(Cause(vec![self.broken(defect)])),
        }
    }

    /// The exit of a call that has no failures of its own.
    fn unfailing<'a, T>(&self, success: Option<T>, defect: &'a mut String) -> Unfailing<'a, T> {
        match success {
            Some(value) => WireExit::Success(value),
            None => WireExit::Failure(Cause(vec![self.broken(defect)])),
        }
    }

    /// The reason that needs no error type; `defect` takes the text of a defect.
    fn broken<'a, E>(&self, defect: &'a mut String) -> Reason<E, Json<'a>> {
        if matches!(self, Self::Interrupted) {
            return Reason::Interrupt(None);
        }
        *defect = serde_json::Value::from(self.defect()).to_string();
        Reason::Die(Json(defect))
    }

    /// What is said if the exit has to be a defect.
    fn defect(&self) -> &str {
        match self {
            Self::Die(text) => text,
            Self::Fail(error) => error.message,
            _ => "the call does not end like this",
        }
    }
}
