//! Streams: frames back to back, cut anywhere.

use crate::wire::Reader;
use crate::{Code, Error};

/// Finds the frames in a stream that arrives in pieces.
///
/// Nothing is kept beyond one incomplete frame, and no more is allocated than has arrived.
#[derive(Debug, Default)]
pub struct Splitter {
    buffer: Vec<u8>,
    /// How much of the buffer has been given out.
    start: usize,
    max_frame: Option<u64>,
}

impl Splitter {
    /// Takes frames of any length.
    pub const fn new() -> Self {
        Self { buffer: Vec::new(), start: 0, max_frame: None }
    }

    /// Takes frames with bodies of up to `max_frame` bytes; longer ones fail as soon as their length is known.
    pub const fn with_max_frame(max_frame: u64) -> Self {
        Self { buffer: Vec::new(), start: 0, max_frame: Some(max_frame) }
    }

    /// Adds what has arrived.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(chunk);
    }

    /// The body of the next complete frame, if it is there.
    ///
    /// # Errors
    /// [`Code::ZeroFrame`], [`Code::FrameTooLarge`], [`Code::VarintTooLong`] or [`Code::UnsafeInteger`]; nothing
    /// that follows can be read then.
    pub fn next_body(&mut self) -> Result<Option<&[u8]>, Error> {
        let unread = self.buffer.get(self.start..).unwrap_or_default();
        let Some((header, length)) = frame_length(unread)? else { return Ok(None) };
        if self.max_frame.is_some_and(|max| length > max) {
            return Err(Code::FrameTooLarge.into());
        }
        let Ok(length) = usize::try_from(length) else { return Ok(None) };
        let Some(body) = unread.get(header..).and_then(|body| body.get(..length)) else { return Ok(None) };
        self.start += header + length;
        Ok(Some(body))
    }

    /// The number of bytes that wait for the rest of their frame.
    pub fn buffered(&self) -> usize {
        self.buffer.len() - self.start
    }
}

/// The length of a frame's header and of its body, once the header is complete.
fn frame_length(bytes: &[u8]) -> Result<Option<(usize, u64)>, Error> {
    let Some(last) = bytes.iter().take(10).position(|byte| byte & 0x80 == 0) else {
        return if bytes.len() >= 10 { Err(Code::VarintTooLong.into()) } else { Ok(None) };
    };
    match Reader::new(bytes).uvarint()? {
        0 => Err(Code::ZeroFrame.into()),
        length => Ok(Some((last + 1, length))),
    }
}

/// Reads the value in a frame's body.
pub trait FrameDecoder {
    /// What a frame holds.
    type Value;

    /// Reads a body, from its envelope byte on.
    ///
    /// # Errors
    /// What is wrong with it.
    fn decode_body(&mut self, body: &[u8]) -> Result<Self::Value, Error>;
}

/// Reads the values in a stream that arrives in pieces. The first error ends it.
#[derive(Debug)]
pub struct Parser<D> {
    splitter: Splitter,
    decoder: D,
    state: State,
}

#[derive(Debug)]
enum State {
    Reading,
    /// The error was found behind values that had to be given out first.
    Failed(Error),
    Spent,
}

impl<D: FrameDecoder> Parser<D> {
    /// Reads frames of any length.
    pub fn new(decoder: D) -> Self {
        Self::with_splitter(decoder, Splitter::new())
    }

    /// Reads frames with bodies of up to `max_frame` bytes.
    pub fn with_max_frame(decoder: D, max_frame: u64) -> Self {
        Self::with_splitter(decoder, Splitter::with_max_frame(max_frame))
    }

    fn with_splitter(decoder: D, splitter: Splitter) -> Self {
        Self { splitter, decoder, state: State::Reading }
    }

    /// Takes the next piece and gives the values it completes.
    ///
    /// # Errors
    /// What is wrong with the stream. Values in front of the problem are given out first; the next call then fails.
    /// After an error, every call fails with [`Code::ParserSpent`].
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Vec<D::Value>, Error> {
        self.check()?;
        self.splitter.push(chunk);
        let mut values = Vec::new();
        loop {
            match self.next_value() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return Ok(values),
                Err(error) => {
                    self.splitter = Splitter::new();
                    if values.is_empty() {
                        self.state = State::Spent;
                        return Err(error);
                    }
                    self.state = State::Failed(error);
                    return Ok(values);
                }
            }
        }
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`Code::Truncated`] inside a frame, an error found earlier, or [`Code::ParserSpent`] after either.
    pub fn end(&mut self) -> Result<(), Error> {
        self.check()?;
        self.state = State::Spent;
        if self.splitter.buffered() > 0 { Err(Code::Truncated.into()) } else { Ok(()) }
    }

    fn next_value(&mut self) -> Result<Option<D::Value>, Error> {
        match self.splitter.next_body()? {
            Some(body) => self.decoder.decode_body(body).map(Some),
            None => Ok(None),
        }
    }

    /// Fails if the stream has failed or ended before.
    fn check(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.state, State::Spent) {
            State::Reading => {
                self.state = State::Reading;
                Ok(())
            }
            State::Failed(error) => Err(error),
            State::Spent => Err(Code::ParserSpent.into()),
        }
    }
}
