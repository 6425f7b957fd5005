//! What arrives on a change stream.

use schema_binary::Code;
use schema_binary::wire::Reader;

use super::rows::RowReader;
use crate::call::part;
use crate::fields::{Fields, natural, unframe};
use crate::{Chunked, EntryId, Malformed, field};

/// An item of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received<'a> {
    /// A whole message.
    Single(&'a [u8]),
    /// A part of a longer one.
    Chunked(Chunked<'a>),
}

/// A batch as a remote delivers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteBatch<'a> {
    /// The sequence of the first entry; the others follow without a gap.
    pub sequence: u64,
    /// The ids of the entries, at least one.
    pub entry_ids: Vec<EntryId>,
    /// The nonce, of whatever length.
    pub iv: &'a [u8],
    /// The encrypted entries.
    pub encrypted: &'a [u8],
}

/// Reads the hole of a Chunk envelope.
///
/// # Errors
/// If the hole or one of its items does not decode.
pub fn read_items(values: &[u8]) -> Result<Vec<Received<'_>>, Malformed> {
    let mut reader = Reader::new(unframe(values)?);
    let count = reader.uvarint()?;
    if count > reader.rest().len() as u64 {
        return Err(Code::CountLimit.into());
    }
    let items = (0..count).map(|_| read_item(reader.sized()?)).collect::<Result<_, _>>()?;
    reader.finish()?;
    Ok(items)
}

fn read_item(item: &[u8]) -> Result<Received<'_>, Malformed> {
    let mut reader = Reader::new(item);
    let variant = reader.take(5)?;
    let fields = Fields::read(reader.rest())?;
    match variant {
        [0x0a, 0x0c, 0x30, 0x40, 0xc6] => Ok(Received::Single(fields.bytes(field::DATA, "data")?)),
        [0x0a, 0x47, 0xbb, 0xc3, 0x85] => {
            let (index, total) = part(fields.bytes(field::PART, "part")?)?;
            let (id, data) = (fields.int(field::ID, "id")?, fields.bytes(field::DATA, "data")?);
            Ok(Received::Chunked(Chunked { id, index, total, data }))
        }
        _ => Err(Code::UnknownMember.into()),
    }
}

/// Reads a message of a change stream: a frame of batches, at least one.
///
/// # Errors
/// If it does not decode, or an id is not 16 bytes long.
pub fn read_remote_batches(frame: &[u8]) -> Result<Vec<RemoteBatch<'_>>, Malformed> {
    let mut rows = RowReader::new(unframe(frame)?)?;
    if rows.remaining() == 0 {
        return Err(Malformed::missing("0"));
    }
    let mut batches = Vec::with_capacity(rows.remaining().min(1000));
    loop {
        let mut row = Row::default();
        let more = rows.next_row(|slot, region| {
            match u32::try_from(slot).unwrap_or(0) {
                field::SEQUENCE => row.sequence = Some(region.value()?),
                field::IV => row.iv = Some(region.value()?),
                field::ENCRYPTED_BATCH => row.encrypted = Some(region.value()?),
                field::ENTRY_IDS => row.entry_ids = Some(region.value()?),
                _ => {}
            }
            Ok(())
        })?;
        if !more {
            return Ok(batches);
        }
        batches.push(row.batch()?);
    }
}

#[derive(Default)]
struct Row<'a> {
    sequence: Option<&'a [u8]>,
    iv: Option<&'a [u8]>,
    encrypted: Option<&'a [u8]>,
    entry_ids: Option<&'a [u8]>,
}

impl<'a> Row<'a> {
    fn batch(self) -> Result<RemoteBatch<'a>, Malformed> {
        let missing = Malformed::missing;
        Ok(RemoteBatch {
            sequence: number(self.sequence.ok_or_else(|| missing("sequence"))?)?,
            entry_ids: id_list(self.entry_ids.ok_or_else(|| missing("entryIds"))?)?,
            iv: self.iv.ok_or_else(|| missing("iv"))?,
            encrypted: self.encrypted.ok_or_else(|| missing("encryptedBatch"))?,
        })
    }
}

/// A natural number that fills its region.
pub(super) fn number(region: &[u8]) -> Result<u64, Malformed> {
    let mut reader = Reader::new(region);
    let number = natural(reader.number_varint()?)?;
    reader.finish()?;
    Ok(number)
}

fn id_list(region: &[u8]) -> Result<Vec<EntryId>, Malformed> {
    let mut reader = Reader::new(region);
    let count = reader.uvarint()?;
    if count == 0 || count > reader.rest().len() as u64 {
        return Err(Code::CountLimit.into());
    }
    let id = |_| reader.sized()?.try_into().map(EntryId).map_err(|_| Malformed::from(Code::Check));
    let ids = (0..count).map(id).collect::<Result<_, _>>()?;
    reader.finish()?;
    Ok(ids)
}
