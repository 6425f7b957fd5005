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

/// A shape: where its places end, and whether they are all fields in order.
#[derive(Debug, Clone, Copy)]
struct Shape {
    end: usize,
    whole: bool,
}

/// What the rows of a run have declared so far.
#[derive(Debug, Default)]
pub struct RowShapes {
    /// The places of all shapes, one behind the other.
    places: Vec<Place>,
    list: Vec<Shape>,
}

impl RowShapes {
    /// How many fields all shapes have together, and at least how many shapes there are.
    pub(crate) fn fields(&self) -> usize {
        self.places.len().max(self.list.len())
    }
}

/// The state of one run of rows.
#[derive(Debug)]
pub struct RowReader<'s, 'a> {
    fields: Fields<'s>,
    shapes: RowShapes,
    /// One table a field.
    tables: Vec<ReadTable<'a>>,
}

impl<'s, 'a> RowReader<'s, 'a> {
    /// Starts a run of rows of a struct with these fields.
    pub fn new(fields: Fields<'s>) -> Self {
        Self::resume(fields, RowShapes::default())
    }

    /// Goes on with a run whose earlier rows are gone, and with them their texts.
    pub(crate) fn resume(fields: Fields<'s>, shapes: RowShapes) -> Self {
        let tables = fields.list.iter().map(|_| ReadTable::default()).collect();
        Self { fields, shapes, tables }
    }

    /// What the rows declared.
    pub(crate) fn into_shapes(self) -> RowShapes {
        self.shapes
    }

    /// Reads the next row.
    ///
    /// # Errors
    /// Everything that can be wrong with a row, at the path of the field concerned.
    #[inline]
    pub fn next<S: StructSink<'a>>(&mut self, decoder: &mut Decoder<'a>, sink: &mut S) -> Result<(), Error> {
        let row = decoder.reader.sized()?;
        let outer = std::mem::replace(&mut decoder.reader, Reader::new(row));
        self.read(decoder, sink)?;
        decoder.reader = outer;
        Ok(())
    }

    /// Reads a row that fills the region.
    #[inline]
    pub(crate) fn read<S: StructSink<'a>>(
        &mut self,
        decoder: &mut Decoder<'a>,
        sink: &mut S,
    ) -> Result<(), Error> {
        let mut present = FieldSet::default();
        match decoder.reader.uvarint()? {
            0 if self.fields.wide() => self.declared_row(decoder, sink, &mut present)?,
            0 if decoder.positional() => {
                self.positional_shape(decoder.reader.uvarint()?)?;
                let shape = self.shape(self.shapes.list.len() as u64 - 1)?;
                self.shaped_row(shape, decoder, sink, &mut present)?;
            }
            0 => {
                self.declared_row(decoder, sink, &mut present)?;
                self.end_shape();
            }
            reference => {
                let shape = self.shape(reference - 1)?;
                if shape.1.whole && sink.whole_row(&mut self.tables, decoder)? {
                    return decoder.reader.finish();
                }
                self.shaped_row(shape, decoder, sink, &mut present)?;
            }
        }
        require(self.fields, &present)
    }

    /// Ends a shape whose places were just added.
    fn end_shape(&mut self) {
        let start = self.shapes.list.last().map_or(0, |shape| shape.end);
        let places = self.shapes.places.iter().skip(start);
        let fields = (0..self.fields.list.len()).map(|index| Place::Field(index as u8));
        let whole = places.copied().eq(fields);
        self.shapes.list.push(Shape { end: self.shapes.places.len(), whole });
    }

    /// A known shape, and where its places start.
    #[inline]
    fn shape(&self, number: u64) -> Result<(usize, Shape), Error> {
        let number = usize::try_from(number).map_err(|_| Code::RowShape)?;
        let shape = *self.shapes.list.get(number).ok_or(Code::RowShape)?;
        let start = number
            .checked_sub(1)
            .and_then(|before| self.shapes.list.get(before))
            .map_or(0, |before| before.end);
        Ok((start, shape))
    }

    /// Learns a shape given as a bit mask over the fields.
    fn positional_shape(&mut self, mask: u64) -> Result<(), Error> {
        let known = EXTRA_BIT | ((1 << self.fields.list.len()) - 1);
        if mask & !known != 0 {
            return Err(Code::RowShape.into());
        }
        if mask & EXTRA_BIT != 0 {
            self.shapes.places.push(Place::Extra);
        }
        let fields = (0u8..Fields::MAX_SHAPED as u8).filter(|index| mask >> index & 1 == 1);
        self.shapes.places.extend(fields.map(Place::Field));
        self.end_shape();
        Ok(())
    }

    /// Reads a row of a known shape.
    fn shaped_row<S: StructSink<'a>>(
        &mut self,
        (start, shape): (usize, Shape),
        decoder: &mut Decoder<'a>,
        sink: &mut S,
        present: &mut FieldSet,
    ) -> Result<(), Error> {
        for at in start..shape.end {
            match self.shapes.places.get(at) {
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
                self.shapes.places.push(place);
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
