//! Cutting a byte stream into frames (WIRE-013, WIRE-020).

use bytes::{Buf, Bytes, BytesMut};
use schema_binary::wire::Reader;
use schema_binary::{Code, Error};

/// The longest envelope the peers of this protocol read by default (WIRE-051).
pub const MAX_ENVELOPE: usize = 16 * 1024 * 1024;

/// Why no more frames can be had from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FramingError {
    /// A frame announced more than the limit.
    #[error("an envelope of {length} bytes exceeds the limit of {limit} bytes")]
    TooLarge {
        /// What the frame announced.
        length: u64,
        /// The limit that was set.
        limit: usize,
    },
    /// A length of zero, or one that is not a number.
    #[error("malformed frame length")]
    Malformed,
    /// An earlier failure; only a new connection helps (WIRE-052).
    #[error("Expected parser is spent")]
    Spent,
}

/// Collects the bytes of one direction of a connection and gives back complete frames.
///
/// It buffers one incomplete frame at most, and grows with what arrived, never with what was announced.
#[derive(Debug)]
pub struct FrameReader {
    buffer: BytesMut,
    limit: usize,
    spent: bool,
}

impl FrameReader {
    /// Refuses frames whose body is longer than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), limit, spent: false }
    }

    /// Sets another limit for frames still to come.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Appends what arrived.
    pub fn push(&mut self, bytes: Bytes) {
        if self.spent {
            return;
        }
        if self.buffer.is_empty() {
            // A message usually holds whole envelopes: take it over instead of copying it.
            self.buffer = bytes.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        } else {
            self.buffer.extend_from_slice(&bytes);
        }
    }

    /// Gives up the stream: what follows a frame that does not decode is not to be trusted.
    pub fn spend(&mut self) {
        self.spent = true;
        self.buffer = BytesMut::new();
    }

    /// Whether the beginning of a frame is waiting for its end.
    pub fn is_partial(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Takes the body of the next complete frame.
    ///
    /// # Errors
    /// After an error every further call fails with [`FramingError::Spent`].
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, FramingError> {
        if self.spent {
            return Err(FramingError::Spent);
        }
        let frame = self.complete_frame();
        if frame.is_err() {
            self.spend();
        }
        frame
    }

    fn complete_frame(&mut self) -> Result<Option<Bytes>, FramingError> {
        let mut reader = Reader::new(&self.buffer);
        let length = match reader.uvarint() {
            Ok(length) => length,
            Err(Error { code: Code::Truncated, .. }) => return Ok(None),
            Err(_) => return Err(FramingError::Malformed),
        };
        if length == 0 {
            return Err(FramingError::Malformed);
        }
        if length > self.limit as u64 {
            return Err(FramingError::TooLarge { length, limit: self.limit });
        }
        let header = self.buffer.len() - reader.rest().len();
        let Ok(body) = usize::try_from(length) else { return Err(FramingError::Malformed) };
        if reader.rest().len() < body {
            return Ok(None);
        }
        self.buffer.advance(header);
        let frame = self.buffer.split_to(body).freeze();
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
        Ok(Some(frame))
    }
}
