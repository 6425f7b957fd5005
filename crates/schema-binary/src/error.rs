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
    /// The first byte of a frame is not the envelope expected.
    Envelope,
    /// A frame of another layout.
    Fingerprint,
    /// A number of impossible length.
    NumberLength,
    /// Bytes where there must be none.
    NotEmpty,
    /// A boolean that is neither 0 nor 1.
    Bool,
    /// A union member the reader does not know.
    UnknownMember,
    /// A field id twice.
    DuplicateField,
    /// A reference to a row shape that does not exist.
    RowShape,
    /// A reference to a table entry that does not exist.
    BackReference,
    /// An array count beyond what its bytes can hold.
    CountLimit,
    /// A required field or element is missing.
    MissingKey,
    /// A literal that is none of those allowed.
    Value,
    /// A value outside its schema's bounds.
    Check,
    /// An extra block of the wrong kind.
    ExtraKind,
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
