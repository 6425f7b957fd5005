//! Layouts of standard types, and types for layouts that have none.
//!
//! | type | layout |
//! |---|---|
//! | `bool` | boolean |
//! | `f64`, `f32` | number |
//! | `i8` … `i64`, `u16` … `u64`, `usize` | int; reading checks the range |
//! | `String`, `&str`, `Cow<str>`, `Box<str>`, `Arc<str>` | string |
//! | `Vec<u8>`, `&[u8]`, `Cow<[u8]>`, `[u8; N]` | bytes (`N` is checked); `u8` alone has no layout |
//! | `i128`, [`BigInt`] | bigint |
//! | `()` | undefined |
//! | `Vec<T>`, `Box<[T]>`, `&[T]`, [`NonEmpty<T>`], [`Rows<T>`], [`Items<T>`] | array |
//! | tuples of up to six | tuple |
//! | `BTreeMap<K, V>`, `HashMap<K, V>` with text keys | record |
//! | `Option<T>`, `Result<T, E>`, [`Exit`], [`Cause`], [`Reason`] | option, result, exit, cause, causeReason |
//! | [`Nullable<T>`], [`Undefined<T>`] | a union of `T` with null or undefined |
//! | [`Date`], [`DateTimeUtc`], [`Zoned`](crate::dynamic::Zoned) | date, dateTimeUtc, dateTimeZoned |
//! | `std::time::Duration`, [`Duration`](crate::dynamic::Duration), [`BigDecimal`](crate::dynamic::BigDecimal) | duration, bigDecimal |
//! | [`Symbol`], [`Frame<T>`], [`Json`], [`Value`](crate::dynamic::Value) | symbol, codec, json |
//! | [`Never`] | never |
//! | `Box<T>`, `&T` | that of `T` |

mod array;
mod bytes;
mod exit;
mod frame;
mod items;
mod map;
mod never;
mod number;
mod option;
mod row_stream;
mod rows;
mod text;
mod time;
mod tuple;
mod value;

pub use array::NonEmpty;
pub use exit::{Cause, Exit, Reason};
pub use frame::Frame;
pub use items::{Items, ItemsIter};
#[doc(hidden)]
pub use map::{Record, SortedEntries, read_entry};
pub use never::Never;
pub use num_bigint::BigInt;
pub use option::{Nullable, Undefined};
pub use row_stream::RowStream;
pub use rows::{Rows, RowsIter};
pub use text::Symbol;
pub use time::{Date, DateTimeUtc};
pub use value::Json;

use crate::engine::{
    Decoder, Encoder, Intern, Kinds, ReadTable, Scalar, Selector, Selectors, Slot, WriteTable,
};
use crate::layout::{Builder, NodeId};
use crate::{Decode, Encode, Error, Layout};

/// Implements [`Layout`] and [`Encode`] for a pointer by what it points to.
macro_rules! encode_as_target {
    ($($pointer:ty),*) => {$(
        impl<T: Layout + ?Sized> Layout for $pointer {
            const SLOT: Slot = T::SLOT;
            const KINDS: Kinds = T::KINDS;
            const INTERN: Intern = T::INTERN;
            const UNION_KIND: u8 = T::UNION_KIND;

            fn node(builder: &mut Builder) -> NodeId {
                T::node(builder)
            }

            fn members(builder: &mut Builder) -> Vec<(Selector, NodeId)> {
                T::members(builder)
            }

            fn selectors(each: &mut dyn FnMut(Selector)) {
                T::selectors(each);
            }
        }

        impl<T: Encode + ?Sized> Encode for $pointer {
            #[inline]
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                (**self).encode(encoder)
            }

            #[inline]
            fn length(&self) -> Option<usize> {
                (**self).length()
            }

            #[inline]
            fn scalar(&self) -> Result<Scalar, Error> {
                (**self).scalar()
            }

            #[inline]
            fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
                (**self).encode_region(table, encoder)
            }

            fn encode_elements<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
            where
                Self: 'v,
                I: Iterator<Item = &'v Self> + Clone,
            {
                T::encode_elements(items.map(|item| &**item), encoder)
            }

            fn encode_items<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
            where
                Self: 'v,
                I: Iterator<Item = &'v Self> + Clone,
            {
                T::encode_items(items.map(|item| &**item), encoder)
            }

            fn encode_member(&self, union: Selectors, encoder: &mut Encoder) -> Result<(), Error> {
                (**self).encode_member(union, encoder)
            }
        }
    )*};
}

encode_as_target!(&T, Box<T>);

impl<'de, T: Decode<'de>> Decode<'de> for Box<T> {
    #[inline]
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        T::decode(decoder).map(Self::new)
    }

    #[inline]
    fn decode_in(region: &'de [u8], decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        T::decode_in(region, decoder).map(Self::new)
    }

    #[inline]
    fn decode_tagged(kind: u8, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        T::decode_tagged(kind, decoder).map(Self::new)
    }

    #[inline]
    fn decode_region(table: &mut ReadTable<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        T::decode_region(table, decoder).map(Self::new)
    }

    fn decode_elements(
        count: usize,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        T::decode_elements(count, decoder, &mut |item| push(Self::new(item)))
    }

    fn decode_items(
        count: usize,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        T::decode_items(count, decoder, &mut |item| push(Self::new(item)))
    }

    fn decode_interned(
        count: usize,
        table: &mut ReadTable<'de>,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        T::decode_interned(count, table, decoder, &mut |item| push(Self::new(item)))
    }

    fn decode_member(selector: Selector, decoder: &mut Decoder<'de>) -> Result<Option<Self>, Error> {
        Ok(T::decode_member(selector, decoder)?.map(Self::new))
    }
}
