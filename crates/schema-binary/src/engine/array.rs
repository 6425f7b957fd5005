//! Arrays: their counts, and runs of plain numbers.

use super::decoder::Decoder;
use super::encoder::Encoder;
use crate::wire::{self, DECIMAL_MANTISSA_MAX, NumberForm};
use crate::{Code, Error};

/// Elements an array may claim beyond the bytes that are left for them.
const COUNT_SLACK: u64 = 1_048_576;

/// How many elements an array may have, and what its first rest element looks like.
#[derive(Debug, Clone, Copy)]
pub struct ArrayRules {
    /// The number of required elements and tail elements.
    pub min: usize,
    /// The number of elements if there is no rest.
    pub max: Option<usize>,
    /// Whether the rest elements take no bytes.
    pub zero_width: bool,
}

/// Reads and checks the count of an array.
///
/// # Errors
/// [`Code::UnexpectedKey`], [`Code::MissingKey`] or [`Code::CountLimit`].
pub fn read_count(decoder: &mut Decoder<'_>, rules: ArrayRules) -> Result<usize, Error> {
    let count = decoder.reader.uvarint()?;
    if let Some(max) = rules.max.filter(|max| count > *max as u64) {
        return Err(Error::from(Code::UnexpectedKey).at(max));
    }
    let count = usize::try_from(count).map_err(|_| Code::CountLimit)?;
    if count < rules.min {
        return Err(Error::from(Code::MissingKey).at(count));
    }
    if rules.zero_width {
        decoder.spend_zero_width(count as u64)?;
    } else if count as u64 > decoder.reader.remaining() as u64 + COUNT_SLACK {
        return Err(Code::CountLimit.into());
    }
    Ok(count)
}

/// The forms of a number run, by mode byte.
mod mode {
    pub(super) const FLOATS: u8 = 0;
    pub(super) const VARINTS: u8 = 1;
    pub(super) const DECIMALS: u8 = 2;
}

/// Reads a run of `count` plain numbers that fills the region.
///
/// # Errors
/// [`Code::NumberLength`], [`Code::DecimalScale`], or those of the numbers, at their index.
pub fn read_numbers(decoder: &mut Decoder<'_>, count: usize, mut push: impl FnMut(f64)) -> Result<(), Error> {
    let reader = &mut decoder.reader;
    let mode = reader.byte()?;
    if mode > mode::DECIMALS || mode == mode::FLOATS && reader.remaining() as u64 != count as u64 * 8 {
        return Err(Code::NumberLength.into());
    }
    for index in 0..count {
        let number = match mode {
            mode::FLOATS => reader.f64(),
            mode::VARINTS => reader.number_varint(),
            _ => reader.packed_decimal(),
        };
        push(number.map_err(|error| error.at(index))?);
    }
    Ok(())
}

/// Writes a run of plain numbers in the shortest of its three forms.
pub fn write_numbers(encoder: &mut Encoder, numbers: impl Iterator<Item = f64> + Clone) {
    let mode = run_mode(numbers.clone());
    encoder.byte(mode);
    for x in numbers {
        match mode {
            mode::FLOATS => encoder.float(x),
            mode::VARINTS => wire::put_number_varint(encoder.out(), x),
            _ => encoder.uvarint(packed_decimal(x)),
        }
    }
}

fn run_mode(numbers: impl Iterator<Item = f64>) -> u8 {
    let (mut varints, mut decimals) = (true, true);
    for x in numbers {
        match wire::classify(x) {
            NumberForm::Varint => decimals &= x.abs() <= DECIMAL_MANTISSA_MAX,
            NumberForm::Decimal { .. } => varints = false,
            NumberForm::Float => (varints, decimals) = (false, false),
        }
        if !varints && !decimals {
            return mode::FLOATS;
        }
    }
    if varints { mode::VARINTS } else { mode::DECIMALS }
}

fn packed_decimal(x: f64) -> u64 {
    let (mantissa, scale) = match wire::classify(x) {
        NumberForm::Decimal { mantissa, scale } => (mantissa, scale),
        _ => (x, 0),
    };
    wire::sign_magnitude(mantissa) << 4 | u64::from(scale)
}
