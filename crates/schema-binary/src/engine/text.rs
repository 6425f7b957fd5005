//! Strings while they are read and written: borrowed or shared, and the tables that rows share.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::decoder::Decoder;
use crate::{Code, Error};

/// A string that was read: part of the input where possible.
#[derive(Debug, Clone)]
pub enum Str<'a> {
    /// Part of the input.
    Borrowed(&'a str),
    /// Held elsewhere, such as in a connection dictionary.
    Shared(Arc<str>),
}

impl<'a> Str<'a> {
    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }

    /// The text for as long as the input lives.
    ///
    /// # Errors
    /// [`Code::Type`] if it is not part of the input: borrowing types cannot read from a dictionary.
    pub fn borrowed(&self) -> Result<&'a str, Error> {
        match self {
            Self::Borrowed(text) => Ok(text),
            Self::Shared(_) => Err(Code::Type.into()),
        }
    }

    /// The text, shared; later calls share the same copy.
    pub fn share(&mut self) -> Arc<str> {
        match self {
            Self::Shared(text) => text.clone(),
            Self::Borrowed(text) => {
                let shared = Arc::<str>::from(*text);
                *self = Self::Shared(shared.clone());
                shared
            }
        }
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Str<'_> {}

impl Hash for Str<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// The strings one row field has shown in full, in order.
#[derive(Debug, Default)]
pub struct ReadTable<'a> {
    seen: Vec<Str<'a>>,
}

impl<'a> ReadTable<'a> {
    /// Remembers a string that was written in full, and lends it.
    pub fn push(&mut self, text: Str<'a>) -> &mut Str<'a> {
        if self.seen.is_empty() {
            self.seen.reserve(8);
        }
        self.seen.push_mut(text)
    }

    /// The string a reference points to.
    ///
    /// # Errors
    /// [`Code::BackReference`] if the table is not that long.
    pub fn get(&mut self, reference: u64) -> Result<&mut Str<'a>, Error> {
        let at = usize::try_from(reference).ok();
        at.and_then(|at| self.seen.get_mut(at)).ok_or(Code::BackReference.into())
    }
}

/// A type that holds a string that was read.
pub trait FromText<'de>: Sized {
    /// Keeps a string.
    ///
    /// # Errors
    /// [`Code::CountLimit`] if it is not part of the input and the frame's allowance is used up.
    fn from_text(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error>;

    /// Keeps a string that a reference repeats.
    ///
    /// # Errors
    /// As [`FromText::from_text`]; owned copies count against the allowance.
    fn from_repeated(text: &mut Str<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        Self::from_text(text, decoder)
    }
}

/// Tables up to this size are scanned.
const SCAN_MAX: usize = 16;
/// A table that has never repeated within so many values is given up.
const GIVE_UP_AT: usize = 64;

/// The strings one row field has written in full, in order.
#[derive(Debug, Default)]
pub struct WriteTable<'v> {
    /// The values and their [`mark`]s.
    values: Vec<(u64, &'v [u8])>,
    places: HashMap<&'v [u8], usize, foldhash::fast::RandomState>,
    hit: bool,
    given_up: bool,
}

impl<'v> WriteTable<'v> {
    /// The place of `text` if it was written before; else remembers it, and the caller writes it in full.
    ///
    /// Strings that are not Unicode come as other bytes than their text, which keeps unequal ones apart.
    #[inline]
    pub fn find_or_add(&mut self, text: &'v [u8]) -> Option<usize> {
        if self.given_up {
            return None;
        }
        let found = if self.places.is_empty() { self.scan(text) } else { self.places.get(text).copied() };
        if found.is_some() {
            self.hit = true;
            return found;
        }
        if !self.hit && self.values.len() >= GIVE_UP_AT {
            *self = Self { given_up: true, ..Self::default() };
            return None;
        }
        self.add(text);
        None
    }

    /// Compares marks before texts: most texts that are not equal differ there.
    #[inline]
    fn scan(&self, text: &[u8]) -> Option<usize> {
        let wanted = mark(text);
        self.values.iter().position(|(mark, value)| *mark == wanted && same(value, text))
    }

    #[cold]
    fn add(&mut self, text: &'v [u8]) {
        if self.places.is_empty() && self.values.len() >= SCAN_MAX {
            self.places = self.values.iter().enumerate().map(|(place, (_, value))| (*value, place)).collect();
        }
        if !self.places.is_empty() {
            self.places.insert(text, self.values.len());
        }
        if self.values.is_empty() {
            self.values.reserve(SCAN_MAX);
        }
        self.values.push((mark(text), text));
    }
}

/// Whether two texts are equal; short ones are compared in place.
#[inline]
fn same(left: &[u8], right: &[u8]) -> bool {
    match (left.first_chunk::<8>(), right.first_chunk::<8>(), left.last_chunk::<8>(), right.last_chunk::<8>())
    {
        (Some(a), Some(b), Some(c), Some(d)) if left.len() == right.len() && left.len() <= 16 => {
            a == b && c == d
        }
        _ => left == right,
    }
}

/// The last bytes of a text and its length, as one number.
#[inline]
fn mark(text: &[u8]) -> u64 {
    let tail = match text.last_chunk() {
        Some(tail) => u64::from_le_bytes(*tail),
        None => text.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte)),
    };
    tail.wrapping_add((text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(table: &mut WriteTable<'static>, texts: impl IntoIterator<Item = usize>) -> Vec<Option<usize>> {
        let leak = |n: usize| -> &'static [u8] { Box::leak(n.to_string().into_bytes().into_boxed_slice()) };
        texts.into_iter().map(|n| table.find_or_add(leak(n))).collect()
    }

    #[test]
    fn gives_up_at_the_65th_value_without_a_hit() {
        let mut table = WriteTable::default();
        assert!(feed(&mut table, 0..65).iter().all(Option::is_none));
        assert_eq!(feed(&mut table, [0, 64]), [None, None]);
    }

    #[test]
    fn a_hit_at_exactly_64_values_keeps_the_table() {
        let mut table = WriteTable::default();
        feed(&mut table, 0..64);
        assert_eq!(feed(&mut table, [3, 64, 64]), [Some(3), None, Some(64)]);
    }
}
