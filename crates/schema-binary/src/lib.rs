//! The SchemaBinary format: values to bytes and back, with schema evolution.

pub mod dictionary;
pub mod dynamic;
#[doc(hidden)]
pub mod engine;
pub mod layout;
pub mod stream;
pub mod wire;

mod error;
mod frame;

pub use error::{Code, Error, Step};
pub use frame::Mode;
