//! Extra entries: what index signatures hold, in structs and in records.

use std::collections::HashSet;

use super::decoder::Decoder;
use super::encoder::{Encoder, Scalar};
use super::field::Fields;
use super::struct_read::StructSink;
use super::text::{ReadTable, Str, WriteTable};
use crate::wire::Reader;
use crate::{Code, Error};

/// What became of an extra entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryFate {
    /// The sink read its payload.
    Read,
    /// A signature matches its key but does not accept its kind; the payload is still there.
    Unaccepted,
    /// No signature matches its key; the payload is still there.
    Unmatched,
}

/// The extra entries of a value about to be written, sorted by the UTF-8 bytes of their keys.
pub trait Entries<'v> {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of entry `index`: its UTF-8 bytes, and the bytes that tell it apart from other keys.
    fn key(&self, index: usize) -> &'v [u8];

    /// The form of the value of entry `index` behind a kind.
    ///
    /// # Errors
    /// [`Code::Type`], [`Code::Value`] or [`Code::Check`] for values that do not fit.
    fn scalar(&self, index: usize) -> Result<Scalar, Error>;

    /// Writes the plain value of entry `index`.
    ///
    /// # Errors
    /// As [`Entries::scalar`], and whatever is wrong further down.
    fn write(&self, index: usize, encoder: &mut Encoder) -> Result<(), Error>;
}

/// Reads a sized block of entries.
pub(super) fn read_entries<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    keys: Option<&mut ReadTable<'a>>,
) -> Result<(), Error> {
    let block = decoder.reader.sized()?;
    read_entries_in(block, decoder, fields, sink, keys)
}

/// Reads the entries that fill `block`.
pub(super) fn read_entries_in<'a, S: StructSink<'a>>(
    block: &'a [u8],
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    mut keys: Option<&mut ReadTable<'a>>,
) -> Result<(), Error> {
    let outer = std::mem::replace(&mut decoder.reader, Reader::new(block));
    let mut seen = HashSet::default();
    while !decoder.reader.is_empty() {
        read_entry(decoder, fields, sink, keys.as_deref_mut(), &mut seen)?;
    }
    decoder.reader = outer;
    Ok(())
}

/// Reads a count and so many entries (fingerprint mode).
pub(super) fn read_counted_entries<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    mut keys: Option<&mut ReadTable<'a>>,
) -> Result<(), Error> {
    let count = decoder.reader.uvarint()?;
    if count > decoder.reader.remaining() as u64 {
        return Err(Code::Truncated.into());
    }
    let mut seen = HashSet::default();
    for _ in 0..count {
        read_entry(decoder, fields, sink, keys.as_deref_mut(), &mut seen)?;
    }
    Ok(())
}

type SeenKeys<'a> = HashSet<Str<'a>, foldhash::fast::RandomState>;

/// The key of an extra entry that was read.
#[derive(Debug)]
pub struct Key<'t, 'a> {
    /// The text; entries of one key share what is made of it.
    pub text: &'t mut Str<'a>,
    /// Whether a reference repeats it.
    pub repeated: bool,
}

/// Reads an entry; a table means that keys may be references.
fn read_entry<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    keys: Option<&mut ReadTable<'a>>,
    seen: &mut SeenKeys<'a>,
) -> Result<(), Error> {
    let code = decoder.reader.uvarint()?;
    let Some(keys) = keys else {
        let text = &mut read_text(&mut decoder.reader, code >> 3)?;
        return read_value(decoder, fields, sink, Key { text, repeated: false }, (code & 7) as u8, seen);
    };
    let repeated = code & 1 == 1;
    let text = if repeated {
        keys.get(code >> 4)?
    } else {
        let text = read_text(&mut decoder.reader, code >> 4)?;
        keys.push(text)
    };
    read_value(decoder, fields, sink, Key { text, repeated }, (code >> 1 & 7) as u8, seen)
}

fn read_text<'a>(reader: &mut Reader<'a>, length: u64) -> Result<Str<'a>, Error> {
    Reader::new(reader.take(length)?).text().map(Str::Borrowed)
}

/// Reads the payload of an entry whose key was read.
fn read_value<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    key: Key<'_, 'a>,
    kind: u8,
    seen: &mut SeenKeys<'a>,
) -> Result<(), Error> {
    if fields.declares(key.text.as_str()) {
        return Err(Code::ExtraKeyDeclared.into());
    }
    if !seen.insert(key.text.clone()) {
        return Err(Code::ExtraKeyDuplicate.into());
    }
    let fate = match sink.entry(Key { text: &mut *key.text, repeated: key.repeated }, kind, decoder) {
        Err(error) if error.code == Code::Absent => return Ok(()),
        fate => fate.map_err(|error| error.at(key.text.as_str()))?,
    };
    match fate {
        EntryFate::Read => Ok(()),
        EntryFate::Unaccepted => decoder.skip_unaccepted(kind).map_err(|error| error.at(key.text.as_str())),
        EntryFate::Unmatched if decoder.strict() => Err(Code::UnknownKey.into()),
        EntryFate::Unmatched => decoder.skip_payload(kind),
    }
}

/// Writes the entries one after the other; a table means that keys may be references.
pub(super) fn write_entries<'v>(
    encoder: &mut Encoder,
    entries: &dyn Entries<'v>,
    mut keys: Option<&mut WriteTable<'v>>,
) -> Result<(), Error> {
    for index in 0..entries.len() {
        let key = entries.key(index);
        let at_key = |error: Error| error.at(&*String::from_utf8_lossy(key));
        let scalar = entries.scalar(index).map_err(at_key)?;
        write_key(encoder, key, u64::from(scalar.kind()), keys.as_deref_mut());
        encoder.payload(scalar, |encoder| entries.write(index, encoder)).map_err(at_key)?;
    }
    Ok(())
}

fn write_key<'v>(encoder: &mut Encoder, key: &'v [u8], kind: u64, keys: Option<&mut WriteTable<'v>>) {
    let length = key.len() as u64;
    match keys {
        None => encoder.uvarint(length << 3 | kind),
        Some(keys) => {
            if let Some(place) = keys.find_or_add(key) {
                return encoder.uvarint((place as u64) << 4 | kind << 1 | 1);
            }
            encoder.uvarint(length << 4 | kind << 1);
        }
    }
    encoder.bytes(key);
}
