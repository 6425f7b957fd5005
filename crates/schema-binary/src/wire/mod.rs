//! The primitives every layout is made of: varints, sized regions, and a cursor that cannot overrun.

mod big;
mod number;

pub use big::{put_zigzag, put_zigzag_i128};
pub use number::{
    DECIMAL_MANTISSA_MAX, NumberForm, POWERS_OF_TEN, VARINT_NUMBER_MAX, classify, is_safe_integer,
    put_number_varint, sign_magnitude,
};

use crate::{Code, Error};

/// The greatest integer the format carries: 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Appends `n` as LEB128, low groups first, in its minimal form.
#[inline]
pub fn put_uvarint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// The number of bytes [`put_uvarint`] writes for `n`.
pub const fn uvarint_len(n: u64) -> usize {
    let bits = 64 - (n | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Appends the length of `bytes`, then `bytes`.
pub fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    put_uvarint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A cursor over one region of bytes; it never reads past the region's end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte of `region`.
    pub const fn new(region: &'a [u8]) -> Self {
        Self { rest: region }
    }

    /// What has not been read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether the region is used up.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// [`Code::Truncated`] at the end of the region.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Error> {
        let (&first, rest) = self.rest.split_first().ok_or(Code::Truncated)?;
        self.rest = rest;
        Ok(first)
    }

    /// Reads `n` bytes.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region holds fewer.
    #[inline]
    pub fn take(&mut self, n: u64) -> Result<&'a [u8], Error> {
        let n = usize::try_from(n).map_err(|_| Code::Truncated)?;
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Code::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The number of bytes not read yet.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Reads everything up to the end of the region.
    #[inline]
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Code::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Reads 8 bytes, little end first, as a float.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region holds fewer.
    pub fn f64(&mut self) -> Result<f64, Error> {
        self.array().map(f64::from_le_bytes)
    }

    /// Reads 8 bytes, little end first, as a signed integer.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region holds fewer.
    pub fn i64(&mut self) -> Result<i64, Error> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads 4 bytes, little end first, as an unsigned integer.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region holds fewer.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads 4 bytes, little end first, as a signed integer.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region holds fewer.
    pub fn i32(&mut self) -> Result<i32, Error> {
        self.array().map(i32::from_le_bytes)
    }

    /// Reads a LEB128 number of at most 2^53 - 1; longer forms of small numbers are accepted.
    ///
    /// # Errors
    /// [`Code::Truncated`], [`Code::UnsafeInteger`], or [`Code::VarintTooLong`] after 10 bytes.
    #[inline]
    pub fn uvarint(&mut self) -> Result<u64, Error> {
        match self.rest.split_first() {
            Some((&first, rest)) if first < 0x80 => {
                self.rest = rest;
                Ok(u64::from(first))
            }
            _ => self.long_uvarint(),
        }
    }

    fn long_uvarint(&mut self) -> Result<u64, Error> {
        let mut n = 0u64;
        for group in 0..10 {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if group < 8 {
                n |= bits << (7 * group);
            } else if bits != 0 {
                return Err(Code::UnsafeInteger.into());
            }
            if n > MAX_SAFE_INTEGER {
                return Err(Code::UnsafeInteger.into());
            }
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Code::VarintTooLong.into())
    }

    /// Reads a field tag: a LEB128 number of at most 5 bytes.
    ///
    /// # Errors
    /// [`Code::Truncated`], or [`Code::VarintTooLong`] if the fifth byte is not the last.
    #[inline]
    pub fn field_tag(&mut self) -> Result<u64, Error> {
        let mut tag = 0u64;
        for group in 0..5 {
            let byte = self.byte()?;
            tag |= u64::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                return Ok(tag);
            }
        }
        Err(Code::VarintTooLong.into())
    }

    /// Skips a varint of any width without looking at its value.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region ends inside it.
    pub fn skip_varint(&mut self) -> Result<(), Error> {
        while self.byte()? & 0x80 != 0 {}
        Ok(())
    }

    /// Reads the rest of the region as text.
    ///
    /// # Errors
    /// [`Code::Utf8`] if it is not UTF-8.
    #[inline]
    pub fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.take_rest()).map_err(|_| Code::Utf8.into())
    }

    /// Reads a length and then that many bytes.
    ///
    /// # Errors
    /// Those of [`Reader::uvarint`] and [`Reader::take`].
    #[inline]
    pub fn sized(&mut self) -> Result<&'a [u8], Error> {
        let n = self.uvarint()?;
        self.take(n)
    }

    /// Checks that the region is used up.
    ///
    /// # Errors
    /// [`Code::Leftover`] if it is not.
    #[inline]
    pub fn finish(self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(Code::Leftover.into()) }
    }
}
