//! Reading structs: by tag, or by position in fingerprint mode.

use std::collections::BTreeSet;

use super::decoder::Decoder;
use super::extras::{EntryFate, Key, read_counted_entries, read_entries};
use super::field::{FieldInfo, Fields, kind};
use super::text::ReadTable;
use crate::{Code, Error};

/// How a field's value lies in front of the decoder.
#[derive(Debug)]
pub enum ReadForm<'t, 'a> {
    /// Behind a tag of this kind, which the field accepts.
    Tagged(u8),
    /// As an element or positional field.
    Slot,
    /// As a region of a row, with the string table of the field.
    Region(&'t mut ReadTable<'a>),
}

/// Takes the fields of one struct value as they are read.
pub trait StructSink<'a> {
    /// Reads the field with this number, which lies in front of `decoder`.
    ///
    /// # Errors
    /// Whatever is wrong with the value; [`Code::Absent`] leaves the field out.
    fn field(
        &mut self,
        number: usize,
        form: ReadForm<'_, 'a>,
        decoder: &mut Decoder<'a>,
    ) -> Result<(), Error>;

    /// Reads a row that has all fields in order, each with its table, and says whether the sink can do that.
    ///
    /// # Errors
    /// Whatever is wrong with a value, at its field; [`Code::MissingKey`] for an absent one that is required.
    fn whole_row(&mut self, tables: &mut [ReadTable<'a>], decoder: &mut Decoder<'a>) -> Result<bool, Error> {
        let _ = (tables, decoder);
        Ok(false)
    }

    /// Reads the payload of an extra entry if an index signature matches its key.
    ///
    /// # Errors
    /// Whatever is wrong with the value; [`Code::Absent`] leaves the entry out.
    fn entry(&mut self, key: Key<'_, 'a>, kind: u8, decoder: &mut Decoder<'a>) -> Result<EntryFate, Error> {
        let _ = (key, kind, decoder);
        Ok(EntryFate::Unmatched)
    }
}

/// Reads a struct that fills the current region; `keys` is the table of its extra keys inside a row.
///
/// # Errors
/// Everything that can be wrong with a struct, at the path of the field concerned.
#[inline]
pub fn read_struct<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    keys: Option<&mut ReadTable<'a>>,
) -> Result<(), Error> {
    if decoder.positional() {
        read_positional(decoder, fields, sink, keys)
    } else {
        read_tagged(decoder, fields, sink, keys)
    }
}

fn read_tagged<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    mut keys: Option<&mut ReadTable<'a>>,
) -> Result<(), Error> {
    let mut seen = Seen::default();
    let mut present = FieldSet::default();
    let mut expected = 0;
    while !decoder.reader.is_empty() {
        let tag = decoder.reader.field_tag()?;
        let (id, kind) = (tag >> 3, (tag & 7) as u8);
        if id == 0 {
            seen.extra()?;
            if kind != kind::SIZED {
                return Err(Code::ExtraKind.into());
            }
            read_entries(decoder, fields, sink, keys.as_deref_mut())?;
            continue;
        }
        let Some(index) = fields.find(id, &mut expected) else {
            seen.unknown(id, decoder.strict())?;
            decoder.skip_payload(kind)?;
            continue;
        };
        seen.known(index)?;
        let Some(field) = fields.list.get(index) else { continue };
        if read_field(decoder, sink, field, kind).map_err(|error| error.at(&*field.name))? {
            present.insert(index);
        }
    }
    require(fields, &present)
}

/// Reads one tagged field and says whether it is there.
#[inline]
fn read_field<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    sink: &mut S,
    field: &FieldInfo,
    kind: u8,
) -> Result<bool, Error> {
    if !field.kinds.accepts(kind) {
        decoder.skip_unaccepted(kind)?;
        return Ok(false);
    }
    unless_absent(sink.field(field.number, ReadForm::Tagged(kind), decoder))
}

fn read_positional<'a, S: StructSink<'a>>(
    decoder: &mut Decoder<'a>,
    fields: Fields<'_>,
    sink: &mut S,
    keys: Option<&mut ReadTable<'a>>,
) -> Result<(), Error> {
    let optional = fields.list.iter().filter(|field| field.optional).count();
    let mut bits = decoder
        .reader
        .take(optional.div_ceil(8) as u64)?
        .iter()
        .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
    for field in fields.list {
        if field.optional && bits.next() != Some(1) {
            continue;
        }
        let read = unless_absent(sink.field(field.number, ReadForm::Slot, decoder));
        let present = read.map_err(|error| error.at(&*field.name))?;
        if !present && !field.optional {
            return Err(Error::from(Code::MissingKey).at(&*field.name));
        }
    }
    if fields.open { read_counted_entries(decoder, fields, sink, keys) } else { Ok(()) }
}

/// A field of a whole row, if it is there.
///
/// # Errors
/// What is wrong with it, or [`Code::MissingKey`] if it is required but absent.
#[inline]
pub fn row_field<T>(read: Result<T, Error>, name: &str, optional: bool) -> Result<Option<T>, Error> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) => absent_row_field(error, name, optional),
    }
}

#[cold]
fn absent_row_field<T>(error: Error, name: &str, optional: bool) -> Result<Option<T>, Error> {
    if optional && error.code == Code::Absent { Ok(None) } else { Err(error.required().at(name)) }
}

/// Whether a value is there; absent is not an error here.
pub(super) fn unless_absent(read: Result<(), Error>) -> Result<bool, Error> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.code == Code::Absent => Ok(false),
        Err(error) => Err(error),
    }
}

/// Fails for the first required field that is not present.
#[inline]
pub(super) fn require(fields: Fields<'_>, present: &FieldSet) -> Result<(), Error> {
    if fields.all_required(present.low) {
        return Ok(());
    }
    match fields.first_missing(|index| present.contains(index)) {
        None => Ok(()),
        Some(name) => Err(Error::from(Code::MissingKey).at(name)),
    }
}

/// A set of field positions; the first 64 cost no allocation.
#[derive(Debug, Default)]
pub(super) struct FieldSet {
    low: u64,
    high: BTreeSet<usize>,
}

impl FieldSet {
    /// Adds a position and says whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, index: usize) -> bool {
        if index >= 64 {
            return self.high.insert(index);
        }
        let fresh = self.low >> index & 1 == 0;
        self.low |= 1 << index;
        fresh
    }

    #[inline]
    pub(super) fn contains(&self, index: usize) -> bool {
        if index >= 64 { self.high.contains(&index) } else { self.low >> index & 1 == 1 }
    }
}

/// What a struct or row has shown so far, to catch what comes twice.
#[derive(Debug, Default)]
pub(super) struct Seen {
    known: FieldSet,
    unknown: BTreeSet<u64>,
    extra: bool,
}

impl Seen {
    #[inline]
    pub(super) fn known(&mut self, index: usize) -> Result<(), Error> {
        if self.known.insert(index) { Ok(()) } else { Err(Code::DuplicateField.into()) }
    }

    #[cold]
    pub(super) fn unknown(&mut self, id: u64, strict: bool) -> Result<(), Error> {
        if strict {
            return Err(Code::UnknownField.into());
        }
        if self.unknown.insert(id) { Ok(()) } else { Err(Code::DuplicateField.into()) }
    }

    pub(super) fn extra(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.extra, true) { Err(Code::DuplicateField.into()) } else { Ok(()) }
    }
}
