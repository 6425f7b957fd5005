//! The body of a write: batches as a client uploads them (schema-binary.md 4.4).

use bytes::Bytes;
use schema_binary::Code;
use schema_binary::wire::{Reader, put_uvarint, uvarint_len};

use crate::fields::{Fields, put_region, unframe};
use crate::{Malformed, ScopeRef, field};

/// A batch as it was uploaded, in the form in which it is stored and sent on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// How many entry ids there are; at least 1.
    pub count: u32,
    /// `uvarint(count)`, then each id as `10` and its 16 bytes: the wire value of `entryIds`.
    pub entry_ids: Bytes,
    /// The row-run regions of `iv` and `encryptedBatch`, one behind the other, lengths included.
    pub sealed: Bytes,
}

/// A decoded `WriteEntries`.
#[derive(Debug)]
pub struct Upload<'a> {
    /// Where the batches go.
    pub scope: ScopeRef<'a>,
    batches: &'a [u8],
}

/// Why the batches of an upload are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UploadError {
    /// The bytes do not decode.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// An entry id of another length than 16 bytes (SV-X01).
    #[error("an entry id of {0} bytes; entry ids have 16")]
    EntryId(usize),
}

impl From<Code> for UploadError {
    fn from(code: Code) -> Self {
        Malformed::from(code).into()
    }
}

impl From<schema_binary::Error> for UploadError {
    fn from(error: schema_binary::Error) -> Self {
        Malformed::from(error).into()
    }
}

impl<'a> Upload<'a> {
    /// Reads the frame of a `WriteEntries`, the batches not yet.
    ///
    /// # Errors
    /// If the frame or its fields do not decode.
    pub fn read(frame: &'a [u8]) -> Result<Self, Malformed> {
        let fields = Fields::read(unframe(frame)?)?;
        let scope = ScopeRef {
            store_id: fields.text(field::STORE_ID, "storeId")?,
            public_key: fields.text(field::PUBLIC_KEY, "publicKey")?,
        };
        Ok(Self { scope, batches: fields.bytes(field::BATCHES, "batches")? })
    }

    /// Reads the batches. Where `whole`, the memory this upload was read from, already holds a batch in its
    /// stored form, the batch shares it.
    ///
    /// # Errors
    /// If a batch does not decode, has no ids, or has an id that is not 16 bytes long.
    pub fn batches(&self, whole: &Bytes) -> Result<Vec<Batch>, UploadError> {
        let mut run = Reader::new(self.batches);
        let count = run.uvarint()?;
        if count > run.rest().len() as u64 {
            return Err(Code::CountLimit.into());
        }
        let mut shapes = Vec::new();
        let mut batches = Vec::new();
        for _ in 0..count {
            batches.push(Row::read(run.sized()?, &mut shapes)?.batch(whole)?);
        }
        run.finish()?;
        Ok(batches)
    }
}

/// The known values of one row of the run.
#[derive(Default)]
pub(crate) struct Row<'a> {
    iv: Option<&'a [u8]>,
    encrypted: Option<&'a [u8]>,
    entry_ids: Option<&'a [u8]>,
}

impl<'a> Row<'a> {
    pub(crate) fn read(row: &'a [u8], shapes: &mut Vec<Vec<u64>>) -> Result<Self, UploadError> {
        let mut reader = Reader::new(row);
        let mut values = Self::default();
        match reader.uvarint()? {
            0 => {
                let mut shape: Vec<u64> = Vec::new();
                while !reader.is_empty() {
                    let slot = reader.uvarint()?;
                    if shape.contains(&slot) {
                        return Err(Code::DuplicateField.into());
                    }
                    shape.push(slot);
                    values.region(slot, &mut reader)?;
                }
                shapes.push(shape);
            }
            reference => {
                let index = usize::try_from(reference - 1).map_err(|_| Code::RowShape)?;
                for slot in shapes.get(index).ok_or(Code::RowShape)? {
                    values.region(*slot, &mut reader)?;
                }
                reader.finish()?;
            }
        }
        Ok(values)
    }

