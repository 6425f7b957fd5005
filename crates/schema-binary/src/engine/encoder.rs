//! Writing state: the bytes so far, the mode, and the connection dictionary.

use super::field::kind;
use super::struct_write::WriteForm;
use crate::dictionary::{Dictionary, StringSlot};
use crate::frame::Head;
use crate::wire::{self, NumberForm};
use crate::{Error, Mode};

/// The form a value takes behind a field tag or an entry's key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// None of its own: a length and the plain value.
    Sized,
    /// A boolean, which the kind itself tells.
    Bool(bool),
    /// An integer.
    Varint(f64),
    /// A number in 8 bytes.
    Float(f64),
    /// A short decimal.
    Decimal {
        /// An integer.
        mantissa: f64,
        /// 1 to 8.
        scale: u8,
    },
}

impl Scalar {
    /// The form of a number.
    pub fn number(x: f64) -> Self {
        match wire::classify(x) {
            NumberForm::Varint => Self::Varint(x),
            NumberForm::Decimal { mantissa, scale } => Self::Decimal { mantissa, scale },
            NumberForm::Float => Self::Float(x),
        }
    }

    /// The field kind that announces this form.
    pub const fn kind(self) -> u8 {
        match self {
            Self::Sized => kind::SIZED,
            Self::Bool(false) => kind::FALSE,
            Self::Bool(true) => kind::TRUE,
            Self::Varint(_) => kind::VARINT,
            Self::Float(_) => kind::FIXED64,
            Self::Decimal { .. } => kind::DECIMAL,
        }
    }
}

/// What writing a value needs besides its layout.
#[derive(Debug)]
pub struct Encoder {
    out: Vec<u8>,
    positional: bool,
    dictionary: Option<Dictionary>,
}

impl Encoder {
    /// Appends to `out`.
    pub(crate) fn new(out: Vec<u8>, mode: Mode, dictionary: Option<Dictionary>) -> Self {
        Self { out, positional: mode == Mode::Fingerprint, dictionary }
    }

    /// The bytes written, and the dictionary advanced by what was written.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Option<Dictionary>) {
        (self.out, self.dictionary)
    }

    /// Whether structs are positional (fingerprint mode).
    #[inline]
    pub fn positional(&self) -> bool {
        self.positional
    }

    /// Appends one byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    /// Appends bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends a varint.
    #[inline]
    pub fn uvarint(&mut self, n: u64) {
        wire::put_uvarint(&mut self.out, n);
    }

    /// The buffer itself, for primitives that append to it.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Appends the plain form of a number.
    pub fn number(&mut self, x: f64) {
        match wire::classify(x) {
            NumberForm::Varint => wire::put_number_varint(&mut self.out, x),
            NumberForm::Decimal { mantissa, scale } => {
                wire::put_number_varint(&mut self.out, mantissa);
                self.out.push(scale);
            }
            NumberForm::Float => self.float(x),
        }
    }

    /// Appends a float in 8 bytes; every NaN is written as the same one.
    pub fn float(&mut self, x: f64) {
        let bits = if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() };
        self.out.extend_from_slice(&bits.to_le_bytes());
    }

    /// Appends the string of a schema object, through the connection dictionary if there is one.
    ///
    /// `identity` tells strings apart that are written alike (those that are not Unicode).
    #[inline]
    pub fn string(&mut self, text: &str, identity: &[u8], slot: StringSlot) {
        match &mut self.dictionary {
            None => self.out.extend_from_slice(text.as_bytes()),
            Some(dictionary) => dictionary.write(slot, text, identity, &mut self.out),
        }
    }

    /// Appends a length and what `write` appends.
    ///
    /// # Errors
    /// Those of `write`.
    #[inline]
    pub fn sized(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let mark = self.out.len();
        self.out.push(0);
        write(self)?;
        let length = self.out.len() - mark - 1;
        self.fill_prefix(mark, length as u64);
        Ok(())
    }

    /// Appends twice a length, as rows do, and what `write` appends.
    ///
    /// # Errors
    /// Those of `write`.
    #[inline]
    pub fn region(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let mark = self.out.len();
        self.out.push(0);
        write(self)?;
        let length = self.out.len() - mark - 1;
        self.fill_prefix(mark, 2 * length as u64);
        Ok(())
    }

    /// Appends a struct field that is sized everywhere.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn sized_form(
        &mut self,
        form: WriteForm<'_, '_>,
        write: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match form {
            WriteForm::Tagged(id) => self.field(id, Scalar::Sized, write),
            WriteForm::Slot => self.sized(write),
            WriteForm::Region(_) => self.region(write),
        }
    }

    /// Appends a frame in default mode around what `write` appends; a connection dictionary stays outside.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn nested_frame(&mut self, write: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let positional = std::mem::replace(&mut self.positional, false);
        let dictionary = self.dictionary.take();
        let written = self.sized(|encoder| {
            Head::new(Mode::Default, || 0).write(&mut encoder.out);
            write(encoder)
        });
        self.positional = positional;
        self.dictionary = dictionary;
        written
    }

    /// Writes `code` over the byte at `mark`; longer codes move what follows.
    #[inline]
    fn fill_prefix(&mut self, mark: usize, code: u64) {
        match self.out.get_mut(mark) {
            Some(prefix) if code < 0x80 => *prefix = code as u8,
            _ => self.widen_prefix(mark, code),
        }
    }

    fn widen_prefix(&mut self, mark: usize, code: u64) {
        let mut prefix = [0; 10];
        let width = wire::uvarint_len(code);
        let mut rest = code;
        for byte in prefix.iter_mut().take(width) {
            *byte = rest as u8 | 0x80;
            rest >>= 7;
        }
        if let Some(prefix) = prefix.get_mut(..width) {
            if let Some(last) = prefix.last_mut() {
                *last &= 0x7f;
            }
            self.out.splice(mark..=mark, prefix.iter().copied());
        }
    }

    /// Appends the payload of a field or entry in the form `scalar`; `write` gives the plain value.
    ///
    /// # Errors
    /// Those of `write`.
    #[inline]
    pub fn payload(
        &mut self,
        scalar: Scalar,
        write: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match scalar {
            Scalar::Sized => return self.sized(write),
            Scalar::Bool(_) => {}
            Scalar::Varint(x) => wire::put_number_varint(&mut self.out, x),
            Scalar::Float(x) => self.float(x),
            Scalar::Decimal { mantissa, scale } => {
                wire::put_number_varint(&mut self.out, mantissa);
                self.out.push(scale);
            }
        }
        Ok(())
    }

    /// Appends a field: its tag and its payload.
    ///
    /// # Errors
    /// Those of `write`.
    #[inline]
    pub fn field(
        &mut self,
        id: u32,
        scalar: Scalar,
        write: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.uvarint(u64::from(id) << 3 | u64::from(scalar.kind()));
        self.payload(scalar, write)
    }
}
