//! The body of a write: batches as a client uploads them (schema-binary.md 4.4).

use bytes::Bytes;
use schema_binary::types::{Items, Rows};
use schema_binary::wire::{put_uvarint, uvarint_len};
use schema_binary::{Code, Decode, Encode, Error, Layout, decode};

use crate::splice::put_region;
use crate::{Malformed, ScopeRef};

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
    batches: Rows<'a, BatchRow<'a>>,
}

/// A `WriteEntries`: batches of a kind, or a view of them.
#[derive(Debug, Layout, Encode, Decode)]
pub(crate) struct WriteEntries<'a, B> {
    #[schema(rename = "publicKey")]
    pub(crate) public_key: &'a str,
    #[schema(rename = "storeId")]
    pub(crate) store_id: &'a str,
    pub(crate) batches: B,
}

/// A batch of an upload.
#[derive(Debug, Layout, Decode)]
pub(crate) struct BatchRow<'a> {
    #[schema(rename = "entryIds")]
    entry_ids: Items<'a, &'a [u8]>,
    iv: &'a [u8],
    #[schema(rename = "encryptedBatch")]
    encrypted: &'a [u8],
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
        let WriteEntries { public_key, store_id, batches } = decode(frame)?;
        Ok(Self { scope: ScopeRef { public_key, store_id }, batches })
    }

    /// Reads the batches. Where `whole`, the memory this upload was read from, already holds a batch in its
    /// stored form, the batch shares it.
    ///
    /// # Errors
    /// If a batch does not decode, has no ids, or has an id that is not 16 bytes long.
    pub fn batches(&self, whole: &Bytes) -> Result<Vec<Batch>, UploadError> {
        batches_of(&self.batches, whole)
    }
}

/// The batches in their stored form; `whole` is the memory the rows were read from.
pub(crate) fn batches_of<'a>(
    rows: &Rows<'a, BatchRow<'a>>,
    whole: &Bytes,
) -> Result<Vec<Batch>, UploadError> {
    rows.iter().map(|row| row?.batch(whole)).collect()
}

impl BatchRow<'_> {
    /// The batch in its stored form; `whole` is the memory the row was read from.
    pub(crate) fn batch(&self, whole: &Bytes) -> Result<Batch, UploadError> {
        let count = u32::try_from(self.entry_ids.len()).map_err(|_| Error::from(Code::CountLimit))?;
        if count == 0 {
            return Err(Error::from(Code::MissingKey).at(0).at("entryIds").into());
        }
        let entry_ids = self.entry_ids(whole)?;
        Ok(Batch { count, entry_ids, sealed: sealed(self.iv, self.encrypted, whole) })
    }

    /// The ids in their shortest form, shared if `whole` has them so already.
    fn entry_ids(&self, whole: &Bytes) -> Result<Bytes, UploadError> {
        let ids = self.entry_ids.bytes();
        let mut shortest = Vec::new();
        put_uvarint(&mut shortest, self.entry_ids.len() as u64);
        if ids.len() == 17 * self.entry_ids.len() && ids.chunks(17).all(|id| id.first() == Some(&16)) {
            let start = offset(ids, whole).saturating_sub(shortest.len());
            let found = whole.get(start..start + shortest.len() + ids.len()).unwrap_or_default();
            if found.starts_with(&shortest) {
                return Ok(whole.slice_ref(found));
            }
        }
        shortest.reserve_exact(17 * self.entry_ids.len());
        for id in self.entry_ids.iter() {
            let id = id.map_err(|error| error.at("entryIds"))?;
            if id.len() != 16 {
                return Err(UploadError::EntryId(id.len()));
            }
            shortest.push(16);
            shortest.extend_from_slice(id);
        }
        Ok(shortest.into())
    }
}

/// Where `part` of `whole` begins.
fn offset(part: &[u8], whole: &Bytes) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// The two regions, shared if they stand side by side in `whole` already.
fn sealed(iv: &[u8], encrypted: &[u8], whole: &Bytes) -> Bytes {
    let header = |part: &[u8]| uvarint_len(part.len() as u64 * 2);
    let start = offset(iv, whole).saturating_sub(header(iv));
    let adjacent = offset(iv, whole) + iv.len() + header(encrypted) == offset(encrypted, whole);
    if adjacent && let Some(candidate) = whole.get(start..offset(encrypted, whole) + encrypted.len()) {
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
