//! From a request to its handler, and its one Exit (WIRE-070…084).

use bytes::Bytes;
use logkeep_protocol::{
    AnswerForm, Begun, Call, CompactionCall, Envelope, ErrorCode, Exit, HelloResponse, ProtocolError,
    Request, RequestId, Scope, ScopeRef,
};

use super::operations::Operation;
use super::{Close, Connection, Live, Work};
use crate::executor::Command;
use crate::storage::{FIRST_SEQUENCE, Millis};

/// Whom an answer goes to, and how it is to be written: nobody, if the client wants none.
#[derive(Debug, Clone)]
pub(super) struct Caller(Option<(RequestId, AnswerForm)>);

impl Connection {
    pub(super) fn request(&mut self, request: &Request<'_>, frame: &Bytes, now: Millis) {
        if self.ending {
            return self.outbox.close(Close::AFTER_EOF);
        }
        if self.requests.contains_key(&request.id) {
            return self.outbox.close(Close::REUSED_ID);
        }
        let form = request.answer_form();
        self.mode = form.mode;
        // A notification is never answered, a discarded request only when its handler starts.
        let caller = Caller(request.is_notification.is_none().then(|| (request.id.clone(), form)));
        match Call::read(request.tag, request.payload) {
            Ok(call) => self.call(call, request, caller, frame, now),
            Err(error) => self.answer(&caller, &Exit::Die(&error.to_string())),
        }
    }

    fn call(&mut self, call: Call<'_>, request: &Request<'_>, caller: Caller, frame: &Bytes, now: Millis) {
        if call.needs_identity() && self.identities.is_empty() {
            let error = ProtocolError::new(request.tag, ErrorCode::Forbidden, "Unauthenticated request");
            return self.answer(&caller, &Exit::Fail(error));
        }
        if self.requests.len() >= self.service.limits.requests {
            let message = format!("{} requests are in flight, which is the limit", self.requests.len());
            let error = ProtocolError::new(request.tag, ErrorCode::InvalidRequest, &message);
            return self.answer(&caller, &Exit::Fail(error));
        }
        let caller = if request.discard.is_some() {
            self.answer(&caller, &Exit::Void);
            Caller(None)
        } else {
            caller
        };
        match call {
            Call::Hello => self.hello(&caller, now),
            Call::Authenticate(login) => self.authenticate(&login, caller, now),
            Call::WriteSingle { data } => self.write_single(data, caller, frame),
            Call::WriteChunked(part) => self.write_chunked(&part, caller, frame),
            Call::Changes { scope, start_sequence } => self.open_stream(scope, start_sequence, caller, now),
            Call::Compaction { call, scope } => self.compaction(&call, scope, &caller),
        }
    }

    fn hello(&mut self, caller: &Caller, now: Millis) {
        let Some(challenge) = self.live_challenge(now) else {
            let message = "No randomness for a challenge";
            let error = ProtocolError::new("Hello", ErrorCode::InternalServerError, message);
            return self.answer(caller, &Exit::Fail(error));
        };
        let hello = HelloResponse {
            remote_id: self.service.remote_id,
            challenge: &challenge,
            first_sequence: FIRST_SEQUENCE,
            compaction: true,
        };
        self.answer(caller, &Exit::Hello(hello));
    }

    /// Snapshots are never wanted yet, so no stage can exist.
    fn compaction(&mut self, call: &CompactionCall<'_>, scope: ScopeRef<'_>, caller: &Caller) {
        if let Err(error) = self.check_scope(call.name(), scope) {
            return self.answer(caller, &Exit::Fail(error.in_scope(scope)));
        }
        match call {
            CompactionCall::Status => {
                let operation = Operation::Status { caller: caller.clone() };
                self.submit(operation, caller, Command::Head(owned(scope)));
            }
            CompactionCall::Begin => self.answer(caller, &Exit::Begun(Begun::NotWanted)),
            CompactionCall::Abort { .. } => self.answer(caller, &Exit::Void),
            _ => {
                let error =
                    ProtocolError::new(call.name(), ErrorCode::NotFound, "Compaction stage not found");
                self.answer(caller, &Exit::Fail(error.in_scope(scope)));
            }
        }
    }

    /// Refuses a scope of an identity that is not authenticated on this connection (SV-011).
    pub(super) fn check_scope<'a>(&self, tag: &'a str, scope: ScopeRef<'a>) -> Result<(), ProtocolError<'a>> {
        if self.identities.iter().any(|identity| **identity == *scope.public_key) {
            return Ok(());
        }
        let error = ProtocolError::new(tag, ErrorCode::Forbidden, "Identity is not authenticated");
        Err(error.of(scope.public_key))
    }

    /// Refuses a store id above the limit.
    pub(super) fn check_store(&self, scope: ScopeRef<'_>) -> Result<(), String> {
        let (length, limit) = (scope.store_id.len(), self.service.limits.store_id);
        if length > limit {
            return Err(format!("a store id of {length} bytes exceeds the limit of {limit} bytes"));
        }
        Ok(())
    }

    pub(super) fn answer(&mut self, caller: &Caller, exit: &Exit<'_>) {
        if let Some((id, form)) = &caller.0 {
            self.outbox.push(Envelope::Exit { id: id.clone(), exit: &exit.write(*form) }.write());
        }
    }

    /// Submits `command` and notes what its outcome is for.
    pub(super) fn submit(&mut self, operation: Operation, caller: &Caller, command: Command) {
        let number = self.number();
        self.enlist(caller, Work::Call(number));
        self.operations.insert(number, operation);
        let mailbox = self.mailbox.clone();
        self.service.executor.submit(
            command,
            Box::new(move |outcome| {
                mailbox.push(crate::mailbox::Event::Done { operation: number, outcome });
            }),
        );
    }

    /// Notes that the request of `caller` is being worked on.
    pub(super) fn enlist(&mut self, caller: &Caller, work: Work) {
        if let Some((id, form)) = &caller.0 {
            self.requests.insert(id.clone(), Live { work, form: *form });
        }
    }

    pub(super) fn interrupt(&mut self, id: &RequestId) {
        let Some(Live { work, form }) = self.requests.remove(id) else { return };
        match work {
            Work::Call(number) => {
                // The operation goes on; what it leads to must still be known, but nobody is told.
                if let Some(operation) = self.operations.get_mut(&number) {
                    operation.forget_caller();
                }
            }
            Work::Stream(number) => self.close_stream(number),
        }
        self.answer(&Caller(Some((id.clone(), form))), &Exit::Interrupted);
    }

    /// Ends a live call; its id is free again.
    pub(super) fn finish(&mut self, caller: &Caller, exit: &Exit<'_>) {
        if let Some((id, _)) = &caller.0 {
            self.requests.remove(id);
        }
        self.answer(caller, exit);
    }
}

impl Caller {
    pub(super) const fn nobody() -> Self {
        Self(None)
    }

    pub(super) const fn of(request: RequestId, form: AnswerForm) -> Self {
        Self(Some((request, form)))
    }

    /// The request to answer and the form of its answers.
    pub(super) const fn request(&self) -> Option<&(RequestId, AnswerForm)> {
        self.0.as_ref()
    }
}

pub(super) fn owned(scope: ScopeRef<'_>) -> Scope {
    Scope::new(scope.public_key, scope.store_id)
}
