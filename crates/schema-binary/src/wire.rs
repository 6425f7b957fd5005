//! The primitives every layout is made of: varints, sized regions, and a cursor that cannot overrun.

use crate::{Code, Error};

/// The greatest integer the format carries: 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Appends `n` as LEB128, low groups first, in its minimal form.
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
#[derive(Debug, Clone, Copy)]
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
    pub fn byte(&mut self) -> Result<u8, Error> {
        let (&first, rest) = self.rest.split_first().ok_or(Code::Truncated)?;
        self.rest = rest;
        Ok(first)
    }

    /// Reads `n` bytes.
    ///
    /// # Errors
    /// [`Code::Truncated`] if the region holds fewer.
    pub fn take(&mut self, n: u64) -> Result<&'a [u8], Error> {
        let n = usize::try_from(n).map_err(|_| Code::Truncated)?;
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Code::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a LEB128 number of at most 2^53 - 1; longer forms of small numbers are accepted.
    ///
    /// # Errors
    /// [`Code::Truncated`], [`Code::UnsafeInteger`], or [`Code::VarintTooLong`] after 10 bytes.
    pub fn uvarint(&mut self) -> Result<u64, Error> {
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

    /// Reads a length and then that many bytes.
    ///
    /// # Errors
    /// Those of [`Reader::uvarint`] and [`Reader::take`].
    pub fn sized(&mut self) -> Result<&'a [u8], Error> {
        let n = self.uvarint()?;
        self.take(n)
    }

    /// Checks that the region is used up.
    ///
    /// # Errors
    /// [`Code::Leftover`] if it is not.
    pub fn finish(self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(Code::Leftover.into()) }
    }
}
