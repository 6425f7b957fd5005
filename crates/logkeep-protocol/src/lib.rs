//! What travels between a Logkeep device and its server, without I/O.
//!
//! The protocol is that of the event log of effect 4.1.0: RPC envelopes in fingerprint mode of SchemaBinary,
//! with calls and answers as default-mode frames inside. This crate reads and writes bytes; sockets, clocks
//! and storage belong to its users.

mod answer;
mod call;
mod client;
mod entry;
mod envelope;
mod field;
mod fields;
mod framing;
mod ids;
mod joining;
mod large_message;
mod large_upload;
mod malformed;
mod scope;
mod stream;
mod upload;

pub use answer::{ErrorCode, Exit, HelloResponse, ProtocolError, WriteAck, defect, text_defect};
pub use call::{Authenticate, Call, CallError, Chunked, CompactionCall, ScopeRef};
pub use client::{
    Reason, Received, RemoteBatch, Reply, SealedEntries, Status, read_entries, read_items,
    read_remote_batches, read_status, write_entries, write_entries_plaintext,
};
pub use entry::Entry;
pub use envelope::{Envelope, Request, RequestId};
pub use framing::{FrameReader, FramingError, MAX_ENVELOPE};
pub use ids::{EntryId, RemoteId};
pub use joining::{JoinError, JoinLimits, Joined, Joining};
pub use large_message::LargeMessage;
pub use large_upload::{LargeUpload, UploadSource};
pub use malformed::Malformed;
pub use scope::Scope;
pub use stream::{Item, MAX_PART, batch_list, stored_row, write_chunk};
pub use upload::{Batch, Upload, UploadError};
