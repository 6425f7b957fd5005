//! What can be wrong with bytes, values or schemas.

use std::fmt;

/// Why a value could not be read or written; the names are those of the format's own error table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// A read past the end of its region, or a stream that ends inside a frame.
    Truncated,
    /// Bytes left over in a region or behind a frame.
    Leftover,
    /// A frame of length 0.
    ZeroFrame,
    /// A frame longer than the reader allows.
    FrameTooLarge,
    /// A first byte that does not fit the mode.
    Envelope,
    /// The other side's layout differs (fingerprint mode).
    Fingerprint,
    /// A varint of more than 10 bytes (a field tag: 5).
    VarintTooLong,
    /// A number beyond 2^53 - 1.
    UnsafeInteger,
    /// Text that is not UTF-8.
    Utf8,
    /// A field id that comes twice in one struct or row.
    DuplicateField,
    /// A tag for the extra block with a kind other than 0.
    ExtraKind,
    /// An extra key that is the name of a declared field.
    ExtraKeyDeclared,
    /// An extra key that comes twice.
    ExtraKeyDuplicate,
    /// A field the schema does not know (strict mode).
    UnknownField,
    /// An extra key no index signature matches (strict mode).
    UnknownKey,
    /// A field in a kind its layout does not accept (strict mode).
    WireKind,
    /// A union member the schema does not know, where it cannot count as absent.
    UnknownMember,
    /// A union member the schema does not know, in a place that may leave it out.
    ///
    /// Fields and record entries treat this as "not there"; it never leaves a call that decodes a
    /// whole frame, which reports [`Code::MissingKey`] instead.
    Absent,
    /// A reference to a row shape that does not exist.
    RowShape,
    /// A reference into a string table that does not exist.
    BackReference,
    /// More elements, or more text repeated by reference, than the limits allow.
    CountLimit,
    /// A boolean (or the tag of an option or result) other than 0 or 1.
    Bool,
    /// Bytes where there must be none.
    NotEmpty,
    /// A number in a region of an impossible length, or an unknown form of number array.
    NumberLength,
    /// A decimal scale outside 1 to 8.
    DecimalScale,
    /// A date that is not 8 bytes long.
    Int64Length,
    /// An instant beyond 8.64e15 milliseconds from the epoch, or an invalid date.
    DateRange,
    /// An unknown time zone, or an instant no zone reaches.
    TimeZone,
    /// An unknown form of duration.
    DurationTag,
    /// Text that is not JSON.
    Json,
    /// More than 512 levels of nesting.
    Depth,
    /// A required field or element that is missing.
    MissingKey,
    /// More elements than the schema has.
    UnexpectedKey,
    /// A value that is not one of the literals, or that cannot be written.
    Value,
    /// A value of the wrong type.
    Type,
    /// A value that fails a check of its schema.
    Check,
    /// A schema that cannot be used.
    Schema,
    /// A stream parser used after an error or after its end.
    ParserSpent,
    /// A reference into the connection dictionary that does not exist.
    DictionaryReference,
    /// A marker byte the connection dictionary does not know.
    DictionaryMarker,
}

impl Code {
    /// The code's name in the format's error table, such as `missing-key`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Leftover => "leftover",
            Self::ZeroFrame => "zero-frame",
            Self::FrameTooLarge => "frame-too-large",
            Self::Envelope => "envelope",
            Self::Fingerprint => "fingerprint",
            Self::VarintTooLong => "varint-too-long",
            Self::UnsafeInteger => "unsafe-integer",
            Self::Utf8 => "utf8",
            Self::DuplicateField => "duplicate-field",
            Self::ExtraKind => "extra-kind",
            Self::ExtraKeyDeclared => "extra-key-declared",
            Self::ExtraKeyDuplicate => "extra-key-duplicate",
            Self::UnknownField => "unknown-field",
            Self::UnknownKey => "unknown-key",
            Self::WireKind => "wire-kind",
            Self::UnknownMember => "unknown-member",
            Self::Absent => "absent",
            Self::RowShape => "row-shape",
            Self::BackReference => "back-reference",
            Self::CountLimit => "count-limit",
            Self::Bool => "bool",
            Self::NotEmpty => "not-empty",
            Self::NumberLength => "number-length",
            Self::DecimalScale => "decimal-scale",
            Self::Int64Length => "int64-length",
            Self::DateRange => "date-range",
            Self::TimeZone => "time-zone",
            Self::DurationTag => "duration-tag",
            Self::Json => "json",
            Self::Depth => "depth",
            Self::MissingKey => "missing-key",
            Self::UnexpectedKey => "unexpected-key",
            Self::Value => "value",
            Self::Type => "type",
            Self::Check => "check",
            Self::Schema => "schema",
            Self::ParserSpent => "parser-spent",
            Self::DictionaryReference => "dictionary-reference",
            Self::DictionaryMarker => "dictionary-marker",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One step from a value into one of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// A field or record key.
    Key(String),
    /// An element of an array.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A failure to read or write a value: why, and where in the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Why.
    pub code: Code,
    // Boxed, so that results stay two words wide on the hot path.
    steps: Option<Box<Steps>>,
}

/// Innermost step first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Steps(Vec<Step>);

impl Error {
    /// The way from the root of the value to the place of the failure; empty for the root itself.
    pub fn path(&self) -> Vec<Step> {
        self.outermost_first().cloned().collect()
    }

    /// The same failure seen from one level further out.
    #[must_use]
    #[cold]
    pub fn at(mut self, step: impl Into<Step>) -> Self {
        self.steps.get_or_insert_default().0.push(step.into());
        self
    }

    fn outermost_first(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().flat_map(|steps| steps.0.iter().rev())
    }

    /// The same failure where "absent" is not an option.
    pub(crate) fn required(mut self) -> Self {
        if self.code == Code::Absent {
            self.code = Code::MissingKey;
        }
        self
    }
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Self { code, steps: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.name())?;
        for (depth, step) in self.outermost_first().enumerate() {
            f.write_str(if depth == 0 { " at " } else { "" })?;
            match step {
                Step::Key(key) if depth == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_code_and_path() {
        let error = Error::from(Code::MissingKey).at("id").at(3).at("entries");
        assert_eq!(error.to_string(), "missing-key at entries[3].id");
        assert_eq!(Error::from(Code::Utf8).to_string(), "utf8");
    }
}
