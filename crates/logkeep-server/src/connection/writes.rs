//! WriteSingle and WriteChunked: from bytes to stored batches and acks (SV-030…048).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use logkeep_protocol::{
    Batch, Chunked, EntryId, ErrorCode, Exit, Joined, LargeUpload, Malformed, ProtocolError, Scope, ScopeRef,
    Upload, UploadError, UploadSource, WriteAck,
};

use super::Connection;
use super::operations::Operation;
use super::requests::{Caller, owned};
use crate::executor::Command;
use crate::spool::{Part, Spool, SpooledMessage};
use crate::storage::{self, Millis, Placed, StorageError, Write, Written};

/// Messages above this are stored slice by slice from the spool file.
const IN_MEMORY: u64 = 4 * 1024 * 1024;

/// The bytes of one ack in an answer, at most.
const ACK_BYTES: usize = 32;

/// What is needed when a write is answered.
pub(super) struct PendingWrite {
    pub(super) scope: Scope,
    /// The streams that were open when the write began (SV-057).
    streams: Vec<u64>,
    /// The entry ids of each batch, in request order and in their wire form. An upload adds them as its
    /// batches are read.
    entry_ids: Arc<Mutex<Vec<Bytes>>>,
    /// Bytes that count against what may be in flight.
    bytes: usize,
}

impl Connection {
    pub(super) fn write_single(&mut self, data: &[u8], caller: Caller, frame: &Bytes) {
        let data = frame.slice_ref(data);
        self.write(&data, &caller);
    }

    pub(super) fn write_chunked(&mut self, part: &Chunked<'_>, caller: Caller, frame: &Bytes) {
        let Chunked { id, index, total, data } = *part;
        if !self.joining.wants(id, index) {
            return self.answer(&caller, &Exit::Acks(&[]));
        }
        if let Err(error) = self.joining.admit(id, total, data.len()) {
            self.release_parts();
            return self.refuse_write(&caller, None, ErrorCode::InvalidRequest, &error.to_string());
        }
        let kept = match self.keep(data, frame) {
            Ok(kept) => kept,
            Err(error) => {
                tracing::error!(%error, "cannot keep a part of an upload on disk");
                return self.persistence_failure(&caller, None);
            }
        };
        match self.joining.add(id, index, total, data.len(), kept) {
            Joined::Kept | Joined::Repeated => self.answer(&caller, &Exit::Acks(&[])),
            Joined::Complete(parts) => self.complete(parts, &caller),
        }
    }

