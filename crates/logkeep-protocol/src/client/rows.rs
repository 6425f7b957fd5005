//! Reading and writing row runs: arrays of structs that declare their shape once
//! (schema-binary.md 1.8.3, 1.8.4).

use std::collections::HashMap;

use schema_binary::Code;
use schema_binary::wire::{Reader, put_sized, put_uvarint};

use crate::Malformed;
use crate::fields::put_region;

/// No message has rows of more than a few fields; more are an attack on the duplicate check.
const MAX_FIELDS: usize = 64;

/// What a row holds for one field.
#[derive(Clone, Copy)]
pub(super) enum Region<'a> {
    /// The value, written out.
    Value(&'a [u8]),
    /// A value of an earlier row, by its place in the field's table.
    Earlier(u64),
}

impl<'a> Region<'a> {
    /// The value of a field that has no table.
    pub(super) fn value(self) -> Result<&'a [u8], Malformed> {
        match self {
            Self::Value(bytes) => Ok(bytes),
            Self::Earlier(_) => Err(Code::BackReference.into()),
        }
    }

    /// The value of a text field; texts written out enter the table.
    pub(super) fn text(self, table: &mut Vec<&'a str>) -> Result<&'a str, Malformed> {
        match self {
            Self::Value(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| Code::Utf8)?;
                table.push(text);
                Ok(text)
            }
            Self::Earlier(index) => {
                let index = usize::try_from(index).map_err(|_| Code::BackReference)?;
                Ok(table.get(index).ok_or(Code::BackReference)?)
            }
        }
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let code = reader.uvarint()?;
        if code & 1 == 1 { Ok(Self::Earlier(code >> 1)) } else { Ok(Self::Value(reader.take(code >> 1)?)) }
    }
}

/// The rows of a run, one after another.
pub(super) struct RowReader<'a> {
    rows: Reader<'a>,
    remaining: u64,
    shapes: Vec<Vec<u64>>,
}

impl<'a> RowReader<'a> {
    /// Reads the count of a run that fills `region`.
    pub(super) fn new(region: &'a [u8]) -> Result<Self, Malformed> {
        let mut rows = Reader::new(region);
        let remaining = rows.uvarint()?;
        if remaining > rows.rest().len() as u64 {
            return Err(Code::CountLimit.into());
        }
        Ok(Self { rows, remaining, shapes: Vec::new() })
    }

    /// How many rows are left; no more than there are bytes.
    pub(super) fn remaining(&self) -> usize {
        self.remaining as usize
    }

    /// Hands the fields of the next row to `visit`. False if there is no row left.
    pub(super) fn next_row(
        &mut self,
        mut visit: impl FnMut(u64, Region<'a>) -> Result<(), Malformed>,
    ) -> Result<bool, Malformed> {
        if self.remaining == 0 {
            self.rows.finish()?;
            return Ok(false);
        }
        self.remaining -= 1;
        let mut row = Reader::new(self.rows.sized()?);
        match row.uvarint()? {
            0 => {
                let mut shape = Vec::with_capacity(4);
                while !row.is_empty() {
                    let field = row.uvarint()?;
                    if shape.len() == MAX_FIELDS || shape.contains(&field) {
                        return Err(Code::DuplicateField.into());
                    }
                    shape.push(field);
                    visit(field, Region::read(&mut row)?)?;
                }
                self.shapes.push(shape);
            }
            known => {
                let index = usize::try_from(known - 1).map_err(|_| Code::RowShape)?;
                for field in self.shapes.get(index).ok_or(Code::RowShape)? {
                    visit(*field, Region::read(&mut row)?)?;
                }
                row.finish()?;
            }
        }
        Ok(true)
    }
}

/// Writes a run whose rows all have the same fields.
pub(super) struct RowWriter<'a> {
    out: &'a mut Vec<u8>,
    row: Vec<u8>,
    declared: bool,
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, count: usize) -> Self {
        put_uvarint(out, count as u64);
        Self { out, row: Vec::new(), declared: false }
    }

    /// Writes a row; `write` puts the fields in ascending order of their ids.
    pub(super) fn row(&mut self, write: impl FnOnce(&mut RowFields<'_>)) {
        self.row.clear();
        put_uvarint(&mut self.row, u64::from(self.declared));
        write(&mut RowFields { row: &mut self.row, declare: !self.declared });
        put_sized(self.out, &self.row);
        self.declared = true;
    }
}

/// The fields of the row that is being written.
pub(super) struct RowFields<'a> {
    row: &'a mut Vec<u8>,
    declare: bool,
}

impl RowFields<'_> {
    pub(super) fn value(&mut self, field: u32, bytes: &[u8]) {
        self.field(field);
        put_region(self.row, bytes);
    }

    pub(super) fn text<'t>(&mut self, field: u32, text: &'t str, table: &mut TextTable<'t>) {
        self.field(field);
        match table.find(text) {
            Some(index) => put_uvarint(self.row, index * 2 + 1),
            None => put_region(self.row, text.as_bytes()),
        }
    }

    fn field(&mut self, field: u32) {
        if self.declare {
            put_uvarint(self.row, field.into());
        }
    }
}

/// The texts of one field, as far as the writer remembers them.
#[derive(Default)]
pub(super) struct TextTable<'a> {
    known: HashMap<&'a str, u64>,
    hit: bool,
    off: bool,
}

impl<'a> TextTable<'a> {
    /// The place of a text that was written before. One that was not is remembered, unless the
    /// first 65 were all different.
    fn find(&mut self, text: &'a str) -> Option<u64> {
        if self.off {
            return None;
        }
        if let Some(index) = self.known.get(text) {
            self.hit = true;
            return Some(*index);
        }
        if !self.hit && self.known.len() == 64 {
            self.off = true;
        } else {
            self.known.insert(text, self.known.len() as u64);
        }
        None
    }
}
