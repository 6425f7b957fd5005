//! JSON that survives a round trip exactly.
//!
//! The documents of coding agents are written by JavaScript and hold things a
//! common JSON library loses or refuses: integers above 2^53 and above 2^64,
//! the order of fields, and strings with half a surrogate pair (a title cut in
//! the middle of an emoji). So this module keeps numbers as they are written and
//! strings in the one escaped form that `JSON.stringify` gives them. Equal
//! values therefore always print as equal bytes.
//!
//! Reading works on any [`std::io::Read`] in bounded memory: see [`Limits`].

mod builder;
mod input;
mod parse;
mod path;
mod print;
#[cfg(test)]
mod tests;
mod text;

pub use builder::KEPT_OF_LONG_STRING;
pub use parse::{Limits, Parsed, SyntaxError, parse, parse_reader};
pub use text::Text;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number exactly as written, for instance `9007199254740993` or `1e400`.
    Number(Box<str>),
    /// A string.
    String(Text),
    /// An array.
    Array(Vec<Self>),
    /// An object in the order of its fields. A name occurs once.
    Object(Vec<(Text, Self)>),
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Number(value.to_string().into())
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::String(Text::from(value))
    }
}

impl From<Vec<Self>> for Json {
    fn from(value: Vec<Self>) -> Self {
        Self::Array(value)
    }
}

impl<V: Into<Self>> From<Option<V>> for Json {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Json {
    /// Builds an object from fields in this order.
    pub fn object<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Object(fields.into_iter().map(|(name, value)| (Text::from(name), value)).collect())
    }
}
