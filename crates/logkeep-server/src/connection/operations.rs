//! Storage commands under way, and what their outcomes lead to.

use logkeep_protocol::{ErrorCode, Exit, ProtocolError, Scope, Status};

use super::Connection;
use super::auth::Login;
use super::requests::Caller;
use super::writes::PendingWrite;
use crate::executor::Outcome;
use crate::storage::{Millis, StorageError};

/// Why a storage command was submitted.
pub(super) enum Operation {
    /// Look up the key bound to an identity that wants to log in.
    Lookup { caller: Caller, login: Login },
    /// Bind the key of an identity whose signature is right.
    Bind { caller: Caller, login: Login },
    /// Store a write.
    Write { caller: Caller, write: PendingWrite },
    /// Answer a CompactionStatus.
    Status { caller: Caller },
    /// Read a page for a stream.
    Page { stream: u64 },
    /// Read a slice of a large batch for a stream.
    Slice { stream: u64 },
}

impl Operation {
    /// Nobody waits for the outcome any more.
    pub(super) fn forget_caller(&mut self) {
        match self {
            Self::Lookup { caller, .. }
            | Self::Bind { caller, .. }
            | Self::Write { caller, .. }
            | Self::Status { caller } => *caller = Caller::nobody(),
            Self::Page { .. } | Self::Slice { .. } => {}
        }
    }

    /// The store that a write under way goes to.
    pub(super) const fn writes_to(&self) -> Option<&Scope> {
        match self {
            Self::Write { write, .. } => Some(&write.scope),
            _ => None,
        }
    }
}

impl Connection {
    pub(super) fn done(&mut self, number: u64, outcome: Outcome, now: Millis) {
        match (self.operations.remove(&number), outcome) {
            (Some(Operation::Lookup { caller, login }), Outcome::Binding(result)) => {
                self.looked_up(caller, login, result);
            }
            (Some(Operation::Bind { caller, login }), Outcome::Bound(result)) => {
                self.bound(&caller, &login, result);
            }
            (Some(Operation::Write { caller, write }), Outcome::Written(result)) => {
                self.written(&caller, write, result, now);
            }
            (Some(Operation::Status { caller }), Outcome::Head(result)) => self.status(&caller, result),
            (Some(Operation::Page { stream }), Outcome::Page(result)) => {
                self.page_read(stream, result, now);
            }
            (Some(Operation::Slice { stream }), Outcome::Slice(result)) => {
                self.slice_read(stream, result, now);
            }
            // An outcome nobody waits for, or not of its command's kind, which no executor makes.
            _ => {}
        }
    }

    fn status(&mut self, caller: &Caller, head: Result<u64, StorageError>) {
        match head {
            Ok(head) => {
                self.finish(caller, &Exit::Status(Status { wanted: false, head: head as i64 }));
            }
            Err(error) => {
                tracing::error!(%error, "cannot read the head of a store");
                let message = "Persistence failure";
                let error = ProtocolError::new("CompactionStatus", ErrorCode::InternalServerError, message);
                self.finish(caller, &Exit::Fail(error));
            }
        }
    }
}
