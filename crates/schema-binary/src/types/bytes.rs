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

    #[inline]
    fn length(&self) -> Option<usize> {
        Some(self.len())
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

            #[inline]
            fn length(&self) -> Option<usize> {
                Some(self.len())
            }
        }
    )*};
}

encode_as_bytes!([] Vec<u8>, [] Cow<'_, [u8]>, [const N: usize] [u8; N]);

macro_rules! decode_bytes {
    ($([$($generics:tt)*] $type:ty, $bytes:ident => $value:expr;)*) => {$(
        impl<'de $($generics)*> Decode<'de> for $type {
            #[inline]
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                let $bytes = decoder.reader.take_rest();
                $value
            }

            #[inline]
            fn decode_in($bytes: &'de [u8], decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                decoder.leaf()?;
                $value
            }
        }
    )*};
}

decode_bytes! {
    [: 'a, 'a] &'a [u8], bytes => Ok(bytes);
    [: 'a, 'a] Cow<'a, [u8]>, bytes => Ok(Cow::Borrowed(bytes));
    [] Vec<u8>, bytes => Ok(bytes.to_vec());
    [] Box<[u8]>, bytes => Ok(bytes.into());
    [, const N: usize] [u8; N], bytes => bytes.try_into().map_err(|_| Code::Check.into());
    [: 'a, 'a, const N: usize] &'a [u8; N], bytes => bytes.try_into().map_err(|_| Code::Check.into());
}
