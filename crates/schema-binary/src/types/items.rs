//! Arrays that are read element by element.

use std::fmt;
use std::marker::PhantomData;

use crate::engine::{ArrayRules, Decoder, Intern, Slot, kind, read_count};
use crate::layout::{Builder, NodeId};
use crate::{Decode, Error, Layout, Mode};

/// An array whose elements are read only when they are asked for, such as byte strings: `Items<'a, &'a [u8]>`.
///
/// Not for elements that an array writes together: structs (see [`Rows`](super::Rows)), floats and strings; those do
/// not compile. What is wrong with an element shows when it is read.
pub struct Items<'a, T> {
    count: usize,
    region: &'a [u8],
    mode: Mode,
    depth: u32,
    items: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Items<'a, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bytes of the elements, as they are written.
    pub const fn bytes(&self) -> &'a [u8] {
        self.region
    }

    /// Reads the elements in order; nothing follows an error.
    pub fn iter(&self) -> ItemsIter<'a, T> {
        let decoder = Decoder::new(self.region, self.mode, self.depth);
        ItemsIter { decoder, next: 0, count: self.count, items: PhantomData }
    }
}

impl<T> fmt::Debug for Items<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Items({})", self.count)
    }
}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Items<'_, T> {}

impl<T: Layout> Layout for Items<'_, T> {
    const UNION_KIND: u8 = 11;

    fn node(builder: &mut Builder) -> NodeId {
        <[T]>::node(builder)
    }
}

impl<'de: 'a, 'a, T: Decode<'a>> Decode<'de> for Items<'a, T> {
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        const {
            let alone =
                matches!(T::INTERN, Intern::None) && T::UNION_KIND != 9 && !T::KINDS.accepts(kind::DECIMAL);
            assert!(alone, "an array writes such elements together");
        }
        let zero_width = matches!(T::SLOT, Slot::Empty);
        let count = read_count(decoder, ArrayRules { min: 0, max: None, zero_width })?;
        let (mode, depth) = (decoder.mode(), decoder.depth());
        // Without an element nobody would notice a rest.
        let region = if count == 0 { &[] } else { decoder.reader.take_rest() };
        Ok(Self { count, region, mode, depth, items: PhantomData })
    }
}

/// Reads the elements of [`Items`].
#[derive(Debug)]
pub struct ItemsIter<'a, T> {
    decoder: Decoder<'a>,
    next: usize,
    count: usize,
    items: PhantomData<fn() -> T>,
}

impl<'a, T: Decode<'a>> Iterator for ItemsIter<'a, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.count {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let mut item = T::decode_slot(&mut self.decoder).map_err(Error::required);
        if item.is_ok() && self.next == self.count {
            item = self.decoder.reader.finish().and(item);
        }
        if item.is_err() {
            self.next = self.count;
        }
        Some(item.map_err(|error| error.at(index)))
    }
}
