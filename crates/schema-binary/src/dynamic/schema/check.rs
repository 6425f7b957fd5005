//! Predicates that have no bytes: they are looked at before writing and after reading.

use super::pattern::Template;
use crate::dynamic::{Text, Value};
use crate::layout::NodeId;
use crate::wire::is_safe_integer;

/// A predicate on values of one node.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    NotEmpty,
    MaxLength3,
    Positive,
    NotNegative,
    SafeInteger,
    Int32,
    Template(Template),
    /// One of these symbols.
    Symbols(Vec<Text>),
    /// Bytes that are a frame of this node in default mode.
    Frame(NodeId),
}

impl Check {
    /// Whether `value` passes; frames are looked at elsewhere.
    pub(crate) fn passes(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::NotEmpty, value) => length(value).is_none_or(|length| length >= 1),
            (Self::MaxLength3, value) => length(value).is_none_or(|length| length <= 3),
            (Self::Positive, Value::Number(number)) => *number > 0.0,
            (Self::NotNegative, Value::Number(number)) => *number >= 0.0,
            (Self::SafeInteger, Value::Number(number)) => is_safe_integer(*number),
            (Self::Int32, Value::Number(number)) => {
                number.trunc() == *number && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(number)
            }
            (Self::Template(template), Value::String(text)) => {
                text.as_str().is_some_and(|text| template.matches(text))
            }
            (Self::Symbols(keys), Value::Symbol(key)) => keys.contains(key),
            _ => true,
        }
    }
}

/// The length of a string in UTF-16 code units, or of an array in elements.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => {
            Some(text.broken_units().map_or_else(|| text.to_str().encode_utf16().count(), <[u16]>::len))
        }
        Value::Array(items) => Some(items.len()),
        _ => None,
    }
}
