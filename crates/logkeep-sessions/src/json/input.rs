//! A byte reader that can look one byte ahead.

use std::io::{self, Read};

/// A reader with a buffer to look ahead in.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    position: usize,
    filled: usize,
    consumed: u64,
    ended: bool,
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        let buffer = vec![0; 32 * 1024];
        Self { reader, buffer, position: 0, filled: 0, consumed: 0, ended: false }
    }

    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.position == self.filled && !self.ended {
            self.refill()?;
        }
        Ok(if self.position < self.filled { self.buffer.get(self.position).copied() } else { None })
    }

    fn refill(&mut self) -> io::Result<()> {
        self.consumed += self.filled as u64;
        self.position = 0;
        self.filled = loop {
            match self.reader.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.ended = self.filled == 0;
        Ok(())
    }

    pub(super) fn bump(&mut self) {
        self.position += 1;
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.position += bytes;
    }

    pub(super) fn offset(&self) -> u64 {
        self.consumed + self.position as u64
    }

    /// Buffered bytes before the next one that has a meaning inside a string.
    pub(super) fn run(&self) -> &[u8] {
        let rest = self.buffer.get(self.position..self.filled).unwrap_or_default();
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
    }
}
