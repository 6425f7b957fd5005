//! Strings of JSON, kept in their escaped form.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The content of a JSON string in the form `JSON.stringify` writes between the
/// quotes: short escapes for quote, backslash and the usual control characters,
/// `\u00xx` for the others, `\udxxx` for half a surrogate pair, and UTF-8 for
/// everything else.
///
/// One string has one such form, so comparing texts compares strings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Box<str>);

impl From<&str> for Text {
    fn from(plain: &str) -> Self {
        let mut escaped = String::with_capacity(plain.len());
        plain.chars().for_each(|c| push_escaped(&mut escaped, c));
        Self(escaped.into())
    }
}

impl Text {
    /// Takes content that is already in escaped form. The parser is the only caller.
    pub(super) fn from_escaped(escaped: String) -> Self {
        Self(escaped.into())
    }

    /// The escaped form, without quotes.
    pub fn escaped(&self) -> &str {
        &self.0
    }

    /// The string itself. Half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD.
    pub fn plain(&self) -> Cow<'_, str> {
        if !self.0.contains('\\') {
            return Cow::Borrowed(&self.0);
        }
        let mut plain = String::with_capacity(self.0.len());
        let mut rest = self.0.chars();
        while let Some(c) = rest.next() {
            plain.push(if c == '\\' { unescape(&mut rest) } else { c });
        }
        Cow::Owned(plain)
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, plain: &str) -> bool {
        self.plain() == plain
    }
}

/// Appends one character in escaped form.
pub(super) fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '\0'..='\u{1f}' => push_unit(out, c as u16),
        _ => out.push(c),
    }
}

/// Appends a UTF-16 unit as `\uxxxx`: a control character or half a pair.
pub(super) fn push_unit(out: &mut String, unit: u16) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{unit:04x}");
}

/// The character behind a backslash of the escaped form.
fn unescape(rest: &mut std::str::Chars<'_>) -> char {
    match rest.next() {
        Some('b') => '\u{8}',
        Some('t') => '\t',
        Some('n') => '\n',
        Some('f') => '\u{c}',
        Some('r') => '\r',
        Some('u') => {
            let digits = rest.by_ref().take(4).filter_map(|c| c.to_digit(16));
            let unit = digits.fold(0, |value, digit| value * 16 + digit);
            char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        Some(other) => other,
        None => char::REPLACEMENT_CHARACTER,
    }
}
