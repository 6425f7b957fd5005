//! Identities, sealed batches and session signatures of Logkeep.
//!
//! Everything here is compatible byte for byte with the event log of effect 4.1.0.
//! The crate performs no I/O; randomness and the memory of how often a key was used
//! are passed in.
//!
//! - [`session`]: how a device proves to a server that it holds an identity.

pub mod session;