    fn region(&mut self, slot: u64, reader: &mut Reader<'a>) -> Result<(), UploadError> {
        let value = match u32::try_from(slot).unwrap_or(0) {
            field::IV => &mut self.iv,
            field::ENCRYPTED_BATCH => &mut self.encrypted,
            field::ENTRY_IDS => &mut self.entry_ids,
            _ => &mut None,
        };
        let code = reader.uvarint()?;
        if code & 1 == 1 {
            // Bytes have no table; the slot of an unknown field counts as absent.
            let known = [field::IV, field::ENCRYPTED_BATCH, field::ENTRY_IDS].contains(&(slot as u32));
            return if known { Err(Code::BackReference.into()) } else { Ok(()) };
        }
        *value = Some(reader.take(code / 2)?);
        Ok(())
    }

    pub(crate) fn batch(self, whole: &Bytes) -> Result<Batch, UploadError> {
        let missing = |name| UploadError::from(Malformed::missing(name));
        let iv = self.iv.ok_or_else(|| missing("iv"))?;
        let encrypted = self.encrypted.ok_or_else(|| missing("encryptedBatch"))?;
        let entry_ids = self.entry_ids.ok_or_else(|| missing("entryIds"))?;
        let (count, entry_ids) = canonical_ids(entry_ids, whole)?;
        Ok(Batch { count, entry_ids, sealed: sealed(iv, encrypted, whole) })
    }
}

/// Checks the ids and gives them in their shortest form.
fn canonical_ids(value: &[u8], whole: &Bytes) -> Result<(u32, Bytes), UploadError> {
    let mut reader = Reader::new(value);
    let count = reader.uvarint()?;
    if count > reader.rest().len() as u64 {
        return Err(Code::CountLimit.into());
    }
    let count = u32::try_from(count).map_err(|_| Code::CountLimit)?;
    if count == 0 {
        return Err(Malformed::missing("0").into());
    }
    let mut canonical = value.len() == uvarint_len(count.into()) + 17 * count as usize;
    let ids = reader;
    for _ in 0..count {
        let before = reader.rest().len();
        let id = reader.sized()?;
        if id.len() != 16 {
            return Err(UploadError::EntryId(id.len()));
        }
        canonical &= before - reader.rest().len() == 17;
    }
    reader.finish()?;
    if canonical {
        return Ok((count, whole.slice_ref(value)));
    }
    let mut reader = ids;
    let mut bytes = Vec::with_capacity(5 + 17 * count as usize);
    put_uvarint(&mut bytes, count.into());
    for _ in 0..count {
        bytes.push(16);
        bytes.extend_from_slice(reader.sized()?);
    }
    Ok((count, bytes.into()))
}

/// The two regions, shared if they stand side by side in `whole` already.
fn sealed(iv: &[u8], encrypted: &[u8], whole: &Bytes) -> Bytes {
    let offset = |part: &[u8]| part.as_ptr() as usize - whole.as_ptr() as usize;
    let header = |part: &[u8]| uvarint_len(part.len() as u64 * 2);
    let start = offset(iv).saturating_sub(header(iv));
    let adjacent = offset(iv) + iv.len() + header(encrypted) == offset(encrypted);
    if adjacent && let Some(candidate) = whole.get(start..offset(encrypted) + encrypted.len()) {
        let mut expected = Vec::with_capacity(16);
        put_uvarint(&mut expected, iv.len() as u64 * 2);
        let mut second = Vec::with_capacity(10);
        put_uvarint(&mut second, encrypted.len() as u64 * 2);
        let behind = candidate.get(header(iv) + iv.len()..).unwrap_or_default();
        if candidate.starts_with(&expected) && behind.starts_with(&second) {
            return whole.slice_ref(candidate);
        }
    }
    let mut bytes = Vec::with_capacity(iv.len() + encrypted.len() + 12);
    put_region(&mut bytes, iv);
    put_region(&mut bytes, encrypted);
    bytes.into()
}
