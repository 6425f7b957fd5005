//! Literals of derived types.

use super::decoder::Decoder;
use super::encoder::{Encoder, Scalar};
use super::field::kind;
use super::struct_read::ReadForm;
use super::struct_write::WriteForm;
use crate::layout::{Builder, Literal, NodeId};
use crate::{Code, Decode, Error};

/// A literal of a derived type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LiteralValue<'a> {
    /// A string.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A boolean.
    Bool(bool),
}

impl LiteralValue<'_> {
    /// Adds the layout of the literal to a graph.
    pub fn node(self, builder: &mut Builder) -> NodeId {
        Self::node_of(&[self], builder)
    }

    /// Adds the layout of a choice of literals to a graph.
    pub fn node_of(literals: &[LiteralValue<'_>], builder: &mut Builder) -> NodeId {
        builder.literals(literals.iter().map(|literal| match literal {
            LiteralValue::Text(text) => Literal::String((*text).into()),
            LiteralValue::Number(number) => Literal::Number(*number),
            LiteralValue::Bool(bool) => Literal::Bool(*bool),
        }))
    }

    /// The form of the literal behind a field tag or an entry's key.
    pub fn scalar(self) -> Scalar {
        match self {
            Self::Text(_) => Scalar::Sized,
            Self::Number(number) => Scalar::number(number),
            Self::Bool(bool) => Scalar::Bool(bool),
        }
    }

    /// Writes the literal so that it fills a region.
    pub fn write_plain(self, encoder: &mut Encoder) {
        match self {
            Self::Text(text) => encoder.bytes(text.as_bytes()),
            Self::Number(number) => encoder.number(number),
            Self::Bool(bool) => encoder.byte(u8::from(bool)),
        }
    }

    /// Writes the literal as a struct field.
    ///
    /// # Errors
    /// None.
    pub fn write(self, form: WriteForm<'_, '_>, encoder: &mut Encoder) -> Result<(), Error> {
        let plain = |encoder: &mut Encoder| {
            self.write_plain(encoder);
            Ok(())
        };
        match (form, self) {
            (WriteForm::Tagged(id), _) => encoder.field(id, self.scalar(), plain),
            (WriteForm::Slot, Self::Bool(_)) => plain(encoder),
            (WriteForm::Slot, _) => encoder.sized(plain),
            (WriteForm::Region(_), _) => encoder.region(plain),
        }
    }

    /// Reads a literal of the same kind that fills the region.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn read_alike<'de>(self, decoder: &mut Decoder<'de>) -> Result<LiteralValue<'de>, Error> {
        match self {
            Self::Text(_) => decoder.reader.text().map(LiteralValue::Text),
            Self::Number(_) => f64::decode(decoder).map(LiteralValue::Number),
            Self::Bool(_) => bool::decode(decoder).map(LiteralValue::Bool),
        }
    }

    /// Reads a literal of the same kind behind a field tag; `None` if it is sized.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn read_alike_tagged<'de>(
        self,
        kind: u8,
        decoder: &mut Decoder<'de>,
    ) -> Result<Option<LiteralValue<'de>>, Error> {
        Ok(match self {
            _ if kind == kind::SIZED => None,
            Self::Bool(_) => Some(LiteralValue::Bool(bool::decode_tagged(kind, decoder)?)),
            _ => Some(LiteralValue::Number(f64::decode_tagged(kind, decoder)?)),
        })
    }

    /// Reads a struct field that must be this literal.
    ///
    /// # Errors
    /// [`Code::Value`] if it is another, or what is wrong with the bytes.
    pub fn read<'de>(self, form: ReadForm<'_, 'de>, decoder: &mut Decoder<'de>) -> Result<(), Error> {
        let literal = match (form, self) {
            (ReadForm::Tagged(kind), _) => match self.read_alike_tagged(kind, decoder)? {
                Some(literal) => literal,
                None => decoder.sized_value(|decoder| self.read_leaf(decoder))?,
            },
            (ReadForm::Slot, Self::Bool(_)) => {
                let region = decoder.reader.take(1)?;
                decoder.value_in(region, |decoder| self.read_leaf(decoder))?
            }
            (ReadForm::Slot, _) => decoder.sized_value(|decoder| self.read_leaf(decoder))?,
            (ReadForm::Region(_), _) => decoder.region(|decoder| self.read_leaf(decoder))?,
        };
        if literal == self { Ok(()) } else { Err(Code::Value.into()) }
    }

    /// A literal counts as a level, and so does its leaf.
    fn read_leaf<'de>(self, decoder: &mut Decoder<'de>) -> Result<LiteralValue<'de>, Error> {
        decoder.nested(|decoder| self.read_alike(decoder))
    }
}
