//! The traits that types with a fixed schema implement, mostly by derive.

use crate::engine::{
    Decoder, Encoder, Intern, Kinds, ReadForm, ReadTable, Scalar, Selector, Selectors, Slot, WriteForm,
    WriteTable,
};
use crate::layout::{Builder, NodeId};
use crate::wire::Reader;
use crate::{Code, Error};

/// A type whose layout is known. Derive it together with [`Encode`] and [`Decode`].
///
/// The provided items fit every layout that has no form of its own anywhere: sized in arrays, of kind 0 in structs,
/// without string tables.
pub trait Layout {
    /// How a value stands in an array, a tuple, or a struct in fingerprint mode.
    const SLOT: Slot = Slot::Sized;
    /// The kinds a struct field of this type accepts.
    const KINDS: Kinds = Kinds::SIZED;
    /// What the string table of a row field of this type holds.
    const INTERN: Intern = Intern::None;
    /// The kind of the type as a union member; 0 for types that are unions themselves.
    const UNION_KIND: u8;

    /// Adds the layout of the type to a graph.
    fn node(builder: &mut Builder) -> NodeId;

    /// The members the type brings into a union: its own, if it is one, or else itself.
    fn members(builder: &mut Builder) -> Vec<(Selector, NodeId)> {
        vec![(Selector::Kind(Self::UNION_KIND), Self::node(builder))]
    }

    /// Calls `each` with the names of all members, if the type is a union, or else with its own name in one.
    fn selectors(each: &mut dyn FnMut(Selector)) {
        each(Selector::Kind(Self::UNION_KIND));
    }
}

/// A type that can be written.
pub trait Encode: Layout {
    /// Writes the value so that it fills a region.
    ///
    /// # Errors
    /// [`Code::Check`] or [`Code::Value`] for values the format cannot hold, such as an integer beyond 2^53 - 1.
    fn encode(&self, encoder: &mut Encoder) -> Result<(), Error>;

    /// The number of bytes [`Encode::encode`] will write, for types that know it at once.
    #[inline]
    fn length(&self) -> Option<usize> {
        None
    }

    /// The form of the value behind a field tag or an entry's key.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    fn scalar(&self) -> Result<Scalar, Error> {
        Ok(Scalar::Sized)
    }

    /// Writes the value as an element of an array or tuple, or as a field in fingerprint mode.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    #[inline]
    fn encode_slot(&self, encoder: &mut Encoder) -> Result<(), Error> {
        match (Self::SLOT, self.length()) {
            (Slot::Sized, None) => encoder.sized(|encoder| self.encode(encoder)),
            (Slot::Sized, Some(length)) => {
                encoder.uvarint(length as u64);
                self.encode(encoder)
            }
            _ => self.encode(encoder),
        }
    }

    /// Writes the value as a field of a row; `table` is that of the field.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    #[inline]
    fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
        let _ = table;
        if let Some(length) = self.length() {
            encoder.uvarint(2 * length as u64);
            return self.encode(encoder);
        }
        encoder.region(|encoder| self.encode(encoder))
    }

    /// Writes the value as a struct field.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    #[inline]
    fn encode_form<'v>(&'v self, form: WriteForm<'_, 'v>, encoder: &mut Encoder) -> Result<(), Error> {
        match form {
            WriteForm::Tagged(id) => {
                let scalar = self.scalar()?;
                if let (Some(length), Scalar::Sized) = (self.length(), scalar) {
                    encoder.uvarint(u64::from(id) << 3);
                    encoder.uvarint(length as u64);
                    return self.encode(encoder);
                }
                encoder.field(id, scalar, |encoder| self.encode(encoder))
            }
            WriteForm::Slot => self.encode_slot(encoder),
            WriteForm::Region(table) => self.encode_region(table, encoder),
        }
    }

    /// Writes the elements of an array that begins with another element or has further ones.
    ///
    /// # Errors
    /// As [`Encode::encode`], at the index of the element.
    fn encode_elements<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
    where
        Self: 'v,
        I: Iterator<Item = &'v Self> + Clone,
    {
        for (index, item) in items.enumerate() {
            item.encode_slot(encoder).map_err(|error| error.at(index))?;
        }
        Ok(())
    }

    /// Writes the elements of a plain array.
    ///
    /// # Errors
    /// As [`Encode::encode`], at the index of the element.
    #[inline]
    fn encode_items<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
    where
        Self: 'v,
        I: Iterator<Item = &'v Self> + Clone,
    {
        Self::encode_elements(items, encoder)
    }

    /// Writes the elements of a plain array that is a field of a row; `table` is that of the field.
    ///
    /// # Errors
    /// As [`Encode::encode`], at the index of the element.
    #[inline]
    fn encode_interned<'v, I>(
        items: I,
        table: &mut WriteTable<'v>,
        encoder: &mut Encoder,
    ) -> Result<(), Error>
    where
        Self: 'v,
        I: Iterator<Item = &'v Self> + Clone,
    {
        for (index, item) in items.enumerate() {
            item.encode_region(table, encoder).map_err(|error| error.at(index))?;
        }
        Ok(())
    }

    /// Writes the value as a member of a union that has these members.
    ///
    /// # Errors
    /// As [`Encode::encode`].
    fn encode_member(&self, union: Selectors, encoder: &mut Encoder) -> Result<(), Error> {
        encoder.select(union, Selector::Kind(Self::UNION_KIND));
        self.encode(encoder)
    }
}

