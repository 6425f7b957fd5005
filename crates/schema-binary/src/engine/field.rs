//! What the engine knows about a struct field.

use std::borrow::Cow;

/// Field kinds: the low three bits of a tag, which say how to skip its payload.
pub mod kind {
    /// A length and that many bytes.
    pub const SIZED: u8 = 0;
    /// A sign-magnitude varint.
    pub const VARINT: u8 = 1;
    /// 8 bytes.
    pub const FIXED64: u8 = 2;
    /// `false`, no payload.
    pub const FALSE: u8 = 3;
    /// `true`, no payload.
    pub const TRUE: u8 = 4;
    /// A mantissa and a scale, both varints.
    pub const DECIMAL: u8 = 5;
    /// 4 bytes; never written.
    pub const FIXED32: u8 = 6;
    /// No payload; never written.
    pub const EMPTY: u8 = 7;
}

/// The set of field kinds a layout accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// Every layout that is not listed below.
    pub const SIZED: Self = Self(1 << kind::SIZED);
    /// Booleans.
    pub const BOOL: Self = Self(1 << kind::FALSE | 1 << kind::TRUE);
    /// Numbers.
    pub const NUMBER: Self = Self(1 << kind::VARINT | 1 << kind::FIXED64 | 1 << kind::DECIMAL);
    /// Integers.
    pub const INT: Self = Self(1 << kind::VARINT);

    /// Whether `kind` is in the set.
    pub const fn accepts(self, kind: u8) -> bool {
        self.0 >> kind & 1 == 1
    }
}

/// How a value stands in an array, a tuple, or a struct in fingerprint mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Behind its length.
    Sized,
    /// As a varint that ends itself.
    Varint,
    /// In so many bytes.
    Fixed(u8),
    /// In none.
    Empty,
}

/// What the string table of a row field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intern {
    /// There is none.
    None,
    /// The field's values.
    Text,
    /// The elements of the field's arrays.
    Items,
    /// The extra keys of the field's records.
    Keys,
}

/// A struct field, as far as the engine needs to know it.
#[derive(Debug, Clone)]
pub struct FieldInfo {
    /// The name on the encoded side.
    pub name: Cow<'static, str>,
    /// The id on the wire: [`field_id`] of the name, or an explicit one.
    pub id: u32,
    /// What sinks and sources call the field; its position, or the place of its declaration.
    pub number: usize,
    /// Whether the field may be absent.
    pub optional: bool,
    /// The kinds its layout accepts behind a tag.
    pub kinds: Kinds,
    /// What its string table holds when the struct is a row.
    pub intern: Intern,
}

/// The fields of a struct in the order they are written.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'s> {
    /// The fields that travel.
    pub list: &'s [FieldInfo],
    /// The names of fields that do not travel because the variant's tag says them.
    pub hidden: &'s [Cow<'static, str>],
    /// Whether the struct has index signatures.
    pub open: bool,
    /// Whether the fields are in ascending order of their ids; rare recursive variants are not.
    pub sorted: bool,
    /// A bit for each of the first 64 fields that is required.
    required: u64,
}

impl<'s> Fields<'s> {
    /// Fields in the order in which they are written.
    pub const fn new(
        list: &'s [FieldInfo],
        hidden: &'s [Cow<'static, str>],
        open: bool,
        sorted: bool,
    ) -> Self {
        let mut required = 0;
        let mut rest = list;
        let mut bit = 1u64;
        while let Some((field, after)) = rest.split_first() {
            if !field.optional {
                required |= bit;
            }
            bit = bit.wrapping_shl(1);
            rest = after;
        }
        Self { list, hidden, open, sorted, required }
    }

    /// The greatest number of fields a row may have to take part in shapes.
    pub const MAX_SHAPED: usize = 30;

    /// Whether rows of this struct are too wide for shapes.
    pub(super) const fn wide(&self) -> bool {
        self.list.len() > Self::MAX_SHAPED
    }

    /// The position of the field with this id; `expected` is tried first and moves on.
    #[inline]
    pub(super) fn find(&self, id: u64, expected: &mut usize) -> Option<usize> {
        let found = match self.list.get(*expected) {
            Some(field) if u64::from(field.id) == id => *expected,
            _ if self.sorted => self.list.binary_search_by_key(&id, |field| u64::from(field.id)).ok()?,
            _ => self.list.iter().position(|field| u64::from(field.id) == id)?,
        };
        *expected = found + 1;
        Some(found)
    }

    /// Whether a field, travelling or not, has this name.
    pub fn declares(&self, name: &str) -> bool {
        self.list.iter().any(|field| field.name == name) || self.hidden.iter().any(|hidden| hidden == name)
    }

    /// Whether all required fields are among the first 64 and in this set of positions.
    #[inline]
    pub(super) fn all_required(&self, present: u64) -> bool {
        self.list.len() <= 64 && present & self.required == self.required
    }

    /// The first required field that is not present.
    pub(super) fn first_missing(&self, present: impl Fn(usize) -> bool) -> Option<&'s str> {
        let missing = |(index, field): (usize, &'s FieldInfo)| {
            (!field.optional && !present(index)).then_some(field.name.as_ref())
        };
        self.list.iter().enumerate().find_map(missing)
    }
}

/// The field id of a name: FNV-1a, 32 bits, over its UTF-8 bytes.
pub const fn field_id(name: &str) -> u32 {
    fnv32(FNV32_START, name.as_bytes())
}

pub(super) const FNV32_START: u32 = 0x811c_9dc5;

pub(super) const fn fnv32(mut hash: u32, mut bytes: &[u8]) -> u32 {
    while let Some((&byte, rest)) = bytes.split_first() {
        hash = (hash ^ byte as u32).wrapping_mul(0x0100_0193);
        bytes = rest;
    }
    hash
}
