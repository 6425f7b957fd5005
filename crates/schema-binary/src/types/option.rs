//! Options, results, and unions with null or undefined.

use crate::engine::{Decoder, Encoder, Selector, Selectors};
use crate::layout::{Builder, Node, NodeId, union_node};
use crate::{Code, Decode, Encode, Error, Layout};

impl<T: Layout> Layout for Option<T> {
    const UNION_KIND: u8 = 12;

    fn node(builder: &mut Builder) -> NodeId {
        let item = T::node(builder);
        builder.add(Node::Option(item))
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.byte(u8::from(self.is_some()));
        self.as_ref().map_or(Ok(()), |item| item.encode(encoder))
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Option<T> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match decoder.reader.byte()? {
            0 if decoder.reader.is_empty() => Ok(None),
            0 => Err(Code::NotEmpty.into()),
            1 => decoder.item(T::decode).map(Some),
            _ => Err(Code::Bool.into()),
        }
    }
}

impl<T: Layout, E: Layout> Layout for Result<T, E> {
    const UNION_KIND: u8 = 13;

    fn node(builder: &mut Builder) -> NodeId {
        let (success, failure) = (T::node(builder), E::node(builder));
        builder.add(Node::Result { success, failure })
    }
}

impl<T: Encode, E: Encode> Encode for Result<T, E> {
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.byte(u8::from(self.is_err()));
        match self {
            Ok(value) => value.encode(encoder),
            Err(failure) => failure.encode(encoder),
        }
    }
}

impl<'de, T: Decode<'de>, E: Decode<'de>> Decode<'de> for Result<T, E> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match decoder.reader.byte()? {
            0 => decoder.item(T::decode).map(Ok),
            1 => decoder.item(E::decode).map(Err),
            _ => Err(Code::Bool.into()),
        }
    }
}

macro_rules! union_with {
    ($(#[$doc:meta])* $name:ident, $nothing:ident, $kind:literal, $node:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name<T> {
            #[doc = concat!("`", stringify!($node), "` of JavaScript.")]
            #[default]
            $nothing,
            /// A value.
            Value(T),
        }

        impl<T> From<Option<T>> for $name<T> {
            fn from(value: Option<T>) -> Self {
                value.map_or(Self::$nothing, Self::Value)
            }
        }

        impl<T> From<$name<T>> for Option<T> {
            fn from(value: $name<T>) -> Self {
                match value {
                    $name::$nothing => None,
                    $name::Value(value) => Some(value),
                }
            }
        }

        impl<T: Layout> Layout for $name<T> {
            const UNION_KIND: u8 = 0;

            fn node(builder: &mut Builder) -> NodeId {
                let members = Self::members(builder);
                builder.add(union_node(members))
            }

            fn members(builder: &mut Builder) -> Vec<(Selector, NodeId)> {
                let mut members = T::members(builder);
                members.push((Selector::Kind($kind), builder.add(Node::$node)));
                members
            }

            fn selectors(each: &mut dyn FnMut(Selector)) {
                each(Selector::Kind($kind));
                T::selectors(each);
            }
        }

        impl<T: Encode> Encode for $name<T> {
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                self.encode_member(Self::selectors, encoder)
            }

            fn encode_member(&self, union: Selectors, encoder: &mut Encoder) -> Result<(), Error> {
                match self {
                    Self::$nothing => {
                        encoder.select(union, Selector::Kind($kind));
                        Ok(())
                    }
                    Self::Value(value) => value.encode_member(union, encoder),
                }
            }
        }

        impl<'de, T: Decode<'de>> Decode<'de> for $name<T> {
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                let selector = decoder.selector(Self::selectors)?;
                match Self::decode_member(selector, decoder)? {
                    Some(value) => Ok(value),
                    None => Err(decoder.unknown_member()),
                }
            }

            fn decode_member(selector: Selector, decoder: &mut Decoder<'de>) -> Result<Option<Self>, Error> {
                if selector == Selector::Kind($kind) {
                    return decoder.member(<()>::decode).map(|()| Some(Self::$nothing));
                }
                Ok(T::decode_member(selector, decoder)?.map(Self::Value))
            }
        }
    };
}

union_with! {
    /// A value or null: a union, so changing a field from `T` to this is not compatible.
    Nullable, Null, 2, Null
}

union_with! {
    /// A value or undefined: what fields hold that are both optional and possibly undefined.
    Undefined, Undefined, 3, Undefined
}
