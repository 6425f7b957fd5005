//! Identities, sealed batches and session signatures of Logkeep.
//!
//! Everything here is compatible byte for byte with the event log of effect 4.1.0.
//! The crate performs no I/O: randomness and the memory of how often a key was used are
//! passed in, and batches are sealed as bytes, whatever those mean.
//!
//! - [`Identity`]: a public key string and a root secret, made, exported and imported.
//! - [`session`]: how a device proves to a server that it holds an identity.
//! - [`batch`]: sealing and opening batches of entries.
//! - [`cut`]: how a run of entries is cut into batches.
//! - [`seals`]: how often a key may seal.
//!
//! Secrets are wiped from memory when dropped, cannot be cloned, and never appear in `Debug`
//! output or in errors.

pub mod batch;
pub mod cut;
pub mod identity;
mod identity_string;
mod random;
pub mod seals;
pub mod session;
mod text;

pub use batch::{BatchKey, SealedBatch};
pub use identity::Identity;
pub use identity_string::IdentityStringError;
pub use random::{OsRandom, Random, RandomError};
pub use seals::{SealCounter, Sealer};
