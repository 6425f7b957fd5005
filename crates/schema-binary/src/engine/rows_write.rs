//! Writing rows: structs in an array share their shapes and their strings.

use std::collections::HashMap;

use super::encoder::Encoder;
use super::extras::write_entries;
use super::field::Fields;
use super::struct_write::{RowFields, StructSource, has};
use super::text::WriteTable;
use crate::Error;

/// The bit of a shape that stands for the extra block.
const EXTRA_BIT: u64 = 1 << Fields::MAX_SHAPED;

/// Shape lists up to this size are scanned.
const SCAN_MAX: usize = 16;

/// The state of one run of rows.
#[derive(Debug)]
pub struct RowWriter<'s, 'v> {
    fields: Fields<'s>,
    /// The shapes so far: a bit for each field that is present.
    shapes: Vec<u64>,
    /// Their numbers, once there are many.
    numbers: HashMap<u64, usize, foldhash::fast::RandomState>,
    /// One table a field.
    tables: Vec<WriteTable<'v>>,
}

impl<'s, 'v> RowWriter<'s, 'v> {
    /// Starts a run of rows of a struct with these fields.
    pub fn new(fields: Fields<'s>) -> Self {
        let tables = fields.list.iter().map(|_| WriteTable::default()).collect();
        Self { fields, shapes: Vec::new(), numbers: HashMap::default(), tables }
    }

    /// Writes the next row.
    ///
    /// # Errors
    /// As [`write_struct`](super::write_struct).
    pub fn next<S: StructSource<'v>>(&mut self, encoder: &mut Encoder, source: &S) -> Result<(), Error> {
        encoder.sized(|encoder| self.row(encoder, source))
    }

    #[inline]
    fn row<S: StructSource<'v>>(&mut self, encoder: &mut Encoder, source: &S) -> Result<(), Error> {
        let entries =
            if self.fields.open { source.entries().filter(|entries| !entries.is_empty()) } else { None };
        let wide = self.fields.wide();
        let mask = self.mask(source, entries.is_some())?;
        let known = if wide { None } else { self.find_or_add(mask) };
        encoder.uvarint(known.map_or(0, |shape| shape as u64 + 1));
        let declare = known.is_none() && (wide || !encoder.positional());
        if known.is_none() && !declare {
            encoder.uvarint(mask);
        }
        if let Some(entries) = entries {
            if declare {
                encoder.uvarint(0);
            }
            encoder.region(|encoder| write_entries(encoder, &*entries, None))?;
        }
        source.write_row(&mut RowFields::new(self.fields.list, &mut self.tables, declare), encoder)
    }

    /// A bit for each field that is present, which only rows that are not too wide care about.
    #[inline]
    fn mask<S: StructSource<'v>>(&self, source: &S, entries: bool) -> Result<u64, Error> {
        let mut mask = if entries { EXTRA_BIT } else { 0 };
        let mut bit = 1u64;
        for field in self.fields.list {
            if has(source, field)? {
                mask |= bit;
            }
            bit = bit.wrapping_shl(1);
        }
        Ok(mask)
    }

    /// The number of a shape that was declared before; else numbers it, and the caller declares it.
    fn find_or_add(&mut self, mask: u64) -> Option<usize> {
        let found = if self.shapes.len() <= SCAN_MAX {
            self.shapes.iter().position(|shape| *shape == mask)
        } else {
            self.numbers.get(&mask).copied()
        };
        if found.is_none() {
            self.shapes.push(mask);
            if self.shapes.len() == SCAN_MAX + 1 {
                self.numbers =
                    self.shapes.iter().enumerate().map(|(number, shape)| (*shape, number)).collect();
            } else if self.shapes.len() > SCAN_MAX {
                self.numbers.insert(mask, self.shapes.len() - 1);
            }
        }
        found
    }
}
