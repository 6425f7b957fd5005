//! Sizes as people write them.

use std::str::FromStr;

/// A number of bytes: `512`, `64KiB`, `16MiB` or `4GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size(pub(super) u64);

impl Size {
    pub(super) fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim() {
            "" | "B" => 0,
            "KiB" => 10,
            "MiB" => 20,
            "GiB" => 30,
            _ => return Err("a size is a number and B, KiB, MiB or GiB, for example 16MiB".into()),
        };
        let number: u64 = number.parse().map_err(|_| "a size begins with a number".to_owned())?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(|| "this size is too large".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_they_are_written() {
        let read = |text: &str| text.parse::<Size>();
        assert_eq!(read("512"), Ok(Size(512)));
        assert_eq!(read("64KiB"), Ok(Size(65_536)));
        assert_eq!(read("4 GiB"), Ok(Size(4 << 30)));
        assert!(read("16MB").unwrap_err().contains("MiB"));
        assert!(read("99999999999GiB").unwrap_err().contains("too large"));
        assert!(read("MiB").is_err() && read("").is_err() && read("-1").is_err());
    }
}
