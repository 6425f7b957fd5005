//! The change streams of a connection: opening, feeding and ending them.

use std::sync::Arc;

use bytes::Bytes;
use logkeep_protocol::{ErrorCode, Exit, ProtocolError, RequestId, ScopeRef};

use super::changes::{Changes, Step};
use super::operations::Operation;
use super::requests::{Caller, owned};
use super::{Connection, Live, Work};
use crate::executor::Command;
use crate::storage::{Millis, Page, StorageError};

impl Connection {
    pub(super) fn open_stream(
        &mut self,
        scope: ScopeRef<'_>,
        start_sequence: u64,
        caller: Caller,
        now: Millis,
    ) {
        if let Err(error) = self.check_scope("Changes", scope) {
            return self.answer(&caller, &Exit::Fail(error));
        }
        if let Err(message) = self.check_store(scope).and_then(|()| self.check_streams()) {
            let error = ProtocolError::new("Changes", ErrorCode::InvalidRequest, &message);
            return self.answer(&caller, &Exit::Fail(error.of(scope.public_key)));
        }
        // A stream nobody can acknowledge delivers nothing.
        let Some((request, form)) = caller.request().cloned() else { return };
        let number = self.number();
        let scope = owned(scope);
        let subscription = self.service.hub.subscribe(scope.clone(), Arc::clone(&self.mailbox), number);
        self.enlist(&caller, Work::Stream(number));
        self.streams.insert(number, Changes::new(request, form, scope, subscription, start_sequence, now));
        self.advance(number, now);
    }

    fn check_streams(&self) -> Result<(), String> {
        let limit = self.service.limits.streams;
        if self.streams.len() >= limit {
            return Err(format!("{limit} change streams are open on this connection, which is the limit"));
        }
        Ok(())
    }

    pub(super) fn acked(&mut self, id: &RequestId, now: Millis) {
        let Some(Live { work: Work::Stream(number), .. }) = self.requests.get(id).copied() else { return };
        let Some(stream) = self.streams.get_mut(&number) else { return };
        if stream.acked(now) {
            self.advance(number, now);
        }
    }

    pub(super) fn published(&mut self, number: u64, page: Option<Arc<Page>>, now: Millis) {
        let barrier = self.number();
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.published(page, barrier, now);
            self.advance(number, now);
        }
    }

    pub(super) fn page_read(&mut self, number: u64, page: Result<Page, StorageError>, now: Millis) {
        let barrier = self.number();
        let Some(stream) = self.streams.get_mut(&number) else { return };
        match page {
            Ok(page) => {
                stream.supply(Arc::new(page), barrier);
                stream.keep_or_forget(&self.service);
                self.advance(number, now);
            }
            Err(error) => self.fail_stream(number, &error),
        }
    }

    pub(super) fn slice_read(&mut self, number: u64, slice: Result<Bytes, StorageError>, now: Millis) {
        let Some(stream) = self.streams.get_mut(&number) else { return };
        match slice {
            Ok(slice) => {
                stream.supply_slice(slice);
                self.advance(number, now);
            }
            Err(error) => self.fail_stream(number, &error),
        }
    }

    /// Lets a stream go on until it has to wait.
    pub(super) fn advance(&mut self, number: u64, now: Millis) {
        let ceiling = self.service.chunk_ceiling();
        loop {
            let room = self.service.memory.room();
            let Some(stream) = self.streams.get_mut(&number) else { return };
            let mut writes = self.operations.iter();
            let oldest_write = writes.find(|(_, operation)| operation.writes_to() == Some(&stream.scope));
            let oldest_write = oldest_write.map(|(operation, _)| *operation);
            match stream.advance(oldest_write, ceiling, room, now) {
                Ok(Step::Send(chunk)) => {
                    stream.sent(&self.service, chunk.len());
                    self.outbox.push(chunk);
                }
                Ok(Step::Read { from, budget }) => {
                    let command = Command::Page { scope: stream.scope.clone(), from, budget };
                    self.submit(Operation::Page { stream: number }, &Caller::nobody(), command);
                }
                Ok(Step::Slice { last, offset, length }) => {
                    let command = Command::Slice { scope: stream.scope.clone(), last, offset, length };
                    self.submit(Operation::Slice { stream: number }, &Caller::nobody(), command);
                }
                Ok(Step::Arm { after }) => self.service.hub.arm(&stream.subscription, after),
                Ok(Step::Wait) => return,
                Err(error) => return self.fail_stream(number, &error),
            }
        }
    }

    /// The wire hides the cause, as the reference does; the log has it (SV-W18).
    fn fail_stream(&mut self, number: u64, error: &dyn std::fmt::Display) {
        tracing::error!(%error, "a change stream failed");
        let Some(stream) = self.streams.get(&number) else { return };
        let caller = Caller::of(stream.request.clone(), stream.form);
        let scope = stream.scope.clone();
        self.close_stream(number);
        let error = ProtocolError::new("Changes", ErrorCode::InternalServerError, "Decoding failure");
        self.finish(&caller, &Exit::Fail(error.of(&scope.public_key)));
    }

    pub(super) fn close_stream(&mut self, number: u64) {
        if let Some(stream) = self.streams.remove(&number) {
            self.service.hub.unsubscribe(&stream.subscription);
        }
    }
}
