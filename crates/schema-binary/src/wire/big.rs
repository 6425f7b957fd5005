//! Integers of any width: zigzag varints.

use num_bigint::{BigInt, BigUint, Sign};

use super::Reader;
use crate::{Code, Error};

/// Appends `n` in zigzag form: 0, -1, 1, -2, … become 0, 1, 2, 3, …
pub fn put_zigzag(out: &mut Vec<u8>, n: &BigInt) {
    let doubled = n.magnitude() << 1u8;
    let code = if n.sign() == Sign::Minus { doubled - 1u8 } else { doubled };
    let groups = code.to_radix_le(128);
    let last = groups.len().saturating_sub(1);
    out.extend(groups.iter().enumerate().map(|(i, group)| if i < last { group | 0x80 } else { *group }));
}

/// Appends `n` in zigzag form.
pub fn put_zigzag_i128(out: &mut Vec<u8>, n: i128) {
    let mut code = (n << 1 ^ n >> 127).cast_unsigned();
    while code >= 0x80 {
        out.push(code as u8 | 0x80);
        code >>= 7;
    }
    out.push(code as u8);
}

impl<'a> Reader<'a> {
    /// Reads a zigzag integer of any width.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region ends inside it.
    pub fn zigzag(&mut self) -> Result<BigInt, Error> {
        let groups = self.varint_groups()?;
        if groups.len() <= 18 {
            return Ok(BigInt::from(unzigzag(groups)));
        }
        let digits: Vec<u8> = groups.iter().map(|group| group & 0x7f).collect();
        let code = BigUint::from_radix_le(&digits, 128).ok_or(Code::Truncated)?;
        let negative = code.bit(0);
        Ok(if negative { -BigInt::from((code + 1u8) >> 1u8) } else { BigInt::from(code >> 1u8) })
    }

    /// Reads a zigzag integer that must fit 127 bits.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region ends inside it, [`Code::Check`] if it is too large.
    pub fn zigzag_i128(&mut self) -> Result<i128, Error> {
        let groups = self.varint_groups()?;
        let used = groups.iter().rposition(|group| group & 0x7f != 0).map_or(0, |last| last + 1);
        match groups.get(..used) {
            Some(groups) if used <= 18 => Ok(unzigzag(groups)),
            _ => Err(Code::Check.into()),
        }
    }

    /// The bytes of a varint of any width, high bits included.
    pub(super) fn varint_groups(&mut self) -> Result<&'a [u8], Error> {
        let last = self.rest.iter().position(|byte| byte & 0x80 == 0).ok_or(Code::Truncated)?;
        self.take(last as u64 + 1)
    }
}

/// The integer of at most 18 groups (126 bits).
fn unzigzag(groups: &[u8]) -> i128 {
    let code = groups.iter().rev().fold(0u128, |code, group| code << 7 | u128::from(group & 0x7f));
    (code >> 1).cast_signed() ^ -(code & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_of_any_width() {
        for n in [0i128, -1, 1, -2, 63, -64, 64, i128::MAX >> 2, i128::MIN >> 2] {
            let mut bytes = Vec::new();
            put_zigzag(&mut bytes, &BigInt::from(n));
            let mut same = Vec::new();
            put_zigzag_i128(&mut same, n);
            assert_eq!(bytes, same);
            assert_eq!(Reader::new(&bytes).zigzag().unwrap(), BigInt::from(n));
            assert_eq!(Reader::new(&bytes).zigzag_i128().unwrap(), n);
        }
        let huge = -(BigInt::from(1) << 300u32) - 7;
        let mut bytes = Vec::new();
        put_zigzag(&mut bytes, &huge);
        assert_eq!(Reader::new(&bytes).zigzag().unwrap(), huge);
        assert_eq!(Reader::new(&bytes).zigzag_i128().unwrap_err().code, Code::Check);
    }
}
