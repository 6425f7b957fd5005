//! Holes: what an envelope carries as opaque bytes (WIRE-041, WIRE-053).

use schema_binary::wire::Reader;
use schema_binary::{Codec, Decode, Encode, Layout, Mode};

use crate::Malformed;

/// The first byte of a body in fingerprint mode.
const FINGERPRINT: u8 = 0x21;

/// How the payloads of a connection are written; both ends have to agree, so an answer follows its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PayloadMode {
    /// Fields carry ids, so that payloads may grow.
    #[default]
    Plain,
    /// Fields stand by position behind the fingerprint of the payload's schema.
    Fingerprinted,
}

impl PayloadMode {
    /// The mode a hole is written in; that of bytes that are no hole is plain.
    pub fn of(hole: &[u8]) -> Self {
        let mut reader = Reader::new(hole);
        match reader.uvarint().and_then(|_| reader.byte()) {
            Ok(FINGERPRINT) => Self::Fingerprinted,
            _ => Self::Plain,
        }
    }
}

/// The schema of a hole, ready to read and write it in both modes.
pub(crate) struct Hole<T: ?Sized> {
    plain: Codec<T>,
    fingerprinted: Codec<T>,
    /// What the body of a fingerprinted hole begins with.
    head: [u8; 9],
}

impl<T: Layout + ?Sized> Default for Hole<T> {
    fn default() -> Self {
        let mut head = [FINGERPRINT; 9];
        if let Some((_, fingerprint)) = head.split_first_mut() {
            fingerprint.copy_from_slice(&Codec::<T>::fingerprint().to_le_bytes());
        }
        Self { plain: Codec::new(Mode::Default), fingerprinted: Codec::new(Mode::Fingerprint), head }
    }
}

impl<T: ?Sized> Hole<T> {
    /// What the body of a hole begins with, before its value.
    pub(crate) fn head(&self, mode: PayloadMode) -> &[u8] {
        match mode {
            PayloadMode::Plain => &[0x20],
            PayloadMode::Fingerprinted => &self.head,
        }
    }

    fn codec(&self, mode: PayloadMode) -> &Codec<T> {
        match mode {
            PayloadMode::Plain => &self.plain,
            PayloadMode::Fingerprinted => &self.fingerprinted,
        }
    }
}

impl<T: Layout> Hole<T> {
    /// Reads a hole in the mode it is written in.
    pub(crate) fn read<'de>(&self, hole: &'de [u8]) -> Result<T, Malformed>
    where
        T: Decode<'de>,
    {
        Ok(self.codec(PayloadMode::of(hole)).decode(hole)?)
    }

    /// Writes a hole. Fails only for numbers beyond 2^53 - 1 and texts that are not the JSON they should be.
    pub(crate) fn write(&self, mode: PayloadMode, value: &T) -> Result<Vec<u8>, Malformed>
    where
        T: Encode,
    {
        Ok(self.codec(mode).encode(value)?)
    }
}
