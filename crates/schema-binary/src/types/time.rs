//! Instants and lengths of time.

use num_bigint::BigInt;

use crate::dynamic::{self, BigDecimal, Value, Zoned};
use crate::engine::{Decoder, Encoder, Slot};
use crate::layout::{Builder, Node, NodeId};
use crate::{Code, Decode, Encode, Error, Layout};

macro_rules! instants {
    ($($(#[$doc:meta])* $name:ident, $node:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name {
            /// Milliseconds since the epoch, at most 8.64e15 either way.
            pub epoch_millis: i64,
        }

        impl Layout for $name {
            const SLOT: Slot = Slot::Fixed(8);
            const UNION_KIND: u8 = 8;

            fn node(builder: &mut Builder) -> NodeId {
                builder.add(Node::$node)
            }
        }

        impl Encode for $name {
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                check_instant(self.epoch_millis)?;
                encoder.bytes(&self.epoch_millis.to_le_bytes());
                Ok(())
            }
        }

        impl<'de> Decode<'de> for $name {
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                if decoder.reader.remaining() != 8 {
                    return Err(Code::Int64Length.into());
                }
                let epoch_millis = decoder.reader.i64()?;
                check_instant(epoch_millis)?;
                Ok(Self { epoch_millis })
            }
        }
    )*};
}

instants! {
    /// A date.
    Date, Date;
    /// A moment in UTC.
    DateTimeUtc, DateTimeUtc;
}

fn check_instant(millis: i64) -> Result<(), Error> {
    if millis.unsigned_abs() <= 8_640_000_000_000_000 { Ok(()) } else { Err(Code::DateRange.into()) }
}

/// Implements the traits for a type of [`dynamic`] by its form as a value.
macro_rules! as_value {
    ($($type:ty, $variant:ident, $kind:literal;)*) => {$(
        impl Layout for $type {
            const UNION_KIND: u8 = $kind;

            fn node(builder: &mut Builder) -> NodeId {
                builder.add(Node::$variant)
            }
        }

        impl Encode for $type {
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                dynamic::encode_leaf(&Node::$variant, &Value::$variant(Box::new(self.clone())), encoder)
            }
        }

        impl<'de> Decode<'de> for $type {
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                match dynamic::decode_leaf(&Node::$variant, decoder)? {
                    Value::$variant(value) => Ok(*value),
                    _ => Err(Code::Type.into()),
                }
            }
        }
    )*};
}

as_value! {
    Zoned, DateTimeZoned, 16;
    dynamic::Duration, Duration, 14;
    BigDecimal, BigDecimal, 15;
}

impl Layout for std::time::Duration {
    const UNION_KIND: u8 = 14;

    fn node(builder: &mut Builder) -> NodeId {
        builder.add(Node::Duration)
    }
}

impl Encode for std::time::Duration {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        dynamic::Duration::Nanos(self.as_nanos().into()).encode(encoder)
    }
}

/// Reads lengths of time that are neither negative nor without end.
impl<'de> Decode<'de> for std::time::Duration {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let dynamic::Duration::Nanos(nanos) = dynamic::Duration::decode(decoder)? else {
            return Err(Code::Check.into());
        };
        let seconds = u64::try_from(&nanos / BigInt::from(1_000_000_000)).map_err(|_| Code::Check)?;
        let rest = u32::try_from(&nanos % BigInt::from(1_000_000_000)).map_err(|_| Code::Check)?;
        Ok(Self::new(seconds, rest))
    }
}
