//! JSON inside values.

use crate::dynamic::{Value, json};
use crate::engine::{Decoder, Encoder};
use crate::layout::{Builder, Node, NodeId};
use crate::{Code, Decode, Encode, Error, Layout};

/// Any JSON value, as its text. Writing takes the text as it is; reading checks that it is JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Json<'a>(pub &'a str);

impl Layout for Json<'_> {
    const UNION_KIND: u8 = 17;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Json)
    }
}

impl Encode for Json<'_> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        json::parse(self.0)?;
        encoder.bytes(self.0.as_bytes());
        Ok(())
    }
}

impl<'de: 'a, 'a> Decode<'de> for Json<'a> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let text = decoder.reader.text()?;
        json::parse(text)?;
        Ok(Self(text))
    }
}

/// Any JSON value.
impl Layout for Value {
    const UNION_KIND: u8 = 17;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Json)
    }
}

impl Encode for Value {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.bytes(json::print(self).ok_or(Code::Value)?.as_bytes());
        Ok(())
    }
}

impl<'de> Decode<'de> for Value {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        json::parse(decoder.reader.text()?)
    }
}
