//! The journal's contract, tested from outside; see the module of each part.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::cloned_ref_to_slice_refs)]

mod common;
mod effect;
mod file;
mod ids;
mod import;
mod progress;
mod query;
mod write;
