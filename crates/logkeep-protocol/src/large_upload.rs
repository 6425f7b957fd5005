//! The body of a write that is too large for memory, read batch by batch.

use std::io;

use bytes::Bytes;
use schema_binary::types::RowStream;
use schema_binary::wire::Reader;

use crate::splice::{BATCHES, PUBLIC_KEY, STORE_ID};
use crate::upload::BatchRow;
use crate::{Batch, Malformed};

/// The longest text of a field and the most bytes of one batch that are read into memory.
const MAX_TEXT: u64 = 64 * 1024;
const MAX_BATCH: u64 = 256 * 1024 * 1024;

/// Tag, length and number of a field never take more.
const HEADER: u64 = 20;

/// Bytes that can be read at any place, a file for example.
pub trait UploadSource: Send {
    /// How many there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads `length` bytes from `offset` on.
    ///
    /// # Errors
    /// If the source fails or ends before.
    fn read(&self, offset: u64, length: usize) -> io::Result<Bytes>;
}

/// A `WriteEntries` whose batches are read when they are asked for. Iterating stops after the first error.
pub struct LargeUpload<S> {
    source: S,
    public_key: String,
    store_id: String,
    position: u64,
    end: u64,
    remaining: u64,
    rows: RowStream,
}

impl<S: UploadSource> LargeUpload<S> {
    /// Reads everything but the batches.
    ///
    /// # Errors
    /// If the frame or its fields do not decode, or the source fails.
    pub fn read(source: S) -> Result<Self, Malformed> {
        let (header, frame) = window(&source, 0, source.len(), |reader| reader.uvarint())?;
        if header + frame != source.len() || source.read(header, 1).map_err(unreadable)?[..] != [0x20] {
            return Err(schema_binary::Code::Envelope.into());
        }
        let mut fields = TopFields::default();
        let mut position = header + 1;
        while position < source.len() {
            position = fields.read(&source, position)?;
        }
        let (start, end) = fields.batches.ok_or_else(|| Malformed::missing("batches"))?;
        let (header, remaining) = window(&source, start, end, |reader| reader.uvarint())?;
        if remaining > end - start {
            return Err(schema_binary::Code::CountLimit.into());
        }
        Ok(Self {
            store_id: fields.store_id.ok_or_else(|| Malformed::missing("storeId"))?,
            public_key: fields.public_key.ok_or_else(|| Malformed::missing("publicKey"))?,
            position: start + header,
            end,
            remaining,
            rows: RowStream::default(),
            source,
        })
    }

    /// The identity the batches are written for.
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// The store they are written to.
    pub fn store_id(&self) -> &str {
        &self.store_id
    }

    /// Whether no batch is left.
    pub const fn is_empty(&self) -> bool {
        self.remaining == 0
    }

    fn batch(&mut self) -> Result<Batch, Malformed> {
        let (header, length) = window(&self.source, self.position, self.end, |reader| reader.uvarint())?;
        let start = self.position + header;
        if length > MAX_BATCH || length > self.end - start {
            return Err(schema_binary::Code::Truncated.into());
        }
        let row = self.source.read(start, length as usize).map_err(unreadable)?;
        self.position = start + length;
        let batch = self.rows.read::<BatchRow<'_>>(&row)?.batch(&row);
        batch.map_err(|error| Malformed::because(&error))
    }
}

impl<S: UploadSource> Iterator for LargeUpload<S> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.remaining == 0 {
            return None;
        }
        self.remaining -= 1;
        let batch = self.batch().and_then(|batch| {
            let leftover = self.remaining == 0 && self.position != self.end;
            if leftover { Err(schema_binary::Code::Leftover.into()) } else { Ok(batch) }
        });
        if batch.is_err() {
            self.remaining = 0;
        }
        Some(batch.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)))
    }
}

/// The fields of the body, each once.
#[derive(Default)]
struct TopFields {
    store_id: Option<String>,
    public_key: Option<String>,
    batches: Option<(u64, u64)>,
}

impl TopFields {
    /// Reads the field at `position`; gives the position behind it.
    fn read(&mut self, source: &impl UploadSource, position: u64) -> Result<u64, Malformed> {
        let end = source.len();
        let (header, (tag, length)) = window(source, position, end, |reader| {
            let tag = reader.uvarint()?;
            let length = match tag & 7 {
                0 => reader.uvarint()?,
                1 => reader.skip_varint().map(|()| 0)?,
                2 => 8,
                5 => reader.skip_varint().and_then(|()| reader.skip_varint()).map(|()| 0)?,
                6 => 4,
                _ => 0,
            };
            Ok((tag, length))
        })?;
        let start = position + header;
        if length > end - start {
            return Err(schema_binary::Code::Truncated.into());
        }
        let sized = tag & 7 == 0;
        match u32::try_from(tag >> 3).unwrap_or(0) {
            STORE_ID if sized => once(&mut self.store_id, text(source, start, length)?)?,
            PUBLIC_KEY if sized => once(&mut self.public_key, text(source, start, length)?)?,
            BATCHES if sized => once(&mut self.batches, (start, start + length))?,
            _ => {}
        }
        Ok(start + length)
    }
}

fn once<T>(field: &mut Option<T>, value: T) -> Result<(), Malformed> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(schema_binary::Code::DuplicateField.into()),
    }
}

fn text(source: &impl UploadSource, start: u64, length: u64) -> Result<String, Malformed> {
    if length > MAX_TEXT {
        return Err(schema_binary::Code::CountLimit.into());
    }
    let bytes = source.read(start, length as usize).map_err(unreadable)?;
    String::from_utf8(bytes.into()).map_err(|_| schema_binary::Code::Utf8.into())
}

/// Reads something small at `position`; gives how many bytes it took as well.
fn window<T>(
    source: &impl UploadSource,
    position: u64,
    end: u64,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, schema_binary::Error>,
) -> Result<(u64, T), Malformed> {
    let length = HEADER.min(end.saturating_sub(position));
    let bytes = source.read(position, length as usize).map_err(unreadable)?;
    let mut reader = Reader::new(&bytes);
    let value = read(&mut reader)?;
    Ok((length - reader.rest().len() as u64, value))
}

fn unreadable(error: io::Error) -> Malformed {
    Malformed::because(&error)
}
