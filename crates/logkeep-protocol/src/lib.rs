//! What travels between a Logkeep device and its server, without I/O.
//!
//! The protocol is that of the event log of effect 4.1.0: RPC envelopes in fingerprint mode of SchemaBinary, with
//! calls and answers as frames of their own inside, in default mode or fingerprint mode. This crate reads and writes
//! bytes; sockets, clocks and storage belong to its users.

mod answer;
mod call;
mod chunked;
mod client;
mod entry;
mod envelope;
mod framing;
mod hole;
mod ids;
mod item;
mod joining;
mod large_message;
mod large_upload;
mod malformed;
#[cfg(test)]
mod recorded;
mod scope;
mod splice;
mod stage;
mod stream;
mod upload;

pub use answer::{
    AnswerForm, Begun, ErrorCode, Exit, HelloResponse, ProtocolError, StageEnd, Status, WriteAck, defect,
    read_defect, text_defect,
};
pub use call::{Algorithm, Authenticate, Call, CallError, CompactionCall, ScopeRef, StageResult};
pub use chunked::Chunked;
pub use client::{
    Reason, Received, RemoteBatch, Reply, SealedEntries, read_acks, read_begun, read_hello, read_items,
    read_remote_batches, read_stage_end, read_status, read_void, write_entries,
};
pub use entry::{Entry, read_entries, write_entries_plaintext};
pub use envelope::{Envelope, Request, RequestId, Yes};
pub use framing::{FrameReader, FramingError, MAX_ENVELOPE};
pub use hole::PayloadMode;
pub use ids::{EntryId, RemoteId};
pub use joining::{JoinError, JoinLimits, Joined, Joining};
pub use large_message::LargeMessage;
pub use large_upload::{LargeUpload, UploadSource};
pub use malformed::Malformed;
pub use scope::Scope;
pub use stage::{InputHeader, read_input_headers, read_segment, write_input_headers, write_segment};
pub use stream::{Item, MAX_PART, batch_list, stored_row, write_chunk};
pub use upload::{Batch, Upload, UploadError};
