//! The Logkeep sync server: stores ciphertext, streams changes.

pub mod storage;
