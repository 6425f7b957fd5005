//! Numbers: the three forms a float takes, and the sign-magnitude varint.

use super::{MAX_SAFE_INTEGER, Reader, put_uvarint};
use crate::{Code, Error};

/// The greatest magnitude a number may have to be written as a varint: 2^48 - 1.
pub const VARINT_NUMBER_MAX: f64 = 281_474_976_710_655.0;

/// The greatest mantissa of a decimal: 2^41 - 1.
pub const DECIMAL_MANTISSA_MAX: f64 = 2_199_023_255_551.0;

/// 10^0 to 10^8: what a mantissa is divided by, by scale.
pub const POWERS_OF_TEN: [f64; 9] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// The form a number takes on the wire; it depends on its value only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberForm {
    /// An integer of at most [`VARINT_NUMBER_MAX`].
    Varint,
    /// `mantissa / 10^scale`, exactly.
    Decimal {
        /// An integer of at most [`DECIMAL_MANTISSA_MAX`].
        mantissa: f64,
        /// 1 to 8.
        scale: u8,
    },
    /// Anything else: 8 bytes.
    Float,
}

/// Chooses the form of `x`: the shortest that gives the same number back.
pub fn classify(x: f64) -> NumberForm {
    if x.trunc() == x && x.abs() <= VARINT_NUMBER_MAX {
        return NumberForm::Varint;
    }
    for (scale, power) in (0u8..).zip(POWERS_OF_TEN).skip(1) {
        let mantissa = round_half_up(x * power);
        // Growing scales only make the mantissa larger; NaN and the infinities end here as well.
        if mantissa.is_nan() || mantissa.abs() > DECIMAL_MANTISSA_MAX {
            return NumberForm::Float;
        }
        if mantissa / power == x {
            return NumberForm::Decimal { mantissa, scale };
        }
    }
    NumberForm::Float
}

/// Rounds to an integer, halves towards positive infinity.
fn round_half_up(x: f64) -> f64 {
    let floor = x.floor();
    if x - floor >= 0.5 { floor + 1.0 } else { floor }
}

/// Whether `x` is an integer of at most 2^53 - 1.
pub fn is_safe_integer(x: f64) -> bool {
    x.trunc() == x && x.abs() <= MAX_SAFE_INTEGER as f64
}

/// The sign-magnitude code of an integer of at most 2^53 - 1: twice its magnitude, plus 1 if it is negative or -0.
pub fn sign_magnitude(x: f64) -> u64 {
    2 * (x.abs() as u64) + u64::from(x.is_sign_negative())
}

/// Appends an integer of at most 2^53 - 1 as a sign-magnitude varint.
#[inline]
pub fn put_number_varint(out: &mut Vec<u8>, x: f64) {
    put_uvarint(out, sign_magnitude(x));
}

/// The number of a sign-magnitude code.
fn from_sign_magnitude(code: u64) -> f64 {
    let magnitude = (code >> 1) as f64;
    if code & 1 == 1 { -magnitude } else { magnitude }
}

