//! Whole frames of a schema known at run time.

use super::decode::Walk;
use super::encode::Writer;
use super::{Schema, Value};
use crate::dictionary::Dictionary;
use crate::engine::{Decoder, Encoder};
use crate::frame::{Head, split};
use crate::layout::NodeId;
use crate::stream::FrameDecoder;
use crate::wire::Reader;
use crate::{Code, Error, Mode};

/// A schema in a mode: reads and writes frames.
#[derive(Debug, Clone, Copy)]
pub struct Codec<'s> {
    schema: &'s Schema,
    head: Head,
}

impl<'s> Codec<'s> {
    /// Uses `schema` in `mode`. Worth keeping in fingerprint mode, where it hashes the layout.
    pub fn new(schema: &'s Schema, mode: Mode) -> Self {
        Self { schema, head: Head::new(mode, || schema.fingerprint()) }
    }

    /// Writes a value as one frame.
    ///
    /// # Errors
    /// Why the value does not fit the schema, and where.
    pub fn encode(&self, value: &Value) -> Result<Vec<u8>, Error> {
        self.write(value, None).0
    }

    /// Reads a value from exactly one frame.
    ///
    /// # Errors
    /// What is wrong with the bytes, or why the value does not fit the schema.
    pub fn decode(&self, frame: &[u8]) -> Result<Value, Error> {
        let (body, rest) = split(frame)?;
        let (value, _) = self.read(body, None);
        let value = value?;
        Reader::new(rest).finish()?;
        Ok(value)
    }

    fn write(
        &self,
        value: &Value,
        dictionary: Option<Dictionary>,
    ) -> (Result<Vec<u8>, Error>, Option<Dictionary>) {
        let root = self.schema.graph.root();
        let mut encoder = Encoder::new(Vec::new(), self.head.mode(), dictionary);
        let written = encoder.sized(|encoder| {
            self.head.write(encoder.out());
            Writer(&self.schema.graph).value(root, value, encoder)
        });
        let written = written.and_then(|()| self.schema.validate(root, value, 0));
        let (bytes, mut dictionary) = encoder.into_parts();
        if let Some(dictionary) = &mut dictionary {
            if written.is_ok() { dictionary.commit() } else { dictionary.roll_back() }
        }
        (written.map(|()| bytes), dictionary)
    }

    fn read(
        &self,
        body: &[u8],
        dictionary: Option<Dictionary>,
    ) -> (Result<Value, Error>, Option<Dictionary>) {
        let mut decoder = Decoder::new(body, self.head.mode(), 0).with_dictionary(dictionary);
        let root = self.schema.graph.root();
        let value = read_body(self.schema, root, self.head, &mut decoder);
        let value = value.and_then(|value| self.schema.validate(root, &value, 0).map(|()| value));
        (value, decoder.into_dictionary())
    }
}

/// Reads the body of a frame that holds a value of node `id`.
fn read_body(schema: &Schema, id: NodeId, head: Head, decoder: &mut Decoder<'_>) -> Result<Value, Error> {
    head.expect(&mut decoder.reader)?;
    decoder.item(|decoder| Walk(&schema.graph).value(id, decoder))
}

/// Reads a frame inside a value, `depth` levels down.
pub(super) fn nested_frame(schema: &Schema, id: NodeId, frame: &[u8], depth: u32) -> Result<(), Error> {
    let (body, rest) = split(frame)?;
    let mut decoder = Decoder::new(body, Mode::Default, depth);
    let value = read_body(schema, id, Head::new(Mode::Default, || 0), &mut decoder)?;
    Reader::new(rest).finish()?;
    schema.validate(id, &value, depth + 1)
}

/// One end of a connection: frames that may share string tables.
#[derive(Debug)]
pub struct Connection<'s> {
    codec: Codec<'s>,
    written: Option<Dictionary>,
    read: Option<Dictionary>,
}

impl<'s> Connection<'s> {
    /// A connection whose frames stand alone.
    pub fn new(codec: Codec<'s>) -> Self {
        Self { codec, written: None, read: None }
    }

    /// A connection whose frames share strings; the other end must do the same, and must read every frame in order.
    ///
    /// # Errors
    /// [`Code::Schema`] if the schema has checks or transformations.
    pub fn with_dictionary(codec: Codec<'s>) -> Result<Self, Error> {
        if !codec.schema.supports_dictionary() {
            return Err(Code::Schema.into());
        }
        Ok(Self { codec, written: Some(Dictionary::default()), read: Some(Dictionary::default()) })
    }

    /// Writes the next frame. A value that does not fit changes nothing.
    ///
    /// # Errors
    /// As [`Codec::encode`].
    pub fn encode(&mut self, value: &Value) -> Result<Vec<u8>, Error> {
        let (frame, dictionary) = self.codec.write(value, self.written.take());
        self.written = dictionary;
        frame
    }
}

impl FrameDecoder for Connection<'_> {
    type Value = Value;

    fn decode_body(&mut self, body: &[u8]) -> Result<Value, Error> {
        let (value, dictionary) = self.codec.read(body, self.read.take());
        self.read = dictionary;
        value
    }
}

impl FrameDecoder for Codec<'_> {
    type Value = Value;

    fn decode_body(&mut self, body: &[u8]) -> Result<Value, Error> {
        self.read(body, None).0
    }
}
