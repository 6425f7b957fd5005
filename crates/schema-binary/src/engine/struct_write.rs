//! Writing structs: by tag, or by position in fingerprint mode.

use super::encoder::Encoder;
use super::extras::{Entries, write_entries};
use super::field::{FieldInfo, Fields};
use super::text::WriteTable;
use crate::{Code, Error};

/// How a field's value is to be written.
#[derive(Debug)]
pub enum WriteForm<'t, 'v> {
    /// With a tag of this field id.
    Tagged(u32),
    /// As an element or positional field.
    Slot,
    /// As a region of a row, with the string table of the field.
    Region(&'t mut WriteTable<'v>),
}

/// The fields of a row while they are written, in order.
#[derive(Debug)]
pub struct RowFields<'t, 'v> {
    /// The fields of the struct.
    pub fields: &'t [FieldInfo],
    /// The tables of the fields still to come.
    tables: std::slice::IterMut<'t, WriteTable<'v>>,
    /// Whether the row names its fields.
    declare: bool,
}

impl<'t, 'v> RowFields<'t, 'v> {
    pub(super) fn new(fields: &'t [FieldInfo], tables: &'t mut [WriteTable<'v>], declare: bool) -> Self {
        Self { fields, tables: tables.iter_mut(), declare }
    }

    /// Writes the next field.
    ///
    /// # Errors
    /// Those of `write`, at the field.
    #[inline]
    pub fn field(
        &mut self,
        field: &FieldInfo,
        encoder: &mut Encoder,
        write: impl FnOnce(&mut WriteTable<'v>, &mut Encoder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(table) = self.tables.next() else { return Err(Code::Schema.into()) };
        if self.declare {
            encoder.uvarint(u64::from(field.id));
        }
        write(table, encoder).map_err(|error| error.at(&*field.name))
    }

    /// Goes past a field the row does not have.
    #[inline]
    pub fn skip(&mut self) {
        self.tables.next();
    }
}

/// Gives the fields of one struct value.
pub trait StructSource<'v> {
    /// Whether the value has the field with this number.
    fn has(&self, number: usize) -> bool;

    /// Writes the field with this number, which the value has.
    ///
    /// # Errors
    /// Whatever is wrong with the value.
    fn write(&self, number: usize, form: WriteForm<'_, 'v>, encoder: &mut Encoder) -> Result<(), Error>;

    /// Writes all fields the value has as regions of a row.
    ///
    /// # Errors
    /// Whatever is wrong with a value, at its field.
    fn write_row(&self, row: &mut RowFields<'_, 'v>, encoder: &mut Encoder) -> Result<(), Error> {
        for field in row.fields {
            if self.has(field.number) {
                let write = |table: &mut WriteTable<'v>, encoder: &mut Encoder| {
                    self.write(field.number, WriteForm::Region(table), encoder)
                };
                row.field(field, encoder, write)?;
            } else {
                row.skip();
            }
        }
        Ok(())
    }

    /// The extra entries; `None` for structs without index signatures.
    ///
    /// # Errors
    /// Whatever is wrong with their keys.
    fn entries(&self) -> Option<Box<dyn Entries<'v> + '_>> {
        None
    }
}

/// Writes a struct; `keys` is the table of its extra keys inside a row.
///
/// # Errors
/// [`Code::MissingKey`] for a required field the value lacks, or whatever is wrong with a field, at its path.
#[inline]
pub fn write_struct<'v, S: StructSource<'v>>(
    encoder: &mut Encoder,
    fields: Fields<'_>,
    source: &S,
    keys: Option<&mut WriteTable<'v>>,
) -> Result<(), Error> {
    if encoder.positional() {
        return write_positional(encoder, fields, source, keys);
    }
    if fields.open
        && let Some(entries) = source.entries().filter(|entries| !entries.is_empty())
    {
        encoder.uvarint(0);
        encoder.sized(|encoder| write_entries(encoder, &*entries, keys))?;
    }
    for field in fields.list {
        if has(source, field)? {
            let written = source.write(field.number, WriteForm::Tagged(field.id), encoder);
            written.map_err(|error| error.at(&*field.name))?;
        }
    }
    Ok(())
}

fn write_positional<'v, S: StructSource<'v>>(
    encoder: &mut Encoder,
    fields: Fields<'_>,
    source: &S,
    keys: Option<&mut WriteTable<'v>>,
) -> Result<(), Error> {
    write_bitmap(encoder, fields, source);
    for field in fields.list {
        if has(source, field)? {
            source.write(field.number, WriteForm::Slot, encoder).map_err(|error| error.at(&*field.name))?;
        }
    }
    if fields.open {
        let entries = source.entries();
        encoder.uvarint(entries.as_ref().map_or(0, |entries| entries.len()) as u64);
        if let Some(entries) = entries {
            write_entries(encoder, &*entries, keys)?;
        }
    }
    Ok(())
}

/// One bit for each optional field, low bits first.
fn write_bitmap<'v, S: StructSource<'v>>(encoder: &mut Encoder, fields: Fields<'_>, source: &S) {
    let mut byte = 0u8;
    let mut bit = 0;
    for field in fields.list.iter().filter(|field| field.optional) {
        byte |= u8::from(source.has(field.number)) << bit;
        bit += 1;
        if bit == 8 {
            encoder.byte(std::mem::take(&mut byte));
            bit = 0;
        }
    }
    if bit > 0 {
        encoder.byte(byte);
    }
}

/// Whether the value has a field; a required one must be there.
#[inline]
pub(super) fn has<'v, S: StructSource<'v>>(source: &S, field: &FieldInfo) -> Result<bool, Error> {
    let has = source.has(field.number);
    if has || field.optional { Ok(has) } else { Err(Error::from(Code::MissingKey).at(&*field.name)) }
}
