//! A device's side of Logkeep: what happened here, kept in SQLite and carried to other devices
//! through a server that cannot read it.
//!
//! - [`journal`]: the durable list of entries and how far each remote has got.
//! - [`sync`]: the exchange with a server.
//! - [`ids`]: where entry ids come from.
//! - [`Clock`] and `logkeep_crypto::Random` are passed in, so that whole fleets can run in one
//!   deterministic test.

pub mod clock;
mod entry;
pub mod ids;
pub mod journal;
pub mod sync;

pub use clock::{Clock, SystemClock};
pub use entry::{NewEntry, RemoteEntry};
pub use journal::{Journal, JournalError};
pub use logkeep_crypto::Identity;
pub use logkeep_protocol::{Entry, EntryId, RemoteId, Scope};
pub use rusqlite;
