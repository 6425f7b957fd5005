//! How computations end.

use crate::engine::{Decoder, Encoder};
use crate::layout::{Builder, Node, NodeId};
use crate::wire::Reader;
use crate::{Code, Decode, Encode, Error, Layout};

/// How a computation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Exit<T, E, D> {
    /// With a value.
    Success(T),
    /// With reasons of failure, possibly none that is known.
    Failure(Cause<E, D>),
}

/// The reasons of a failure: expected errors `E`, defects `D` and interruptions.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause<E, D>(pub Vec<Reason<E, D>>);

/// One reason of a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason<E, D> {
    /// An expected error.
    Fail(E),
    /// A defect.
    Die(D),
    /// An interruption, by the fiber with this id if it is known.
    Interrupt(Option<f64>),
}

impl<T: Layout, E: Layout, D: Layout> Layout for Exit<T, E, D> {
    const UNION_KIND: u8 = 18;

    fn node(builder: &mut Builder) -> NodeId {
        let (success, error, defect) = (T::node(builder), E::node(builder), D::node(builder));
        builder.add(Node::Exit { success, error, defect })
    }
}

impl<T: Encode, E: Encode, D: Encode> Encode for Exit<T, E, D> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        match self {
            Self::Success(value) => {
                encoder.byte(0);
                value.encode(encoder)
            }
            Self::Failure(cause) => {
                encoder.byte(1);
                cause.encode(encoder)
            }
        }
    }
}

impl<'de, T: Decode<'de>, E: Decode<'de>, D: Decode<'de>> Decode<'de> for Exit<T, E, D> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match decoder.reader.byte()? {
            0 => decoder.item(T::decode).map(Self::Success),
            1 => decoder.item(Cause::decode).map(Self::Failure),
            _ => Err(Code::Bool.into()),
        }
    }
}

impl<E: Layout, D: Layout> Layout for Cause<E, D> {
    const UNION_KIND: u8 = 19;

    fn node(builder: &mut Builder) -> NodeId {
        let (error, defect) = (E::node(builder), D::node(builder));
        builder.add(Node::Cause { error, defect })
    }
}

impl<E: Encode, D: Encode> Encode for Cause<E, D> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.uvarint(self.0.len() as u64);
        for (index, reason) in self.0.iter().enumerate() {
            encoder.sized(|encoder| reason.encode(encoder)).map_err(|error| error.at(index))?;
        }
        Ok(())
    }
}

/// Leaves out reasons of a kind that is not known.
impl<'de, E: Decode<'de>, D: Decode<'de>> Decode<'de> for Cause<E, D> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let count = decoder.reader.uvarint()?;
        let mut reasons = Vec::new();
        for index in 0..count {
            let region = decoder.reader.sized()?;
            let outer = std::mem::replace(&mut decoder.reader, Reader::new(region));
            let reason = read_reason(decoder).map_err(|error| error.at(index as usize))?;
            decoder.reader = outer;
            reasons.extend(reason);
        }
        Ok(Self(reasons))
    }
}

impl<E: Layout, D: Layout> Layout for Reason<E, D> {
    const UNION_KIND: u8 = 20;

    fn node(builder: &mut Builder) -> NodeId {
        let (error, defect) = (E::node(builder), D::node(builder));
        builder.add(Node::CauseReason { error, defect })
    }
}

impl<E: Encode, D: Encode> Encode for Reason<E, D> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        match self {
            Self::Fail(error) => {
                encoder.byte(0);
                error.encode(encoder)
            }
            Self::Die(defect) => {
                encoder.byte(1);
                defect.encode(encoder)
            }
            Self::Interrupt(None) => {
                encoder.byte(2);
                Ok(())
            }
            Self::Interrupt(Some(fiber)) => {
                encoder.byte(3);
                encoder.float(*fiber);
                Ok(())
            }
        }
    }
}

impl<'de, E: Decode<'de>, D: Decode<'de>> Decode<'de> for Reason<E, D> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        read_reason(decoder)?.ok_or(Code::Absent.into())
    }
}

/// A reason that fills the region; none if its kind is not known.
fn read_reason<'de, E: Decode<'de>, D: Decode<'de>>(
    decoder: &mut Decoder<'de>,
) -> Result<Option<Reason<E, D>>, Error> {
    Ok(Some(match decoder.reader.byte()? {
        0 => Reason::Fail(decoder.item(E::decode)?),
        1 => Reason::Die(decoder.item(D::decode)?),
        2 if decoder.reader.is_empty() => Reason::Interrupt(None),
        2 => return Err(Code::NotEmpty.into()),
        3 if decoder.reader.remaining() == 8 => Reason::Interrupt(Some(decoder.reader.f64()?)),
        3 => return Err(Code::NumberLength.into()),
        _ => {
            decoder.reader.take_rest();
            return Ok(None);
        }
    }))
}
