//! Strings.

use std::borrow::Cow;
use std::sync::Arc;

use crate::dictionary::StringSlot;
use crate::engine::{Decoder, Encoder, FromText, Intern, ReadTable, Str, WriteTable};
use crate::layout::{Builder, Node, NodeId};
use crate::wire::Reader;
use crate::{Decode, Encode, Error, Layout};

impl Layout for str {
    const INTERN: Intern = Intern::Text;
    const UNION_KIND: u8 = 5;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::String(StringSlot::PLAIN))
    }
}

impl Encode for str {
    #[inline]
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.bytes(self.as_bytes());
        Ok(())
    }

    #[inline]
    fn length(&self) -> Option<usize> {
        Some(self.len())
    }

    #[inline]
    fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
        if let Some(place) = table.find_or_add(self.as_bytes()) {
            encoder.uvarint(2 * place as u64 + 1);
            return Ok(());
        }
        encoder.uvarint(2 * self.len() as u64);
        self.encode(encoder)
    }
}

impl<'de: 'a, 'a> FromText<'de> for &'a str {
    #[inline]
    fn from_text(text: &mut Str<'de>, _: &mut Decoder<'de>) -> Result<Self, Error> {
        text.borrowed()
    }
}

impl<'de: 'a, 'a> FromText<'de> for Cow<'a, str> {
    #[inline]
    fn from_text(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match text {
            Str::Borrowed(text) => Ok(Cow::Borrowed(text)),
            Str::Shared(text) => decoder.repeat(text).map(Cow::Owned),
        }
    }
}

impl<'de> FromText<'de> for String {
    #[inline]
    fn from_text(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match text {
            Str::Borrowed(text) => Ok((*text).to_owned()),
            Str::Shared(text) => decoder.repeat(text),
        }
    }

    fn from_repeated(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.repeat(text.as_str())
    }
}

impl<'de> FromText<'de> for Box<str> {
    fn from_text(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        String::from_text(text, decoder).map(Self::from)
    }

    fn from_repeated(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        String::from_repeated(text, decoder).map(Self::from)
    }
}

impl<'de> FromText<'de> for Arc<str> {
    fn from_text(text: &mut Str<'de>, _: &mut Decoder<'de>) -> Result<Self, Error> {
        Ok(text.share())
    }
}

/// Reads a string in a row: a field, which is a level of its own when written in full, or an element of a field.
#[inline]
fn read_region<'de, T: FromText<'de>, const FIELD: bool>(
    table: &mut ReadTable<'de>,
    decoder: &mut Decoder<'de>,
) -> Result<T, Error> {
    let code = decoder.reader.uvarint()?;
    if code & 1 == 1 {
        return T::from_repeated(table.get(code >> 1)?, decoder);
    }
    let region = decoder.reader.take(code >> 1)?;
    if FIELD {
        decoder.leaf()?;
    }
    let mut text = Str::Borrowed(Reader::new(region).text()?);
    let value = T::from_text(&mut text, decoder)?;
    table.push(text);
    Ok(value)
}

macro_rules! encode_as_str {
    ($($type:ty),*) => {$(
        impl Layout for $type {
            const INTERN: Intern = Intern::Text;
            const UNION_KIND: u8 = 5;

            fn node(builder: &mut Builder) -> NodeId {
                str::node(builder)
            }
        }

        impl Encode for $type {
            #[inline]
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                (**self).encode(encoder)
            }

            #[inline]
            fn length(&self) -> Option<usize> {
                Some(self.len())
            }

            #[inline]
            fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
                (**self).encode_region(table, encoder)
            }
        }
    )*};
}

encode_as_str!(String, Cow<'_, str>, Arc<str>);

macro_rules! decode_text {
    ($([$($lifetime:lifetime)?] $type:ty),*) => {$(
        impl<'de $(: $lifetime, $lifetime)?> Decode<'de> for $type {
            #[inline]
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                let mut text = Str::Borrowed(decoder.reader.text()?);
                Self::from_text(&mut text, decoder)
            }

            #[inline]
            fn decode_in(region: &'de [u8], decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                decoder.leaf()?;
                let mut text = Str::Borrowed(Reader::new(region).text()?);
                Self::from_text(&mut text, decoder)
            }

            #[inline]
            fn decode_region(table: &mut ReadTable<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                read_region::<_, true>(table, decoder)
            }

            fn decode_items(count: usize, decoder: &mut Decoder<'de>, push: &mut impl FnMut(Self)) -> Result<(), Error> {
                for index in 0..count {
                    let text = decoder.reader.sized().and_then(|region| Reader::new(region).text());
                    let value = text.and_then(|text| Self::from_text(&mut Str::Borrowed(text), decoder));
                    push(value.map_err(|error| error.at(index))?);
                }
                Ok(())
            }

            fn decode_interned(
                count: usize,
                table: &mut ReadTable<'de>,
                decoder: &mut Decoder<'de>,
                push: &mut impl FnMut(Self),
            ) -> Result<(), Error> {
                for index in 0..count {
                    push(read_region::<_, false>(table, decoder).map_err(|error| error.at(index))?);
                }
                Ok(())
            }
        }
    )*};
}

decode_text!(['a] &'a str, ['a] Cow<'a, str>, [] String, [] Box<str>, [] Arc<str>);

/// A registered symbol, by its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub String);

impl Layout for Symbol {
    const UNION_KIND: u8 = 5;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Symbol)
    }
}

impl Encode for Symbol {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.bytes(self.0.as_bytes());
        Ok(())
    }
}

impl<'de> Decode<'de> for Symbol {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.reader.text().map(|key| Self(key.to_owned()))
    }
}
