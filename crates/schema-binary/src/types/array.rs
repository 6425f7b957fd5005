//! Arrays.

use std::ops::Deref;

use crate::engine::{ArrayRules, Decoder, Encoder, Intern, ReadTable, Slot, WriteTable, read_count};
use crate::layout::{Builder, NodeId};
use crate::typed::plain_region;
use crate::{Code, Decode, Encode, Error, Layout};

impl<T: Layout> Layout for [T] {
    const INTERN: Intern = match T::INTERN {
        Intern::Text => Intern::Items,
        _ => Intern::None,
    };
    const UNION_KIND: u8 = 11;

    fn node(builder: &mut Builder) -> NodeId {
        let item = T::node(builder);
        builder.array(item)
    }
}

impl<T: Encode> Encode for [T] {
    #[inline]
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.uvarint(self.len() as u64);
        T::encode_items(self.iter(), encoder)
    }

    #[inline]
    fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.region(|encoder| {
            if Self::INTERN != Intern::Items {
                return self.encode(encoder);
            }
            encoder.uvarint(self.len() as u64);
            T::encode_interned(self.iter(), table, encoder)
        })
    }
}

impl<T: Layout> Layout for Vec<T> {
    const INTERN: Intern = <[T]>::INTERN;
    const UNION_KIND: u8 = 11;

    fn node(builder: &mut Builder) -> NodeId {
        <[T]>::node(builder)
    }
}

impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        (**self).encode(encoder)
    }

    #[inline]
    fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
        (**self).encode_region(table, encoder)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let (count, mut items) = start::<T>(decoder, 0)?;
        T::decode_items(count, decoder, &mut |item| items.push(item))?;
        Ok(items)
    }

    fn decode_region(table: &mut ReadTable<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let region = plain_region(&mut decoder.reader)?;
        decoder.value_in(region, |decoder| {
            if Self::INTERN != Intern::Items {
                return Self::decode(decoder);
            }
            let (count, mut items) = start::<T>(decoder, 0)?;
            T::decode_interned(count, table, decoder, &mut |item| items.push(item))?;
            Ok(items)
        })
    }
}

/// Reads a count, and makes room for no more elements than there can be bytes for.
fn start<T: Layout>(decoder: &mut Decoder<'_>, min: usize) -> Result<(usize, Vec<T>), Error> {
    let zero_width = T::SLOT == Slot::Empty;
    let count = read_count(decoder, ArrayRules { min, max: None, zero_width })?;
    let room = count.min(decoder.reader.remaining() / size_of::<T>().max(1));
    Ok((count, Vec::with_capacity(room)))
}

impl<'de, T: Decode<'de>> Decode<'de> for Box<[T]> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Vec::decode(decoder).map(Vec::into_boxed_slice)
    }

    fn decode_region(table: &mut ReadTable<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Vec::decode_region(table, decoder).map(Vec::into_boxed_slice)
    }
}

/// An array of at least one element.
///
/// On the wire it is the same as a plain array of structs, bytes, integers and most others, but not of numbers, and
/// not of strings in a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NonEmpty<T>(Vec<T>);

impl<T> NonEmpty<T> {
    /// An array of these elements, if there are any.
    pub fn new(items: Vec<T>) -> Option<Self> {
        if items.is_empty() { None } else { Some(Self(items)) }
    }

    /// The elements.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for NonEmpty<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Layout> Layout for NonEmpty<T> {
    const UNION_KIND: u8 = 11;

    fn node(builder: &mut Builder) -> NodeId {
        let item = T::node(builder);
        builder.non_empty_array(item)
    }
}

impl<T: Encode> Encode for NonEmpty<T> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        if self.0.is_empty() {
            return Err(Error::from(Code::MissingKey).at(0));
        }
        encoder.uvarint(self.0.len() as u64);
        T::encode_elements(self.0.iter(), encoder)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for NonEmpty<T> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let (count, mut items) = start::<T>(decoder, 1)?;
        T::decode_elements(count, decoder, &mut |item| items.push(item))?;
        Ok(Self(items))
    }
}
