//! What can be wrong with bytes or values.

/// Why a value could not be read or written; the names are those of the format's own error table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// A read past the end of its region.
    Truncated,
    /// Bytes left over in a region or behind a frame.
    Leftover,
    /// A varint of more than 10 bytes (a field tag: 5).
    VarintTooLong,
    /// A number beyond 2^53 - 1.
    UnsafeInteger,
    /// Text that is not UTF-8.
    Utf8,
}

/// A failure to read or write a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code:?}")]
pub struct Error {
    /// Why.
    pub code: Code,
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Self { code }
    }
}
