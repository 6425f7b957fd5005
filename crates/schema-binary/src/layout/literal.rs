//! Literal values, in schemas and in the tags of variants.

use num_bigint::BigInt;

use crate::dynamic::{Text, json};

/// A value that a schema names.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A string.
    String(Text),
    /// A number.
    Number(f64),
    /// A boolean.
    Bool(bool),
    /// An integer of any size.
    BigInt(BigInt),
    /// A registered symbol, by its key.
    Symbol(Text),
}

impl Literal {
    /// The number of the literal's kind in tags and fingerprints.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::String(_) => 1,
            Self::Number(_) => 2,
            Self::Bool(_) => 3,
            Self::BigInt(_) => 4,
            Self::Symbol(_) => 5,
        }
    }

    /// The kind number of the literal as a union member.
    pub const fn union_kind(&self) -> u8 {
        match self {
            Self::Bool(_) => 1,
            Self::Number(_) => 4,
            Self::String(_) | Self::Symbol(_) => 5,
            Self::BigInt(_) => 7,
        }
    }

    /// The literal as text, as JavaScript prints it.
    pub fn text(&self) -> String {
        match self {
            Self::String(text) | Self::Symbol(text) => text.to_string(),
            Self::Number(number) => json::number_text(*number),
            Self::Bool(bool) => bool.to_string(),
            Self::BigInt(integer) => integer.to_string(),
        }
    }
}
