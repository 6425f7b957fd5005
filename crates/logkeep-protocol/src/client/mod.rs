//! The device's half: writing calls, reading answers, streams and the plaintext of batches.

mod ask;
mod entries;
mod received;
mod reply;
mod rows;
mod write_entries;

pub use entries::{read_entries, write_entries_plaintext};
pub use received::{Received, RemoteBatch, read_items, read_remote_batches};
pub use reply::{Reason, Reply, Status, read_status};
pub use write_entries::{SealedEntries, write_entries};
