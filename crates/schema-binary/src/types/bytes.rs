//! Byte strings.

use std::borrow::Cow;

use crate::engine::{Decoder, Encoder};
use crate::layout::{Builder, Node, NodeId};
use crate::{Code, Decode, Encode, Error, Layout};

impl Layout for [u8] {
    const UNION_KIND: u8 = 6;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Bytes)
    }
}

impl Encode for [u8] {
    #[inline]
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.bytes(self);
        Ok(())
    }
}

macro_rules! encode_as_bytes {
    ($([$($generics:tt)*] $type:ty),*) => {$(
        impl<$($generics)*> Layout for $type {
            const UNION_KIND: u8 = 6;

            fn node(builder: &mut Builder) -> NodeId {
                builder.add(Node::Bytes)
            }
        }

        impl<$($generics)*> Encode for $type {
            #[inline]
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                encoder.bytes(self);
                Ok(())
            }
        }
    )*};
}

encode_as_bytes!([] Vec<u8>, [] Cow<'_, [u8]>, [const N: usize] [u8; N]);

impl<'de: 'a, 'a> Decode<'de> for &'a [u8] {
    #[inline]
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Ok(decoder.reader.take_rest())
    }
}

impl<'de: 'a, 'a> Decode<'de> for Cow<'a, [u8]> {
    #[inline]
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Ok(Cow::Borrowed(decoder.reader.take_rest()))
    }
}

impl<'de> Decode<'de> for Vec<u8> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Ok(decoder.reader.take_rest().to_vec())
    }
}

impl<'de> Decode<'de> for Box<[u8]> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Ok(decoder.reader.take_rest().into())
    }
}

impl<'de, const N: usize> Decode<'de> for [u8; N] {
    #[inline]
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.reader.take_rest().try_into().map_err(|_| Code::Check.into())
    }
}

impl<'de: 'a, 'a, const N: usize> Decode<'de> for &'a [u8; N] {
    #[inline]
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.reader.take_rest().try_into().map_err(|_| Code::Check.into())
    }
}
