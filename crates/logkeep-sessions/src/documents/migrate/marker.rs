//! The file that counts the migrations that are done.

use std::fs;
use std::io;
use std::path::Path;

use super::super::replace;

/// The number in the marker. Missing, unreadable and negative count as 0 (DS-051).
pub(super) fn read(file: &Path) -> u32 {
    fs::read(file).map_or(0, |content| leading_number(&String::from_utf8_lossy(&content)))
}

pub(super) fn write(file: &Path, private: &Path, done: u32) -> io::Result<()> {
    replace::replace(file, &private.join("migration.tmp"), done.to_string().as_bytes())
}

/// The whole number a text begins with, after spaces and a byte order mark.
fn leading_number(text: &str) -> u32 {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = text.chars().map_while(|c| c.to_digit(10));
    digits.fold(0_u32, |value, digit| value.saturating_mul(10).saturating_add(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_is_read_as_the_reference_reads_it() {
        for (text, number) in [
            ("2", 2),
            ("2abc", 2),
            (" 1\n", 1),
            ("1.9", 1),
            ("0x2", 0),
            ("", 0),
            ("wat", 0),
            ("99", 99),
            ("-1", 0),
            ("\u{feff}2\r\n", 2),
            ("99999999999999", u32::MAX),
        ] {
            assert_eq!(leading_number(text), number, "{text:?}");
        }
    }
}
