//! Bytes in the forms that go into text and into length-prefixed fields.

use std::fmt::Write as _;

/// Lowercase hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The four bytes that stand in front of a field. No field of a message can reach 4 GiB; a
/// saturated length could only make a signature or a seal that nobody accepts.
pub(crate) fn length_prefix(field: &[u8]) -> [u8; 4] {
    u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes()
}
