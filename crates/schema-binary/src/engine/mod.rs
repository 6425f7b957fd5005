//! The rules of the format, written once for derived types and for schemas known only at run time.
//!
//! Whoever owns the values implements [`StructSink`], [`StructSource`] and their kin; the engine owns
//! tags, presence, duplicates, row shapes, string tables, extra keys, selectors, depth and limits.
//! The module is public for the code that the derive macros generate. It is not a stable interface.

mod array;
mod decoder;
mod derived;
mod encoder;
mod extras;
mod field;
mod literal;
mod rows_read;
mod rows_write;
mod struct_read;
mod struct_write;
mod text;
mod union;

pub use array::{ArrayRules, read_count, read_numbers, write_numbers};
pub use decoder::{Decoder, MAX_DEPTH};
pub use derived::{DerivedFields, ReadStruct, WriteStruct};
pub use encoder::{Encoder, Scalar};
pub use extras::{Entries, EntryFate, Key};
pub use field::{FieldInfo, Fields, Intern, Kinds, Slot, field_id, kind};
pub use literal::LiteralValue;
pub use rows_read::{RowReader, RowShapes};
pub use rows_write::RowWriter;
pub use struct_read::{ReadForm, StructSink, read_struct, row_field};
pub use struct_write::{RowFields, StructSource, WriteForm, write_struct};
pub use text::{FromText, ReadTable, Str, WriteTable};
pub use union::{Selector, Selectors, TAG_START, distinct, sentinel_hash};
