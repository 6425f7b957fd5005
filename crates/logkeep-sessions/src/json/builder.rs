//! Building the text of one string while it is read.

use super::Text;
use super::text::{push_escaped, push_unit};

/// How much of a string above its limit is kept, in bytes.
pub const KEPT_OF_LONG_STRING: usize = 4096;

/// Collects a string in escaped form and joins surrogate pairs.
pub(super) struct StringBuilder {
    pub(super) escaped: String,
    limit: usize,
    high: Option<u16>,
    pub(super) cut: bool,
}

impl StringBuilder {
    pub(super) fn new(limit: usize) -> Self {
        Self { escaped: String::new(), limit, high: None, cut: false }
    }

    pub(super) fn push(&mut self, c: char) {
        self.flush();
        if !self.cut {
            push_escaped(&mut self.escaped, c);
            self.enforce();
        }
    }

    /// Appends text that needs no escape.
    pub(super) fn push_str(&mut self, text: &str) {
        self.flush();
        if !self.cut {
            self.escaped.push_str(text);
            self.enforce();
        }
    }

    pub(super) fn push_unit(&mut self, unit: u16) {
        match (self.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                let code = 0x10000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(unit) - 0xdc00);
                self.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (before, unit) => {
                self.high = before;
                self.flush();
                match char::from_u32(u32::from(unit)) {
                    Some(c) => self.push(c),
                    None => self.high = Some(unit),
                }
            }
        }
    }

    /// Writes a surrogate that did not become a pair.
    fn flush(&mut self) {
        if let Some(unit) = self.high.take()
            && !self.cut
        {
            push_unit(&mut self.escaped, unit);
        }
    }

    fn enforce(&mut self) {
        if self.escaped.len() <= self.limit {
            return;
        }
        self.cut = true;
        let mut end = KEPT_OF_LONG_STRING.min(self.limit);
        while !self.escaped.is_char_boundary(end) || inside_escape(&self.escaped, end) {
            end -= 1;
        }
        self.escaped.truncate(end);
        self.escaped.shrink_to_fit();
    }

    pub(super) fn finish(mut self) -> Text {
        self.flush();
        Text::from_escaped(self.escaped)
    }
}

/// Whether cutting at `end` would cut an escape, which is at most six bytes long.
fn inside_escape(escaped: &str, end: usize) -> bool {
    let before = escaped.as_bytes().get(..end).unwrap_or_default();
    let mut index = before.len().saturating_sub(64);
    // Step over a run of backslashes, so that pairs are counted from their start.
    while index > 0 && before.get(index - 1) == Some(&b'\\') {
        index -= 1;
    }
    while let Some(byte) = before.get(index) {
        let length = match (byte, before.get(index + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        index += length;
    }
    index > end
}
