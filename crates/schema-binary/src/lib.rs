//! The SchemaBinary format: values to bytes and back, with schema evolution.

pub mod dictionary;
pub mod dynamic;
#[doc(hidden)]
pub mod engine;
pub mod layout;
pub mod stream;
pub mod types;
pub mod wire;

mod codec;
mod error;
mod frame;
mod typed;

pub use codec::{Codec, decode, encode};
pub use error::{Code, Error, Step};
pub use frame::Mode;
pub use schema_binary_derive::{Decode, Encode, Layout};
pub use typed::{Decode, DecodeOwned, Encode, Layout};

// Derived code names this crate; so do the crate's own tests.
extern crate self as schema_binary;
