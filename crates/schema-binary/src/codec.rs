//! Whole frames of types.

use std::fmt;
use std::marker::PhantomData;

use crate::engine::{Decoder, Encoder};
use crate::frame::{Head, split};
use crate::layout::{Builder, fingerprint};
use crate::stream::FrameDecoder;
use crate::wire::Reader;
use crate::{Decode, DecodeOwned, Encode, Error, Layout, Mode};

/// A type in a mode: reads and writes frames.
///
/// Make it once and keep it: in fingerprint mode it holds the hash of the layout. A codec of a type that borrows for
/// `'static` reads the type for any shorter lifetime, so one can be held in a static.
pub struct Codec<T: ?Sized> {
    head: Head,
    of: PhantomData<fn() -> *const T>,
}

impl<T: Layout + ?Sized> Codec<T> {
    /// Uses `T` in `mode`.
    pub fn new(mode: Mode) -> Self {
        Self { head: Head::new(mode, Self::fingerprint), of: PhantomData }
    }

    /// The hash by which two sides know that they use the same layout.
    pub fn fingerprint() -> u64 {
        let graph = Builder::graph::<T>();
        fingerprint(&graph, graph.root())
    }

    /// Writes a value as one frame.
    ///
    /// # Errors
    /// Why the format cannot hold the value, and where.
    pub fn encode(&self, value: &T) -> Result<Vec<u8>, Error>
    where
        T: Encode,
    {
        let mut out = Vec::new();
        self.encode_into(value, &mut out)?;
        Ok(out)
    }

    /// Appends a value as one frame. If that fails, `out` is as long as before.
    ///
    /// # Errors
    /// Why the format cannot hold the value, and where.
    pub fn encode_into(&self, value: &T, out: &mut Vec<u8>) -> Result<(), Error>
    where
        T: Encode,
    {
        let start = out.len();
        let mut encoder = Encoder::new(std::mem::take(out), self.head.mode(), None);
        let written = encoder.sized(|encoder| {
            self.head.write(encoder.out());
            value.encode(encoder)
        });
        (*out, _) = encoder.into_parts();
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    /// Reads a value from exactly one frame.
    ///
    /// # Errors
    /// What is wrong with the bytes, and where.
    pub fn decode<'de>(&self, frame: &'de [u8]) -> Result<T, Error>
    where
        T: Decode<'de>,
    {
        let (body, rest) = split(frame)?;
        let value = self.decode_body(body)?;
        Reader::new(rest).finish()?;
        Ok(value)
    }

    /// Reads a value from the body of a frame: everything behind its length.
    ///
    /// # Errors
    /// What is wrong with the bytes, and where.
    pub fn decode_body<'de>(&self, body: &'de [u8]) -> Result<T, Error>
    where
        T: Decode<'de>,
    {
        let mut decoder = Decoder::new(body, self.head.mode(), 0);
        self.head.expect(&mut decoder.reader)?;
        decoder.item(T::decode)
    }
}

impl<T: ?Sized> Clone for Codec<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Codec<T> {}

impl<T: ?Sized> fmt::Debug for Codec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("head", &self.head).finish_non_exhaustive()
    }
}

impl<T: DecodeOwned> FrameDecoder for Codec<T> {
    type Value = T;

    fn decode_body(&mut self, body: &[u8]) -> Result<T, Error> {
        Self::decode_body(self, body)
    }
}

/// Writes a value as one frame in default mode.
///
/// # Errors
/// Why the format cannot hold the value, and where.
pub fn encode<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    Codec::new(Mode::Default).encode(value)
}

/// Reads a value from exactly one frame in default mode.
///
/// # Errors
/// What is wrong with the bytes, and where.
pub fn decode<'de, T: Decode<'de>>(frame: &'de [u8]) -> Result<T, Error> {
    Codec::new(Mode::Default).decode(frame)
}
