//! Arrays of structs that are read one by one.

use std::fmt;
use std::marker::PhantomData;

use crate::engine::{ArrayRules, Decoder, DerivedFields, ReadStruct, RowReader, read_count};
use crate::layout::{Builder, NodeId};
use crate::{Decode, Error, Layout, Mode};

/// An array of structs whose elements are read only when they are asked for, and never all held at once.
///
/// Its own bytes are kept; what is wrong with an element shows when it is read. Connection dictionaries do not reach
/// inside.
pub struct Rows<'a, T> {
    count: usize,
    region: &'a [u8],
    mode: Mode,
    depth: u32,
    rows: PhantomData<fn() -> T>,
}

impl<'a, T: ReadStruct<'a>> Rows<'a, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reads the elements in order; nothing follows an error.
    pub fn iter(&self) -> RowsIter<'a, T> {
        RowsIter {
            decoder: Decoder::new(self.region, self.mode, self.depth),
            rows: RowReader::new(<T as DerivedFields<0>>::FIELDS),
            next: 0,
            count: self.count,
            items: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Rows<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows({})", self.count)
    }
}

impl<T: Layout> Layout for Rows<'_, T> {
    const UNION_KIND: u8 = 11;

    fn node(builder: &mut Builder) -> NodeId {
        <[T]>::node(builder)
    }
}

impl<'de: 'a, 'a, T: Layout + ReadStruct<'a>> Decode<'de> for Rows<'a, T> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let count = read_count(decoder, ArrayRules { min: 0, max: None, zero_width: false })?;
        let (mode, depth) = (decoder.mode(), decoder.depth());
        // Without an element nobody would notice a rest.
        let region = if count == 0 { &[] } else { decoder.reader.take_rest() };
        Ok(Self { count, region, mode, depth, rows: PhantomData })
    }
}

/// Reads the elements of [`Rows`].
#[derive(Debug)]
pub struct RowsIter<'a, T> {
    decoder: Decoder<'a>,
    rows: RowReader<'static, 'a>,
    next: usize,
    count: usize,
    items: PhantomData<fn() -> T>,
}

impl<'a, T: ReadStruct<'a>> Iterator for RowsIter<'a, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.count {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let mut row = T::read_row(&mut self.rows, &mut self.decoder);
        if row.is_ok() && self.next == self.count {
            row = self.decoder.reader.finish().and(row);
        }
        if row.is_err() {
            self.next = self.count;
        }
        Some(row.map_err(|error| error.at(index)))
    }
}
