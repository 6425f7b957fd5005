//! Reading and writing the default-mode structs of the calls (schema-binary.md 1.6).

use schema_binary::Code;
use schema_binary::wire::{MAX_SAFE_INTEGER, Reader, put_sized, put_uvarint, uvarint_len};

use crate::Malformed as Error;

/// A field's value in its wire kind.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Sized(&'a [u8]),
    Varint(f64),
    Bool(bool),
    Skipped,
}

/// The fields of one struct, by id.
pub(crate) struct Fields<'a>(Vec<(u32, Value<'a>)>);

impl<'a> Fields<'a> {
    /// Reads a struct that fills `region`.
    pub(crate) fn read(region: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(region);
        let mut fields: Vec<(u32, Value<'a>)> = Vec::new();
        while !reader.is_empty() {
            let tag = reader.uvarint()?;
            let id = u32::try_from(tag >> 3).map_err(|_| Code::VarintTooLong)?;
            if fields.iter().any(|(known, _)| *known == id) {
                return Err(Code::DuplicateField.into());
            }
            let value = match tag & 7 {
                0 => Value::Sized(reader.sized()?),
                1 => Value::Varint(reader.number_varint()?),
                kind @ (3 | 4) => Value::Bool(kind == 4),
                2 => reader.take(8).map(|_| Value::Skipped)?,
                5 => {
                    reader.skip_varint()?;
                    reader.skip_varint()?;
                    Value::Skipped
                }
                6 => reader.take(4).map(|_| Value::Skipped)?,
                _ => Value::Skipped,
            };
            fields.push((id, value));
        }
        Ok(Self(fields))
    }

    /// Reads a frame in default mode that holds a struct.
    pub(crate) fn read_frame(frame: &'a [u8]) -> Result<Self, Error> {
        Self::read(unframe(frame)?)
    }

    fn get(&self, id: u32) -> Option<Value<'a>> {
        self.0.iter().find(|(known, _)| *known == id).map(|(_, value)| *value)
    }

    pub(crate) fn bytes(&self, id: u32, name: &'static str) -> Result<&'a [u8], Error> {
        match self.get(id) {
            Some(Value::Sized(bytes)) => Ok(bytes),
            _ => Err(Error::missing(name)),
        }
    }

    /// The bytes of a field that may be absent.
    pub(crate) fn optional(&self, id: u32) -> Option<&'a [u8]> {
        match self.get(id) {
            Some(Value::Sized(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn text(&self, id: u32, name: &'static str) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes(id, name)?).map_err(|_| Code::Utf8.into())
    }

    pub(crate) fn flag(&self, id: u32, name: &'static str) -> Result<bool, Error> {
        match self.get(id) {
            Some(Value::Bool(flag)) => Ok(flag),
            _ => Err(Error::missing(name)),
        }
    }

    pub(crate) fn natural(&self, id: u32, name: &'static str) -> Result<u64, Error> {
        match self.get(id) {
            Some(Value::Varint(number)) => natural(number),
            _ => Err(Error::missing(name)),
        }
    }

    pub(crate) fn int(&self, id: u32, name: &'static str) -> Result<i64, Error> {
        match self.get(id) {
            Some(Value::Varint(number)) => int(number),
            _ => Err(Error::missing(name)),
        }
    }
}

/// The value of a frame in default mode.
pub(crate) fn unframe(frame: &[u8]) -> Result<&[u8], Error> {
    let mut reader = Reader::new(frame);
    let mut body = Reader::new(reader.sized()?);
    reader.finish()?;
    if body.byte()? != 0x20 {
        return Err(Code::Envelope.into());
    }
    Ok(body.rest())
}

/// A default-mode frame around the value that `write` appends.
pub(crate) fn framed(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = vec![0x20];
    write(&mut body);
    let mut out = Vec::with_capacity(body.len() + 5);
    put_sized(&mut out, &body);
    out
}

/// An integer, exact up to 2^53 - 1 in either direction.
pub(crate) fn int(number: f64) -> Result<i64, Error> {
    if number.abs() > MAX_SAFE_INTEGER as f64 {
        return Err(Code::Check.into());
    }
    Ok(number as i64)
}

/// A number that must not be negative; -0 counts as 0.
pub(crate) fn natural(number: f64) -> Result<u64, Error> {
    u64::try_from(int(number)?).map_err(|_| Code::Check.into())
}

pub(crate) fn put_int(out: &mut Vec<u8>, n: i64) {
    put_uvarint(out, n.unsigned_abs().min(MAX_SAFE_INTEGER) * 2 + u64::from(n < 0));
}

pub(crate) fn put_natural(out: &mut Vec<u8>, n: u64) {
    put_uvarint(out, n * 2);
}

/// A field of kind 0.
pub(crate) fn put_bytes(out: &mut Vec<u8>, id: u32, bytes: &[u8]) {
    put_uvarint(out, u64::from(id) * 8);
    put_sized(out, bytes);
}

/// A value of a row run, written out.
pub(crate) fn put_region(out: &mut Vec<u8>, bytes: &[u8]) {
    put_uvarint(out, bytes.len() as u64 * 2);
    out.extend_from_slice(bytes);
}

/// A natural number as a value of a row run.
pub(crate) fn put_number_region(out: &mut Vec<u8>, n: u64) {
    put_uvarint(out, uvarint_len(n * 2) as u64 * 2);
    put_natural(out, n);
}
