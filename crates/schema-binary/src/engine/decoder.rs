//! Reading state: the current region, the depth, the mode, and what the frame may still cost.

use super::field::kind;
use super::text::Str;
use crate::dictionary::{Dictionary, StringSlot};
use crate::typed::plain_region;
use crate::wire::Reader;
use crate::{Code, Error, Mode};

/// The greatest number of levels a value may nest.
pub const MAX_DEPTH: u32 = 512;

/// Zero-width elements (null and undefined) one frame may hold in all.
const ZERO_WIDTH_MAX: u64 = 4_194_304;

/// Bytes of owned text one frame may make by reference, beyond its own size times [`REPEAT_FACTOR`].
const REPEAT_SLACK: u64 = 16 << 20;
const REPEAT_FACTOR: u64 = 64;

/// What reading a value needs besides its layout.
#[derive(Debug)]
pub struct Decoder<'a> {
    /// The unread part of the current region.
    pub reader: Reader<'a>,
    mode: Mode,
    depth: u32,
    zero_width_left: u64,
    repeat_left: u64,
    dictionary: Option<Dictionary>,
}

impl<'a> Decoder<'a> {
    /// Reads values out of `region`; nested frames say how deep they already are.
    pub(crate) fn new(region: &'a [u8], mode: Mode, depth: u32) -> Self {
        Self {
            reader: Reader::new(region),
            mode,
            depth,
            zero_width_left: ZERO_WIDTH_MAX,
            repeat_left: REPEAT_SLACK.saturating_add(REPEAT_FACTOR.saturating_mul(region.len() as u64)),
            dictionary: None,
        }
    }

    /// Reads strings through a connection dictionary.
    pub(crate) fn with_dictionary(mut self, dictionary: Option<Dictionary>) -> Self {
        self.dictionary = dictionary;
        self
    }

    /// Gives the connection dictionary back, advanced by what was read.
    pub(crate) fn into_dictionary(self) -> Option<Dictionary> {
        self.dictionary
    }

    /// The mode the frame is in.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether structs are positional (fingerprint mode).
    #[inline]
    pub fn positional(&self) -> bool {
        self.mode == Mode::Fingerprint
    }

    /// Whether what the schema does not know is an error.
    #[inline]
    pub fn strict(&self) -> bool {
        self.mode == Mode::Strict
    }

    /// How many levels the current value is deep.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Reads a value one level further down.
    ///
    /// # Errors
    /// [`Code::Depth`] beyond [`MAX_DEPTH`], or those of `read`.
    #[inline]
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(Code::Depth.into());
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Counts the level of a leaf.
    ///
    /// # Errors
    /// [`Code::Depth`] beyond [`MAX_DEPTH`].
    #[inline]
    pub fn leaf(&self) -> Result<(), Error> {
        if self.depth >= MAX_DEPTH { Err(Code::Depth.into()) } else { Ok(()) }
    }

    /// Reads a value that must use up `region`, one level further down.
    ///
    /// # Errors
    /// [`Code::Leftover`], or those of `read`.
    #[inline]
    pub fn value_in<T>(
        &mut self,
        region: &'a [u8],
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let outer = std::mem::replace(&mut self.reader, Reader::new(region));
        let value = self.nested(read);
        let region = std::mem::replace(&mut self.reader, outer);
        if value.is_ok() {
            region.finish()?;
        }
        value
    }

    /// Reads a length, and a value that must use up so many bytes.
    ///
    /// # Errors
    /// Those of [`Reader::sized`] and [`Decoder::value_in`].
    #[inline]
    pub fn sized_value<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let region = self.reader.sized()?;
        self.value_in(region, read)
    }

    /// Reads a row region, which must not be a reference, and a value that must use it up.
    ///
    /// # Errors
    /// [`Code::BackReference`], or those of [`Decoder::value_in`].
    pub fn region<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let region = plain_region(&mut self.reader)?;
        self.value_in(region, read)
    }

    /// Reads a value that fills the rest of the current region and cannot be absent.
    ///
    /// # Errors
    /// [`Code::MissingKey`] for an unknown union member, [`Code::Leftover`], or those of `read`.
    #[inline]
    pub fn item<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let value = self.nested(read).map_err(Error::required)?;
        self.reader.finish()?;
        Ok(value)
    }

    /// Reads the body of a frame in default mode; a connection dictionary stays outside.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn nested_frame<T>(
        &mut self,
        body: &'a [u8],
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let outer = std::mem::replace(&mut self.reader, Reader::new(body));
        let mode = std::mem::replace(&mut self.mode, Mode::Default);
        let dictionary = self.dictionary.take();
        let value = read(self).map_err(Error::required);
        self.reader = outer;
        self.mode = mode;
        self.dictionary = dictionary;
        value
    }

    /// Reads the rest of the region as a string of a schema object.
    ///
    /// # Errors
    /// [`Code::Utf8`], or those of the connection dictionary.
    #[inline]
    pub fn string(&mut self, slot: StringSlot) -> Result<Str<'a>, Error> {
        match &mut self.dictionary {
            None => self.reader.text().map(Str::Borrowed),
            Some(dictionary) => dictionary.read(slot, &mut self.reader),
        }
    }

    /// Whether strings go through a connection dictionary.
    #[inline]
    pub fn has_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    /// An owned copy of text that a reference repeats, counted against the frame's allowance.
    ///
    /// # Errors
    /// [`Code::CountLimit`] when references would make far more text than the frame is long.
    pub fn repeat(&mut self, text: &str) -> Result<String, Error> {
        self.repeat_left = self.repeat_left.checked_sub(text.len() as u64).ok_or(Code::CountLimit)?;
        Ok(text.to_owned())
    }

    /// Counts `n` elements without width against the frame's allowance.
    ///
    /// # Errors
    /// [`Code::CountLimit`] when it is used up.
    pub(super) fn spend_zero_width(&mut self, n: u64) -> Result<(), Error> {
        self.zero_width_left = self.zero_width_left.checked_sub(n).ok_or(Code::CountLimit)?;
        Ok(())
    }

    /// Skips the payload of a field or entry.
    ///
    /// # Errors
    /// [`Code::Truncated`], or those of a length.
    pub(super) fn skip_payload(&mut self, kind: u8) -> Result<(), Error> {
        match kind {
            kind::SIZED => self.reader.sized().map(drop),
            kind::VARINT => self.reader.skip_varint(),
            kind::FIXED64 => self.reader.take(8).map(drop),
            kind::FIXED32 => self.reader.take(4).map(drop),
            kind::DECIMAL => {
                self.reader.skip_varint()?;
                self.reader.skip_varint()
            }
            _ => Ok(()),
        }
    }

    /// Refuses a known field in a kind its layout does not accept, or skips it.
    #[cold]
    pub(super) fn skip_unaccepted(&mut self, kind: u8) -> Result<(), Error> {
        if self.strict() { Err(Code::WireKind.into()) } else { self.skip_payload(kind) }
    }

    /// What an unknown union member comes to: absent where that is possible, else an error.
    #[cold]
    pub fn unknown_member(&mut self) -> Error {
        if self.mode == Mode::Default {
            self.reader.take_rest();
            return Code::Absent.into();
        }
        Code::UnknownMember.into()
    }
}