    /// Keeps a part in memory while there is room, else on disk.
    fn keep(&mut self, data: &[u8], frame: &Bytes) -> std::io::Result<Part> {
        let limits = &self.service.limits;
        if self.parts_in_memory + data.len() <= limits.parts_in_memory {
            self.parts_in_memory += data.len();
            return Ok(Part::Memory(frame.slice_ref(data)));
        }
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => self.spool.insert(Spool::create(self.service.spool_directory.as_deref(), limits.write)?),
        };
        Ok(Part::Spooled { offset: spool.append(data)?, length: data.len() })
    }

    fn complete(&mut self, parts: Vec<Part>, caller: &Caller) {
        let message = SpooledMessage::new(parts, self.spool.as_ref());
        self.release_parts();
        if message.len() > IN_MEMORY {
            return self.upload(message, caller);
        }
        match message.read_all() {
            Ok(data) => self.write(&data, caller),
            Err(error) => {
                tracing::error!(%error, "cannot read back a part of an upload");
                self.persistence_failure(caller, None);
            }
        }
    }

    /// Gives back the memory and the file of parts that no open message has any more.
    fn release_parts(&mut self) {
        self.parts_in_memory = self.joining.kept().map(Part::memory).sum();
        if self.joining.is_empty() {
            self.spool = None;
        }
    }

    pub(super) fn drop_parts(&mut self) {
        self.joining.clear();
        self.release_parts();
    }

    fn write(&mut self, data: &Bytes, caller: &Caller) {
        let upload = match Upload::read(data) {
            Ok(upload) => upload,
            Err(error) => return self.undecodable(caller, &error),
        };
        let scope = upload.scope;
        let batches = match upload.batches(data) {
            Ok(batches) => batches,
            Err(UploadError::Malformed(error)) => return self.undecodable(caller, &error),
            Err(error) => {
                return self.refuse_write(caller, Some(scope), ErrorCode::InvalidRequest, &error.to_string());
            }
        };
        if !self.may_write(scope, caller) {
            return;
        }
        if batches.is_empty() {
            return self.answer(caller, &Exit::Acks(&[]));
        }
        let entry_ids = batches.iter().map(|batch| batch.entry_ids.clone()).collect();
        let bytes = data.len();
        let write = Write { scope: owned(scope), batches };
        self.begin_write(owned(scope), Arc::new(Mutex::new(entry_ids)), bytes, caller, Command::Write(write));
    }

    fn upload(&mut self, message: SpooledMessage, caller: &Caller) {
        let upload = match LargeUpload::read(message) {
            Ok(upload) => upload,
            Err(error) => return self.undecodable(caller, &error),
        };
        let (public_key, store_id) = (upload.public_key().to_owned(), upload.store_id().to_owned());
        let scope = ScopeRef { public_key: &public_key, store_id: &store_id };
        if !self.may_write(scope, caller) {
            return;
        }
        if upload.is_empty() {
            return self.answer(caller, &Exit::Acks(&[]));
        }
        let answered_ids = self.service.limits.acks / ACK_BYTES;
        let entry_ids = Arc::new(Mutex::new(Vec::new()));
        let batches = Box::new(note_ids(upload, Arc::clone(&entry_ids), answered_ids));
        let command = Command::Upload(storage::Upload { scope: owned(scope), batches, answered_ids });
        self.begin_write(owned(scope), entry_ids, 0, caller, command);
    }

    fn may_write(&mut self, scope: ScopeRef<'_>, caller: &Caller) -> bool {
        if let Err(error) = self.check_scope("WriteEntries", scope) {
            self.answer(caller, &Exit::Fail(error));
            return false;
        }
        if let Err(message) = self.check_store(scope) {
            self.refuse_write(caller, Some(scope), ErrorCode::InvalidRequest, &message);
            return false;
        }
        true
    }

    fn begin_write(
        &mut self,
        scope: Scope,
        entry_ids: Arc<Mutex<Vec<Bytes>>>,
        bytes: usize,
        caller: &Caller,
        command: Command,
    ) {
        let streams = self.streams.iter().filter(|(_, stream)| stream.scope == scope);
        let streams = streams.map(|(number, _)| *number).collect();
        self.uploads_in_flight += bytes;
        let write = PendingWrite { scope, streams, entry_ids, bytes };
        self.submit(Operation::Write { caller: caller.clone(), write }, caller, command);
    }

    pub(super) fn written(
        &mut self,
        caller: &Caller,
        write: PendingWrite,
        result: Result<Written, StorageError>,
        now: Millis,
    ) {
        self.uploads_in_flight -= write.bytes;
        match result {
            Ok(written) => {
                self.withhold(&write, &written);
                let acks = write.acks(&written, self.service.limits.acks / ACK_BYTES);
                self.finish(caller, &Exit::Acks(&acks));
            }
            Err(StorageError::Refused(reason)) => {
                let scope = ScopeRef { public_key: &write.scope.public_key, store_id: &write.scope.store };
                self.refuse_write(caller, Some(scope), ErrorCode::InvalidRequest, &reason);
            }
            Err(error) => {
                tracing::error!(%error, "a write failed");
                let scope = ScopeRef { public_key: &write.scope.public_key, store_id: &write.scope.store };
                self.persistence_failure(caller, Some(scope));
            }
        }
        // Pages may have waited for this write, in streams opened after it began as well.
        let streams = self.streams.iter().filter(|(_, stream)| stream.scope == write.scope);
        let streams: Vec<u64> = streams.map(|(number, _)| *number).collect();
        for stream in streams {
            self.advance(stream, now);
        }
        self.leave();
    }

    /// Notes for the streams that were open what they must not send back.
    fn withhold(&mut self, write: &PendingWrite, written: &Written) {
        for number in &write.streams {
            let Some(stream) = self.streams.get_mut(number) else { continue };
            let position = stream.cursor;
            for (first, last) in PendingWrite::sequences(written) {
                stream.own.add(first, last, position);
            }
        }
    }

    fn undecodable(&mut self, caller: &Caller, error: &Malformed) {
        tracing::debug!(%error, "an upload does not decode");
        self.refuse_write(caller, None, ErrorCode::InternalServerError, "Decoding failure");
    }

    fn persistence_failure(&mut self, caller: &Caller, scope: Option<ScopeRef<'_>>) {
        self.refuse_write(caller, scope, ErrorCode::InternalServerError, "Persistence failure");
    }

    fn refuse_write(&mut self, caller: &Caller, scope: Option<ScopeRef<'_>>, code: ErrorCode, message: &str) {
        let error = ProtocolError::new("WriteEntries", code, message);
        let error = scope.map_or(error.clone(), |scope| error.of(scope.public_key));
        self.finish(caller, &Exit::Fail(error));
    }
}

