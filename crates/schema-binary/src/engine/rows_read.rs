//! Reading rows: structs in an array share their shapes and their strings.

use super::decoder::Decoder;
use super::extras::read_entries_in;
use super::field::Fields;
use super::struct_read::{FieldSet, ReadForm, Seen, StructSink, require, unless_absent};
use super::text::ReadTable;
use crate::wire::Reader;
use crate::{Code, Error};

/// The bit of a positional shape that stands for the extra block.
const EXTRA_BIT: u64 = 1 << Fields::MAX_SHAPED;

/// What stands at one place of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Field(u8),
    Extra,
    /// A field the schema does not know.
    Unknown,
}

/// The state of one run of rows.
#[derive(Debug)]
pub struct RowReader<'s, 'a> {
    fields: Fields<'s>,
    /// All shapes one behind the other; `ends` tells them apart.
    places: Vec<Place>,
    ends: Vec<usize>,
    /// One table a field.
    tables: Vec<ReadTable<'a>>,
}

impl<'s, 'a> RowReader<'s, 'a> {
    /// Starts a run of rows of a struct with these fields.
    pub fn new(fields: Fields<'s>) -> Self {
        let tables = fields.list.iter().map(|_| ReadTable::default()).collect();
        Self { fields, places: Vec::new(), ends: Vec::new(), tables }
    }

    /// Reads the next row.
    ///
    /// # Errors
    /// Everything that can be wrong with a row, at the path of the field concerned.
    pub fn next<S: StructSink<'a>>(&mut self, decoder: &mut Decoder<'a>, sink: &mut S) -> Result<(), Error> {
        let row = decoder.reader.sized()?;
        let outer = std::mem::replace(&mut decoder.reader, Reader::new(row));
        let mut present = FieldSet::default();
        match decoder.reader.uvarint()? {
            0 if self.fields.wide() => self.declared_row(decoder, sink, &mut present)?,
            0 if decoder.positional() => {
                let shape = self.positional_shape(decoder.reader.uvarint()?)?;
                self.shaped_row(shape, decoder, sink, &mut present)?;
            }
            0 => {
                self.declared_row(decoder, sink, &mut present)?;
                self.ends.push(self.places.len());
            }
            reference => {
                self.shaped_row(reference - 1, decoder, sink, &mut present)?;
            }
        }
        decoder.reader = outer;
        require(self.fields, &present)
    }

    /// Learns a shape given as a bit mask over the fields and says its number.
    fn positional_shape(&mut self, mask: u64) -> Result<u64, Error> {
        let known = EXTRA_BIT | ((1 << self.fields.list.len()) - 1);
        if mask & !known != 0 {
            return Err(Code::RowShape.into());
        }
        if mask & EXTRA_BIT != 0 {
            self.places.push(Place::Extra);
        }
        let fields = (0u8..Fields::MAX_SHAPED as u8).filter(|index| mask >> index & 1 == 1);
        self.places.extend(fields.map(Place::Field));
        self.ends.push(self.places.len());
        Ok(self.ends.len() as u64 - 1)
    }

    /// Reads a row of a known shape.
    fn shaped_row<S: StructSink<'a>>(
        &mut self,
        shape: u64,
        decoder: &mut Decoder<'a>,
        sink: &mut S,
        present: &mut FieldSet,
    ) -> Result<(), Error> {
        let shape = usize::try_from(shape).map_err(|_| Code::RowShape)?;
        let end = *self.ends.get(shape).ok_or(Code::RowShape)?;
        let start = shape.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end);
        for at in start..end {
            match self.places.get(at) {
                Some(Place::Field(index)) => self.field(usize::from(*index), decoder, sink, present)?,
                Some(Place::Extra) => self.extra(decoder, sink)?,
                _ => skip_region(decoder)?,
            }
        }
        decoder.reader.finish()
    }

    /// Reads a row that names its fields, and learns its shape unless the struct is wide.
    fn declared_row<S: StructSink<'a>>(
        &mut self,
        decoder: &mut Decoder<'a>,
        sink: &mut S,
        present: &mut FieldSet,
    ) -> Result<(), Error> {
        let mut seen = Seen::default();
        let mut expected = 0;
        while !decoder.reader.is_empty() {
            let id = decoder.reader.uvarint()?;
            let place = if id == 0 {
                seen.extra()?;
                self.extra(decoder, sink)?;
                Place::Extra
            } else if let Some(index) = self.fields.find(id, &mut expected) {
                seen.known(index)?;
                self.field(index, decoder, sink, present)?;
                Place::Field(index as u8)
            } else {
                seen.unknown(id, decoder.strict())?;
                skip_region(decoder)?;
                Place::Unknown
            };
            if !self.fields.wide() {
                self.places.push(place);
            }
        }
        Ok(())
    }

    #[inline]
    fn field<S: StructSink<'a>>(
        &mut self,
        index: usize,
        decoder: &mut Decoder<'a>,
        sink: &mut S,
        present: &mut FieldSet,
    ) -> Result<(), Error> {
        let table = self.tables.get_mut(index).ok_or(Code::RowShape)?;
        let field = self.fields.list.get(index).ok_or(Code::RowShape)?;
        let read = unless_absent(sink.field(field.number, ReadForm::Region(table), decoder));
        if read.map_err(|error| error.at(&*field.name))? {
            present.insert(index);
        }
        Ok(())
    }

    fn extra<S: StructSink<'a>>(&self, decoder: &mut Decoder<'a>, sink: &mut S) -> Result<(), Error> {
        match region(decoder)? {
            Some(block) => read_entries_in(block, decoder, self.fields, sink, None),
            None => Ok(()),
        }
    }
}

/// The bytes of a region; a reference, which means nothing here, counts as none.
fn region<'a>(decoder: &mut Decoder<'a>) -> Result<Option<&'a [u8]>, Error> {
    let code = decoder.reader.uvarint()?;
    if code & 1 == 1 { Ok(None) } else { decoder.reader.take(code >> 1).map(Some) }
}

fn skip_region(decoder: &mut Decoder<'_>) -> Result<(), Error> {
    region(decoder).map(drop)
}
