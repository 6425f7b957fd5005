//! What a peer is told about bytes that cannot be read.

use std::fmt::Write as _;

use schema_binary::{Code, Error, Step};

/// Why bytes could not be decoded, in the words of the reference where it has some: `Missing key\n  at ["storeId"]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl Malformed {
    /// What `cause` tells.
    pub fn because(cause: &impl std::fmt::Display) -> Self {
        Self(cause.to_string())
    }

    pub(crate) fn missing(name: &str) -> Self {
        Error::from(Code::MissingKey).at(name).into()
    }

    /// Bytes of another version or in another mode than an envelope.
    pub(crate) fn envelope(error: Error) -> Self {
        match error.code {
            Code::Envelope => Self("Expected version 2 envelope, flags 1".to_owned()),
            _ => error.into(),
        }
    }
}

impl From<Error> for Malformed {
    fn from(error: Error) -> Self {
        let mut text = match error.code {
            Code::MissingKey => "Missing key".to_owned(),
            Code::Envelope => "Expected version 2 envelope".to_owned(),
            Code::Fingerprint => "Expected the fingerprint of the same schema".to_owned(),
            code => format!("Malformed bytes: {code}"),
        };
        let path = error.path();
        if !path.is_empty() {
            text.push_str("\n  at ");
        }
        for step in path {
            let _ = match step {
                Step::Key(key) => write!(text, "[{key:?}]"),
                Step::Index(index) => write!(text, "[{index}]"),
            };
        }
        Self(text)
    }
}

impl From<Code> for Malformed {
    fn from(code: Code) -> Self {
        Error::from(code).into()
    }
}
