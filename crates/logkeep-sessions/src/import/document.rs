//! Reading one document within bounds.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::json::{self, Json, Limits, SyntaxError};

/// Strings longer than this are shortened in documents that are too large.
const LONG_STRING: usize = 64 * 1024;

/// A document and what is known about it from outside.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) value: Json,
    /// What was shortened, for the report.
    pub(super) shortened: Option<String>,
    /// The time a database row carries.
    pub(super) row_time: Option<i64>,
    /// When the file was last written.
    pub(super) file_time: Option<i64>,
}

impl Document {
    /// A value about which nothing else is known.
    pub(super) fn of(value: Json) -> Self {
        Self { value, shortened: None, row_time: None, file_time: None }
    }
}

/// Reads a file. One larger than `limit` loses its long strings; if it is too large even so, it is refused.
pub(super) fn read(path: &Path, limit: usize) -> Result<Document, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let metadata = file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    let written = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let (value, shortened) = parse(file, metadata.len(), limit)?;
    let file_time = written.and_then(|since| i64::try_from(since.as_millis()).ok());
    Ok(Document { value, shortened, row_time: None, file_time })
}

/// Parses a value of `size` bytes in memory bounded by `limit`.
pub(super) fn parse(reader: impl Read, size: u64, limit: usize) -> Result<(Json, Option<String>), String> {
    let small = size <= limit as u64;
    let limits =
        Limits { string: if small { usize::MAX } else { LONG_STRING }, total: limit.saturating_mul(4) };
    let parsed = json::parse_reader(reader, limits).map_err(|error| match error {
        SyntaxError::TooLarge { .. } => format!("is {error}; left out"),
        SyntaxError::Io(error) => format!("cannot be read: {error}"),
        SyntaxError::Malformed { .. } => format!("is damaged: {error}"),
    })?;
    let shortened = (parsed.cut > 0).then(|| {
        format!("{size} bytes are above the limit of {limit}; {} long strings shortened", parsed.cut)
    });
    Ok((parsed.value, shortened))
}
