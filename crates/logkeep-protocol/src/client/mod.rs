//! The device's half: writing uploads, reading answers and streams.

mod received;
mod reply;
mod write_entries;

pub use received::{Received, RemoteBatch, read_items, read_remote_batches};
pub use reply::{Reason, Reply, read_acks, read_begun, read_hello, read_stage_end, read_status, read_void};
pub use write_entries::{SealedEntries, write_entries};
