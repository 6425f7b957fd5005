//! The Logkeep sync server: stores ciphertext, streams changes.

pub mod connection;
pub mod environment;
pub mod executor;
pub mod health;
pub mod hub;
pub mod limits;
pub mod mailbox;
pub mod memory;
pub mod net;
pub mod service;
pub mod spool;
pub mod storage;