impl PendingWrite {
    /// Where the entries of the write are stored, as ranges of sequences. What one write adds to a store is
    /// contiguous and ends at the head it leaves.
    fn sequences(written: &Written) -> impl Iterator<Item = (u64, u64)> {
        let new = written.placed.iter().find_map(|placed| match placed {
            Placed::Stored { first } => Some((*first, written.head)),
            Placed::Known { .. } => None,
        });
        let known = written.placed.iter().flat_map(|placed| match placed {
            Placed::Known { sequences } => sequences.as_slice(),
            Placed::Stored { .. } => &[],
        });
        new.into_iter().chain(known.flatten().map(|sequence| (*sequence, *sequence)))
    }

    /// The acks in request order, the first `limit` of them (SV-046).
    fn acks(&self, written: &Written, limit: usize) -> Vec<WriteAck> {
        let entry_ids = self.entry_ids.lock().unwrap_or_else(PoisonError::into_inner);
        let batches = entry_ids.iter().zip(&written.placed);
        let acks = batches.flat_map(|(ids, placed)| {
            ids_of(ids).enumerate().filter_map(move |(position, entry_id)| {
                let sequence = match placed {
                    Placed::Stored { first } => Some(first + position as u64),
                    Placed::Known { sequences } => sequences.get(position).copied().flatten(),
                };
                sequence.map(|sequence| WriteAck { entry_id, sequence })
            })
        });
        acks.take(limit).collect()
    }
}

/// Notes the entry ids of the batches as they are read, until `limit` ids are known.
fn note_ids(
    batches: impl Iterator<Item = std::io::Result<Batch>> + Send,
    noted: Arc<Mutex<Vec<Bytes>>>,
    limit: usize,
) -> impl Iterator<Item = std::io::Result<Batch>> + Send {
    let mut ids = 0;
    batches.inspect(move |batch| {
        if let Ok(batch) = batch
            && ids < limit
        {
            ids += batch.count as usize;
            // A slice of the batch would keep all of it in memory.
            let copy = Bytes::copy_from_slice(&batch.entry_ids);
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        }
    })
}

/// The ids in the wire value of `entryIds`: behind the count, each `10` and 16 bytes.
fn ids_of(wire: &Bytes) -> impl Iterator<Item = EntryId> {
    let count = wire.len() / 17;
    let ids = wire.get(wire.len() - count * 17..).unwrap_or_default();
    ids.chunks_exact(17).filter_map(|id| Some(EntryId(id.get(1..)?.try_into().ok()?)))
}