/// A type that can be read from input that lives for `'de`.
pub trait Decode<'de>: Layout + Sized {
    /// Reads a value that fills the region. Its caller checks that nothing is left over.
    ///
    /// # Errors
    /// What is wrong with the bytes; [`Code::Absent`] for an unknown union member.
    fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error>;

    /// Reads a value that must use up `region`, one level further down.
    ///
    /// # Errors
    /// As [`Decode::decode`]; [`Code::Leftover`], [`Code::Depth`].
    #[inline]
    fn decode_in(region: &'de [u8], decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        decoder.value_in(region, Self::decode)
    }

    /// Reads a value behind a field tag or an entry's key of a kind the type accepts.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    #[inline]
    fn decode_tagged(kind: u8, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let _ = kind;
        let region = decoder.reader.sized()?;
        Self::decode_in(region, decoder)
    }

    /// Reads an element of an array or tuple, or a field in fingerprint mode.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    #[inline]
    fn decode_slot(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match Self::SLOT {
            Slot::Sized => {
                let region = decoder.reader.sized()?;
                Self::decode_in(region, decoder)
            }
            Slot::Varint => decoder.nested(Self::decode),
            Slot::Fixed(width) => {
                let region = decoder.reader.take(u64::from(width))?;
                Self::decode_in(region, decoder)
            }
            Slot::Empty => Self::decode_in(&[], decoder),
        }
    }

    /// Reads a field of a row; `table` is that of the field.
    ///
    /// # Errors
    /// As [`Decode::decode`]; [`Code::BackReference`] for references where there is no table.
    #[inline]
    fn decode_region(table: &mut ReadTable<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let _ = table;
        let region = plain_region(&mut decoder.reader)?;
        Self::decode_in(region, decoder)
    }

    /// Reads a struct field.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    #[inline]
    fn decode_form(form: ReadForm<'_, 'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        match form {
            ReadForm::Tagged(kind) => Self::decode_tagged(kind, decoder),
            ReadForm::Slot => Self::decode_slot(decoder),
            ReadForm::Region(table) => Self::decode_region(table, decoder),
        }
    }

    /// Reads elements of an array that begins with another element or has further ones.
    ///
    /// # Errors
    /// As [`Decode::decode`], at the index of the element; [`Code::MissingKey`] for an unknown union member.
    fn decode_elements(
        count: usize,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        for index in 0..count {
            push(Self::decode_slot(decoder).map_err(|error| error.required().at(index))?);
        }
        Ok(())
    }

    /// Reads the elements of a plain array.
    ///
    /// # Errors
    /// As [`Decode::decode_elements`].
    fn decode_items(
        count: usize,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        Self::decode_elements(count, decoder, push)
    }

    /// Reads the elements of a plain array that is a field of a row; `table` is that of the field.
    ///
    /// # Errors
    /// As [`Decode::decode_elements`].
    fn decode_interned(
        count: usize,
        table: &mut ReadTable<'de>,
        decoder: &mut Decoder<'de>,
        push: &mut impl FnMut(Self),
    ) -> Result<(), Error> {
        let _ = table;
        Self::decode_items(count, decoder, push)
    }

    /// Reads a union member whose name was read already; `None` if it is no member of this type.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_member(selector: Selector, decoder: &mut Decoder<'de>) -> Result<Option<Self>, Error> {
        if selector != Selector::Kind(Self::UNION_KIND) {
            return Ok(None);
        }
        decoder.member(Self::decode).map(Some)
    }
}

/// A type that can be read from any input, because it keeps none of it.
pub trait DecodeOwned: for<'a> Decode<'a> {}

impl<T: for<'a> Decode<'a>> DecodeOwned for T {}

/// The bytes of a row region that cannot be a reference.
#[inline]
pub(crate) fn plain_region<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let code = reader.uvarint()?;
    if code & 1 == 1 {
        return Err(Code::BackReference.into());
    }
    reader.take(code >> 1)
}
