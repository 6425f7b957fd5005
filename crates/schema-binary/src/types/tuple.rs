//! Tuples: elements in order, without a count. And the empty one, which is undefined.

use crate::engine::{Decoder, Encoder, Slot};
use crate::layout::{Builder, Node, NodeId};
use crate::{Code, Decode, Encode, Error, Layout};

impl Layout for () {
    const SLOT: Slot = Slot::Empty;
    const UNION_KIND: u8 = 3;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Undefined)
    }
}

impl Encode for () {
    fn encode(&self, _: &mut Encoder) -> Result<(), Error> {
        Ok(())
    }
}

impl<'de> Decode<'de> for () {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        if decoder.reader.is_empty() { Ok(()) } else { Err(Code::NotEmpty.into()) }
    }
}

/// Reads an element of a tuple.
fn read_element<'de, T: Decode<'de>>(index: usize, decoder: &mut Decoder<'de>) -> Result<T, Error> {
    if decoder.reader.is_empty() && T::SLOT != Slot::Empty {
        return Err(Error::from(Code::MissingKey).at(index));
    }
    T::decode_slot(decoder).map_err(|error| error.required().at(index))
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*) $length:literal;)*) => {$(
        impl<$($name: Layout),*> Layout for ($($name,)*) {
            const UNION_KIND: u8 = 11;

            fn node(builder: &mut Builder) -> NodeId {
                let elements = [$($name::node(builder)),*];
                builder.tuple(elements)
            }
        }

        impl<$($name: Encode),*> Encode for ($($name,)*) {
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                $(self.$index.encode_slot(encoder).map_err(|error| error.at($index))?;)*
                Ok(())
            }
        }

        impl<'de, $($name: Decode<'de>),*> Decode<'de> for ($($name,)*) {
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                let tuple = ($(read_element::<$name>($index, decoder)?,)*);
                if decoder.reader.is_empty() { Ok(tuple) } else { Err(Error::from(Code::UnexpectedKey).at($length)) }
            }
        }
    )*};
}

tuples! {
    (A 0) 1;
    (A 0, B 1) 2;
    (A 0, B 1, C 2) 3;
    (A 0, B 1, C 2, D 3) 4;
    (A 0, B 1, C 2, D 3, E 4) 5;
    (A 0, B 1, C 2, D 3, E 4, F 5) 6;
}
