//! SchemaBinary: values to bytes and back, small, fast, and open to change.
//!
//! The format is that of the module `SchemaBinary` of effect 4.1.0, byte for byte: Rust and TypeScript programs read each
//! other's frames. A frame holds one value of a schema that both sides know; it carries field ids instead of names, so that
//! fields can come and go, and nothing else about its schema.
//!
//! **Good for**: messages between programs that are not updated at the same moment, stored events that outlive the code that wrote
//! them, many rows of one struct, reading without copying.
//!
//! **Not for**: data whose schema the reader does not know; partial reads of huge values by offset; canonical bytes for signing
//! (readers accept several forms of one value); protection (there is no checksum).
//!
//! # The smallest example
//!
//! ```
//! use schema_binary::{Decode, Encode, Layout, decode, encode};
//!
//! #[derive(Layout, Encode, Decode, Debug, PartialEq)]
//! struct Person<'a> {
//!     name: &'a str,
//!     age: f64,
//! }
//!
//! let frame = encode(&Person { name: "Ada", age: 36.0 })?;
//! assert_eq!(frame.len(), 17);
//! let person: Person<'_> = decode(&frame)?; // `name` is part of `frame`
//! assert_eq!(person, Person { name: "Ada", age: 36.0 });
//! # Ok::<(), schema_binary::Error>(())
//! ```
//!
//! # Three ways in
//!
//! - **Derive** [`Layout`], [`Encode`] and [`Decode`] for types known at compile time, owned or borrowed. [`types`] lists what
//!   standard types become, and holds types for layouts that have none in the standard library.
//! - **[`dynamic`]**: schemas read from JSON descriptions at run time, with values of one type.
//! - **Borrowed**: fields of type `&str`, `&[u8]` and `Cow` point into the frame; [`types::Rows`] and [`types::Items`] read arrays
//!   element by element. Reading then allocates for string tables of rows only, not for fields.
//!
//! All three stand on one engine, which alone knows the rules of the format.
//!
//! # Attributes
//!
//! | on | attribute | meaning |
//! |---|---|---|
//! | field | `rename = "primaryKey"` | its name on the wire, from which its id is made |
//! | field | `id = 7` | its id itself; keeps data readable when a field is renamed |
//! | field | `optional` | an `Option` whose key may be absent |
//! | field | `undefined` | an `Option` whose key may be absent or hold undefined (`Schema.optional` in effect) |
//! | field | `nullable` | an `Option` that is a union with null; also with the two above, on `Option<Option<T>>` |
//! | field | `default` | its key may be absent; reading then gives `Default::default()` |
//! | field | `literal = "Ed25519"` | a field of type `()` that holds a fixed string, number or boolean |
//! | field | `rest` | a map of all keys that are not declared |
//! | struct | `tag = "Chunked"` | a field `_tag` with this text, which is left out where the struct is a variant of an enum |
//! | enum | `untagged` | variants hold one value each and are told apart by its kind |
//! | enum | `literals` | variants hold nothing and are literals: their names, or `rename`, or `literal` |
//! | variant | `rename = "set"` | its tag |
//! | variant | `untagged` | as on the enum, for one variant |
//! | variant | `literal = 2.5` | its literal |
//!
//! A plain `Option<T>` is effect's option type. Enums are unions of structs with a `_tag`; a variant holds named fields, or one struct,
//! whose fields it takes over. Structs with one unnamed field are written as that field. Types may be recursive through `Box` and
//! `Vec`.
//!
//! ```
//! use schema_binary::{Decode, Encode, Layout, decode, encode};
//!
//! #[derive(Layout, Encode, Decode, Debug, PartialEq)]
//! enum Shape {
//!     Circle { radius: f64 },
//!     Polygon { points: Vec<Point>, #[schema(optional)] label: Option<String> },
//! }
//!
//! #[derive(Layout, Encode, Decode, Debug, PartialEq)]
//! struct Point { x: f64, y: f64 }
//!
//! let shape = Shape::Polygon { points: vec![Point { x: 0.5, y: 1.0 }], label: None };
//! assert_eq!(decode::<Shape>(&encode(&shape)?)?, shape);
//! # Ok::<(), schema_binary::Error>(())
//! ```
//!
//! # Modes
//!
//! [`Mode::Default`] is made for change. [`Mode::Fingerprint`] is shorter: fields stand by position, and the frame carries a hash of
//! the layout that the reader compares; any difference is an error. [`Mode::Strict`] reads the bytes of the default mode and refuses what it
//! does not know. [`Codec`] holds a type in a mode; [`stream`] reads frames out of a stream that is cut anywhere.
//!
//! # Evolution
//!
//! In default mode a reader of another version understands:
//!
//! - an added optional field, a removed field, fields in another order;
//! - a field under another name, if its `id` is set to the old one;
//! - added members of a union: an older reader sees them as absent, which only a required field minds;
//! - a required field that becomes optional; an integer that becomes a number (in structs and records);
//! - a list that becomes non-empty or the other way round (not lists of numbers).
//!
//! It does not understand: an added required field; `T` that becomes nullable or another union; a struct that becomes a variant or gets another tag;
//! another type for a field of a row (rows carry no kinds); a row struct that grows beyond 30 fields while old rows share shapes; a narrower
//! set of literals.
//!
//! # Guarantees and limits
//!
//! - Writing is deterministic: the same value of the same type gives the same bytes, on every machine.
//! - Hostile input gives an [`Error`] with a code and the path to the place. Memory stays within a small multiple of the input's length and
//!   time within its order: no length or count is trusted before its bytes are there. Two kinds of value cost more than their bytes, and are bounded
//!   for a whole frame: 4,194,304 elements of null or undefined (in [`dynamic::Value`]s, 128 MiB), and 16 MiB plus 64 times the frame's length of
//!   owned text made by references (borrowed and shared text costs nothing).
//! - Values nest up to 512 levels, frames in frames included; JSON inside values up to another 512.
//! - Integers travel as floats do: up to 2^53 - 1 either way. Larger ones need [`types::BigInt`] or `i128`.
//! - Connection dictionaries (strings shared by all frames of a connection) are for [`dynamic`] schemas only.
//! - A derived struct that carries a tag, contains itself as a variant and is itself the root differs from the reference, which writes its fields in the
//!   order of their declaration inside; [`dynamic`] follows the reference.

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
pub use engine::field_id;
pub use error::{Code, Error, Step};
pub use frame::Mode;
pub use schema_binary_derive::{Decode, Encode, Layout};
pub use typed::{Decode, DecodeOwned, Encode, Layout};

// Derived code names this crate; so do the crate's own tests.
extern crate self as schema_binary;
