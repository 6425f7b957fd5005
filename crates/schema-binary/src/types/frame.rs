//! Frames inside values.

use crate::engine::{Decoder, Encoder};
use crate::frame::{Head, split};
use crate::layout::{Builder, Node, NodeId};
use crate::wire::Reader;
use crate::{Decode, Encode, Error, Layout, Mode};

/// A value that travels as a frame of its own, in default mode, inside the value around it.
///
/// On the wire this is bytes; schemas that know the inner layout and schemas that do not understand each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Frame<T>(pub T);

impl<T> Layout for Frame<T> {
    const UNION_KIND: u8 = 6;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Bytes)
    }
}

impl<T: Encode> Encode for Frame<T> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.nested_frame(|encoder| self.0.encode(encoder))
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Frame<T> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let (body, rest) = split(decoder.reader.take_rest())?;
        Reader::new(rest).finish()?;
        decoder.nested_frame(body, |decoder| {
            Head::new(Mode::Default, || 0).expect(&mut decoder.reader)?;
            decoder.item(T::decode).map(Self)
        })
    }
}
