//! The type without values.

use crate::engine::{Decoder, Encoder};
use crate::layout::{Builder, Node, NodeId};
use crate::{Code, Decode, Encode, Error, Layout};

/// The type without values, for failures that do not happen. Reading one always fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Never {}

impl Layout for Never {
    const UNION_KIND: u8 = 0;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Never)
    }
}

impl Encode for Never {
    fn encode(&self, _: &mut Encoder) -> Result<(), Error> {
        match *self {}
    }
}

impl Decode<'_> for Never {
    fn decode(_: &mut Decoder<'_>) -> Result<Self, Error> {
        Err(Code::Type.into())
    }
}
