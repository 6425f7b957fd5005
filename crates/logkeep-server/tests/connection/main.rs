//! Connections without sockets and threads: bytes in, envelopes out, time turned by the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod client;
mod fleet;
mod limits;
mod login;
mod streams;
mod writes;