impl Reader<'_> {
    /// Reads a sign-magnitude varint of any width as the nearest float.
    ///
    /// # Errors
    /// [`Code::Truncated`], or [`Code::UnsafeInteger`] if no finite float is near.
    #[inline]
    pub fn number_varint(&mut self) -> Result<f64, Error> {
        match self.rest.split_first() {
            Some((&first, rest)) if first < 0x80 => {
                self.rest = rest;
                Ok(from_sign_magnitude(u64::from(first)))
            }
            _ => self.long_number_varint(),
        }
    }

    fn long_number_varint(&mut self) -> Result<f64, Error> {
        let start = *self;
        let mut code = 0u64;
        // Nine groups are 63 bits: exact up to 53 of them, rounded to nearest by the conversion beyond.
        for group in 0..9 {
            let byte = self.byte()?;
            code |= u64::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                return Ok(from_sign_magnitude(code));
            }
        }
        *self = start;
        self.wide_number_varint()
    }

    /// Varints of 10 bytes and more: the top 64 bits and whether anything lies below them decide the float.
    #[cold]
    fn wide_number_varint(&mut self) -> Result<f64, Error> {
        let groups = self.varint_groups()?;
        let negative = groups.first().is_some_and(|low| low & 1 == 1);
        let mut top = 0u64;
        let mut dropped = 0i32;
        let mut sticky = false;
        let bits = groups.iter().rev().flat_map(|group| (0..7).rev().map(move |bit| group >> bit & 1));
        let mut bits = bits.skip_while(|&bit| bit == 0).peekable();
        while let Some(bit) = bits.next() {
            // The lowest bit is the sign, not part of the magnitude.
            if bits.peek().is_none() {
                break;
            }
            if top >> 63 == 0 {
                top = top << 1 | u64::from(bit);
            } else {
                dropped = dropped.saturating_add(1);
                sticky |= bit == 1;
            }
        }
        let magnitude = (top | u64::from(sticky)) as f64 * 2f64.powi(dropped);
        if !magnitude.is_finite() {
            return Err(Code::UnsafeInteger.into());
        }
        Ok(if negative { -magnitude } else { magnitude })
    }

    /// Reads a mantissa and a scale as a struct field or record entry holds them.
    ///
    /// # Errors
    /// Those of [`Reader::number_varint`] and [`Reader::uvarint`]; [`Code::DecimalScale`] for a scale outside 1 to 8.
    pub fn decimal(&mut self) -> Result<f64, Error> {
        let mantissa = self.number_varint()?;
        let scale = self.uvarint()?;
        scaled(mantissa, scale)
    }

    /// Reads a number that fills the region: a varint, a varint and a scale byte, or 8 bytes.
    ///
    /// # Errors
    /// [`Code::NumberLength`], [`Code::DecimalScale`], or those of [`Reader::number_varint`].
    pub fn plain_number(&mut self) -> Result<f64, Error> {
        match self.remaining() {
            8 => self.f64(),
            1..=7 => {
                let mantissa = self.number_varint()?;
                if self.is_empty() {
                    return Ok(mantissa);
                }
                let scale = self.byte()?;
                if self.is_empty() {
                    scaled(mantissa, u64::from(scale))
                } else {
                    Err(Code::DecimalScale.into())
                }
            }
            _ => Err(Code::NumberLength.into()),
        }
    }

    /// Reads one number of a decimal run: code `sign-magnitude mantissa * 16 + scale`, scale 0 for integers.
    ///
    /// # Errors
    /// Those of [`Reader::uvarint`]; [`Code::DecimalScale`] for a scale above 8.
    pub fn packed_decimal(&mut self) -> Result<f64, Error> {
        let code = self.uvarint()?;
        let mantissa = from_sign_magnitude(code >> 4);
        match code & 15 {
            0 => Ok(mantissa),
            scale => scaled(mantissa, scale),
        }
    }
}

fn scaled(mantissa: f64, scale: u64) -> Result<f64, Error> {
    let power =
        usize::try_from(scale).ok().filter(|&scale| scale > 0).and_then(|scale| POWERS_OF_TEN.get(scale));
    power.map(|power| mantissa / power).ok_or(Code::DecimalScale.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_by_value() {
        let decimal = |mantissa, scale| NumberForm::Decimal { mantissa, scale };
        assert_eq!(classify(-0.0), NumberForm::Varint);
        assert_eq!(classify(VARINT_NUMBER_MAX), NumberForm::Varint);
        assert_eq!(classify(VARINT_NUMBER_MAX + 1.0), NumberForm::Float);
        assert_eq!(classify(1.5), decimal(15.0, 1));
        assert_eq!(classify(1e-8), decimal(1.0, 8));
        assert_eq!(classify(219_902_325_555.1), decimal(2_199_023_255_551.0, 1));
        for float in [1e-9, 0.1 + 0.2, 219_902_325_555.2, 1e21, f64::NAN, f64::INFINITY] {
            assert_eq!(classify(float), NumberForm::Float, "{float}");
        }
    }

    #[test]
    fn wide_varints_round_to_nearest_even() {
        let code = (u128::from(MAX_SAFE_INTEGER) + 2) << 12 | 1; // ties to even, negative
        let mut bytes = Vec::new();
        let mut rest = code;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        assert_eq!(Reader::new(&bytes).number_varint().unwrap(), -((code >> 1) as f64));
        let endless = [vec![0xff; 200], vec![0x7f]].concat();
        assert_eq!(Reader::new(&endless).number_varint().unwrap_err().code, Code::UnsafeInteger);
    }
}
