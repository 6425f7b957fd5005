//! What a peer is told about a payload that cannot be read.

use schema_binary::Code;

/// Why a payload could not be decoded, in the words of the format's error texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Malformed {
    /// What `cause` tells.
    pub fn because(cause: &impl std::fmt::Display) -> Self {
        Self(cause.to_string())
    }

    pub(crate) fn missing(name: &str) -> Self {
        Self(format!("Missing key\n  at [{name:?}]"))
    }
}

impl From<schema_binary::Error> for Malformed {
    fn from(error: schema_binary::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<Code> for Malformed {
    fn from(code: Code) -> Self {
        schema_binary::Error::from(code).into()
    }
}
