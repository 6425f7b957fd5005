//! What travels between a Logkeep device and its server, without I/O.

mod ids;
mod scope;

pub use ids::{EntryId, RemoteId};
pub use scope::Scope;
