//! Schemas and values that are known at run time only.
//!
//! A [`Schema`] is read from a JSON description, a [`Value`] holds what it describes:
//!
//! ```
//! use schema_binary::{Mode, dynamic::{Schema, Value}};
//!
//! let schema = Schema::parse(r#"{"type":"struct","fields":{"name":{"type":"string"},"age":{"type":"number"}}}"#)?;
//! let value = schema.decode(b"\x10\x20\xe1\x99\xa9\x90\x16\x48\xb0\xde\xb7\xce\x46\x03Ada", Mode::Default)?;
//! let Value::Object(person) = &value else { unreachable!() };
//! assert_eq!(person.get("name"), Some(&Value::from("Ada")));
//! assert_eq!(schema.encode(&value, Mode::Default)?.len(), 17);
//! # Ok::<(), schema_binary::Error>(())
//! ```

mod codec;
mod decode;
mod decode_array;
mod encode;
mod encode_array;
mod encode_object;
pub mod json;
mod leaf;
pub mod notation;
mod schema;
mod text;
mod validate;
mod value;
mod zone;

pub use codec::{Codec, Connection};
pub(crate) use leaf::{decode_leaf, encode_leaf};
pub use schema::Schema;
pub use text::Text;
pub use value::{BigDecimal, Duration, Object, Reason, Value, Zone, Zoned};
