//! Sync against a real server and against servers that lie.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod crash;
mod device;
mod exchange;
mod hostile;
mod liar;
mod server;
