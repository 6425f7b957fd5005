//! Unions: how a member is named on the wire.

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::field::{FNV32_START, fnv32};
use crate::{Code, Error};

/// The kind byte of a variant: a struct or tuple that is told by its literal properties.
const VARIANT: u8 = 10;

/// Unions of so many members are sorted without memory of their own.
const FEW: usize = 16;

/// What names a union member: the tag of a variant, or the kind of any other member.
///
/// Selectors sort as the members do in fingerprint mode: variants by tag, then the others by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// A variant, by its tag.
    Variant(u32),
    /// Another member, by its kind.
    Kind(u8),
}

impl Selector {
    /// Writes the selector as default mode does.
    pub fn write(self, encoder: &mut Encoder) {
        match self {
            Self::Variant(tag) => {
                encoder.byte(VARIANT);
                encoder.bytes(&tag.to_le_bytes());
            }
            Self::Kind(kind) => encoder.byte(kind),
        }
    }

    /// Reads a selector as default mode writes it; positions are read by [`select_by_position`].
    ///
    /// # Errors
    /// [`Code::Truncated`].
    pub fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error> {
        match decoder.reader.byte()? {
            VARIANT => decoder.reader.u32().map(Self::Variant),
            kind => Ok(Self::Kind(kind)),
        }
    }
}

/// The names of all members of a union, one by one.
pub type Selectors = fn(&mut dyn FnMut(Selector));

impl Encoder {
    /// Names the member that follows.
    pub fn select(&mut self, union: Selectors, selector: Selector) {
        if self.positional() {
            self.uvarint(rank(union, selector));
        } else {
            selector.write(self);
        }
    }
}

impl<'a> Decoder<'a> {
    /// Reads the name of the member that follows.
    ///
    /// # Errors
    /// [`Code::UnknownMember`] for a position the union does not have, or those of a varint.
    pub fn selector(&mut self, union: Selectors) -> Result<Selector, Error> {
        if !self.positional() {
            return Selector::read(self);
        }
        let position = self.reader.uvarint()?;
        member_at(union, position).ok_or(Code::UnknownMember.into())
    }

    /// Reads the member that fills the rest of the region.
    ///
    /// # Errors
    /// [`Code::Leftover`], or those of `read`.
    #[inline]
    pub fn member<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let value = self.nested(read)?;
        self.reader.finish()?;
        Ok(value)
    }
}

/// Whether kinds of union members differ; 0 stands for types that are unions themselves.
pub const fn distinct(kinds: &[u8]) -> bool {
    let mut rest = kinds;
    while let Some((first, after)) = rest.split_first() {
        let mut others = after;
        while let Some((other, further)) = others.split_first() {
            if *first == *other && *first != 0 {
                return false;
            }
            others = further;
        }
        rest = after;
    }
    true
}

/// The position of a member when all are sorted.
fn rank(union: Selectors, selector: Selector) -> u64 {
    let mut rank = 0;
    union(&mut |other| rank += u64::from(other < selector));
    rank
}

/// The member at a position when all are sorted.
fn member_at(union: Selectors, position: u64) -> Option<Selector> {
    let mut few = [Selector::Kind(0); FEW];
    let mut count = 0;
    union(&mut |selector| {
        if let Some(place) = few.get_mut(count) {
            *place = selector;
        }
        count += 1;
    });
    let Some(members) = few.get_mut(..count) else { return member_of_many(union, position) };
    members.sort_unstable();
    let position = usize::try_from(position).ok()?;
    let before = position.checked_sub(1).and_then(|before| members.get(before));
    // A member that comes twice has one position.
    members.get(position).filter(|member| before != Some(member)).copied()
}

fn member_of_many(union: Selectors, position: u64) -> Option<Selector> {
    let mut found = None;
    union(&mut |selector| {
        if rank(union, selector) == position {
            found = Some(selector);
        }
    });
    found
}

/// The hash of no sentinels; [`sentinel_hash`] goes on from here.
pub const TAG_START: u32 = FNV32_START;

/// Adds a sentinel to the hash that becomes the tag of a variant.
///
/// Tuple indices come first, ascending; then names by their bytes. `kind` and `text` are those of the literal.
pub const fn sentinel_hash(hash: u32, is_name: bool, key: &str, kind: u8, text: &str) -> u32 {
    let hash = sized_hash(fnv32(hash, &[is_name as u8]), key);
    sized_hash(fnv32(hash, &[kind]), text)
}

const fn sized_hash(hash: u32, text: &str) -> u32 {
    fnv32(fnv32(hash, &(text.len() as u32).to_le_bytes()), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_union_differ() {
        assert!(distinct(&[1, 2, 0, 0, 5]) && distinct(&[]) && !distinct(&[1, 2, 1]));
    }

    #[test]
    fn tag_of_a_tagged_struct() {
        assert_eq!(sentinel_hash(TAG_START, true, "_tag", 1, "A"), 0x149a_c622);
    }
}
