//! The SchemaBinary format: values to bytes and back, with schema evolution.

pub mod wire;

mod error;

pub use error::{Code, Error};
