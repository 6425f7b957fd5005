//! Parts of uploads that wait for the others: in memory while they are few, else in a temporary file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use logkeep_protocol::UploadSource;

/// A part of a message that is not complete.
#[derive(Debug, Clone)]
pub enum Part {
    /// Its bytes.
    Memory(Bytes),
    /// Its place in the spool file of the connection.
    Spooled {
        /// Where it begins.
        offset: u64,
        /// How long it is.
        length: usize,
    },
}

impl Part {
    /// The bytes it occupies in memory.
    pub const fn memory(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Spooled { .. } => 0,
        }
    }

    const fn len(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Spooled { length, .. } => *length,
        }
    }
}

/// A temporary file without a name; it is gone when nobody holds it.
#[derive(Debug)]
pub struct Spool {
    file: Arc<File>,
    length: u64,
    limit: u64,
}

impl Spool {
    /// Creates the file in `directory`, which may grow to `limit` bytes.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(directory: Option<&Path>, limit: u64) -> io::Result<Self> {
        let file = match directory {
            Some(directory) => tempfile::tempfile_in(directory)?,
            None => tempfile::tempfile()?,
        };
        Ok(Self { file: Arc::new(file), length: 0, limit })
    }

    /// Appends `data` and tells where it begins.
    ///
    /// # Errors
    /// If the file cannot be written, or would grow beyond its limit.
    pub fn append(&mut self, data: &[u8]) -> io::Result<u64> {
        let offset = self.length;
        if offset + data.len() as u64 > self.limit {
            return Err(io::Error::other(format!(
                "unfinished uploads of one connection exceed the limit of {} bytes",
                self.limit
            )));
        }
        self.file.write_all_at(data, offset)?;
        self.length += data.len() as u64;
        Ok(offset)
    }
}

/// All parts of a message, read as one.
#[derive(Debug)]
pub struct SpooledMessage {
    file: Option<Arc<File>>,
    /// Each part with the offset in the message at which it ends.
    parts: Vec<(u64, Part)>,
}

impl SpooledMessage {
    /// Puts `parts`, in order, together.
    pub fn new(parts: Vec<Part>, spool: Option<&Spool>) -> Self {
        let mut end = 0;
        let parts = parts.into_iter().map(|part| {
            end += part.len() as u64;
            (end, part)
        });
        Self { parts: parts.collect(), file: spool.map(|spool| Arc::clone(&spool.file)) }
    }

    /// All of it, in memory.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_all(&self) -> io::Result<Bytes> {
        if let [(_, Part::Memory(bytes))] = self.parts.as_slice() {
            return Ok(bytes.clone());
        }
        self.read(0, self.len() as usize)
    }

    /// Reads from one part into all of `target`.
    fn fill(&self, part: &Part, skip: usize, target: &mut [u8]) -> io::Result<()> {
        match part {
            Part::Memory(bytes) => {
                let source = bytes.get(skip..skip + target.len());
                target.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Part::Spooled { offset, .. } => {
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                file.read_exact_at(target, offset + skip as u64)
            }
        }
    }
}

impl UploadSource for SpooledMessage {
    fn len(&self) -> u64 {
        self.parts.last().map_or(0, |(end, _)| *end)
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Bytes> {
        let mut bytes = BytesMut::zeroed(length);
        let mut filled = 0;
        let first = self.parts.partition_point(|(end, _)| *end <= offset);
        for (end, part) in self.parts.iter().skip(first) {
            let Some(target) = bytes.get_mut(filled..).filter(|target| !target.is_empty()) else { break };
            let position = offset + filled as u64;
            let skip = (position - (end - part.len() as u64)) as usize;
            let take = target.len().min(part.len() - skip);
            let Some(target) = target.get_mut(..take) else { break };
            self.fill(part, skip, target)?;
            filled += take;
        }
        if filled < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes.freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_as_one_wherever_its_parts_are() {
        let mut spool = Spool::create(None, 100).unwrap();
        let tail = spool.append(b"ghij").unwrap();
        let middle = spool.append(b"def").unwrap();
        let parts = vec![
            Part::Memory(Bytes::from_static(b"abc")),
            Part::Spooled { offset: middle, length: 3 },
            Part::Spooled { offset: tail, length: 4 },
        ];
        let message = SpooledMessage::new(parts, Some(&spool));
        drop(spool);
        let whole = b"abcdefghij";
        assert_eq!(&message.read_all().unwrap()[..], whole);
        for from in 0..=10 {
            for to in from..=10 {
                assert_eq!(message.read(from as u64, to - from).unwrap(), whole[from..to]);
            }
        }
        assert!(message.read(8, 3).is_err());
    }

    #[test]
    fn a_full_spool_says_so() {
        let mut spool = Spool::create(None, 4).unwrap();
        spool.append(b"abc").unwrap();
        assert!(spool.append(b"de").unwrap_err().to_string().contains("limit of 4 bytes"));
    }
}
