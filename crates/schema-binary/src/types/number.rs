//! Booleans, numbers and integers.

use num_bigint::BigInt;

use crate::engine::{Decoder, Encoder, Kinds, Scalar, Slot, kind, read_numbers, write_numbers};
use crate::layout::{Builder, Node, NodeId};
use crate::wire::{self, is_safe_integer, put_zigzag, put_zigzag_i128};
use crate::{Code, Decode, Encode, Error, Layout};

impl Layout for bool {
    const SLOT: Slot = Slot::Fixed(1);
    const KINDS: Kinds = Kinds::BOOL;
    const UNION_KIND: u8 = 1;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Bool)
    }
}

impl Encode for bool {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.byte(u8::from(*self));
        Ok(())
    }

    fn scalar(&self) -> Result<Scalar, Error> {
        Ok(Scalar::Bool(*self))
    }
}

impl<'de> Decode<'de> for bool {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match decoder.reader.take_rest() {
            [byte @ (0 | 1)] => Ok(*byte == 1),
            _ => Err(Code::Bool.into()),
        }
    }

    fn decode_tagged(kind: u8, _: &mut Decoder<'de>) -> Result<Self, Error> {
        Ok(kind == kind::TRUE)
    }
}

impl Layout for f64 {
    const KINDS: Kinds = Kinds::NUMBER;
    const UNION_KIND: u8 = 4;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Number)
    }
}

impl Encode for f64 {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.number(*self);
        Ok(())
    }

    fn scalar(&self) -> Result<Scalar, Error> {
        Ok(Scalar::number(*self))
    }

    fn encode_items<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
    where
        I: Iterator<Item = &'v Self> + Clone,
    {
        write_numbers(encoder, items.copied());
        Ok(())
    }
}

impl<'de> Decode<'de> for f64 {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.reader.plain_number()
    }

    #[inline]
    fn decode_tagged(kind: u8, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match kind {
            kind::VARINT => decoder.reader.number_varint(),
            kind::FIXED64 => decoder.reader.f64(),
            _ => decoder.reader.decimal(),
        }
    }

    fn decode_items(
        count: usize,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        read_numbers(decoder, count, push)
    }
}

impl Layout for f32 {
    const KINDS: Kinds = Kinds::NUMBER;
    const UNION_KIND: u8 = 4;

    fn node(builder: &mut Builder) -> NodeId {
        f64::node(builder)
    }
}

impl Encode for f32 {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        f64::from(*self).encode(encoder)
    }

    fn scalar(&self) -> Result<Scalar, Error> {
        f64::from(*self).scalar()
    }

    fn encode_items<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
    where
        I: Iterator<Item = &'v Self> + Clone,
    {
        write_numbers(encoder, items.map(|item| f64::from(*item)));
        Ok(())
    }
}

/// Reads numbers, rounded to the nearest of single precision.
impl<'de> Decode<'de> for f32 {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        f64::decode(decoder).map(|number| number as Self)
    }

    fn decode_tagged(kind: u8, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        f64::decode_tagged(kind, decoder).map(|number| number as Self)
    }

    fn decode_items(
        count: usize,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        read_numbers(decoder, count, |number| push(number as Self))
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Layout for $type {
            const SLOT: Slot = Slot::Varint;
            const KINDS: Kinds = Kinds::INT;
            const UNION_KIND: u8 = 4;

            fn node(builder: &mut Builder) -> NodeId {
                builder.add(Node::Int)
            }
        }

        impl Encode for $type {
            #[inline]
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                wire::put_number_varint(encoder.out(), safe(*self as i128)?);
                Ok(())
            }

            #[inline]
            fn scalar(&self) -> Result<Scalar, Error> {
                safe(*self as i128).map(Scalar::Varint)
            }
        }

        impl<'de> Decode<'de> for $type {
            #[inline]
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                let number = decoder.reader.number_varint()?;
                if !is_safe_integer(number) {
                    return Err(Code::Check.into());
                }
                Self::try_from(number as i64).map_err(|_| Code::Check.into())
            }

            #[inline]
            fn decode_tagged(_: u8, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                Self::decode(decoder)
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u16, u32, u64, usize);

/// An integer as the format carries it.
#[inline]
fn safe(n: i128) -> Result<f64, Error> {
    if n.unsigned_abs() <= u128::from(wire::MAX_SAFE_INTEGER) {
        Ok(n as f64)
    } else {
        Err(Code::Check.into())
    }
}

impl Layout for BigInt {
    const UNION_KIND: u8 = 7;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::BigInt)
    }
}

impl Encode for BigInt {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        put_zigzag(encoder.out(), self);
        Ok(())
    }
}

impl<'de> Decode<'de> for BigInt {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.reader.zigzag()
    }
}

impl Layout for i128 {
    const UNION_KIND: u8 = 7;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::BigInt)
    }
}

impl Encode for i128 {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        put_zigzag_i128(encoder.out(), *self);
        Ok(())
    }
}

/// Reads integers of up to 126 bits.
impl<'de> Decode<'de> for i128 {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.reader.zigzag_i128()
    }
}
