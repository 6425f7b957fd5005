//! Records: structs without fields whose keys are data.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use crate::engine::{
    Decoder, Encoder, Entries, EntryFate, Fields, FromText, Intern, Key, ReadForm, ReadTable, RowReader,
    RowWriter, Scalar, StructSink, StructSource, WriteForm, WriteTable, read_struct, write_struct,
};
use crate::layout::{Builder, NodeId, struct_node};
use crate::typed::plain_region;
use crate::{Code, Decode, Encode, Error, Layout};

const RECORD: Fields<'static> = Fields::new(&[], &[], true, true);

/// Entries of a map, sorted by the bytes of their keys.
#[derive(Debug)]
pub struct SortedEntries<'v, V>(Vec<(&'v str, &'v V)>);

impl<'v, V> SortedEntries<'v, V> {
    /// Sorts the entries of a map.
    pub fn new<K: Borrow<str> + 'v>(entries: impl Iterator<Item = (&'v K, &'v V)>) -> Self {
        let mut entries: Vec<_> = entries.map(|(key, value)| (key.borrow(), value)).collect();
        entries.sort_by(|left, right| left.0.cmp(right.0));
        Self(entries)
    }
}

impl<'v, V: Encode> Entries<'v> for SortedEntries<'v, V> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn key(&self, index: usize) -> &'v [u8] {
        self.0.get(index).map_or(&[], |(key, _)| key.as_bytes())
    }

    fn scalar(&self, index: usize) -> Result<Scalar, Error> {
        self.0.get(index).ok_or(Code::Value)?.1.scalar()
    }

    fn write(&self, index: usize, encoder: &mut Encoder) -> Result<(), Error> {
        self.0.get(index).ok_or(Code::Value)?.1.encode(encoder)
    }
}

/// A map that extra entries can be read into and written from.
pub trait Record {
    /// The type of its keys.
    type Key;
    /// The type of its values.
    type Value;

    /// An empty map.
    fn empty() -> Self;

    /// Adds an entry whose key is new.
    fn add(&mut self, key: Self::Key, value: Self::Value);

    /// All entries.
    fn sorted(&self) -> SortedEntries<'_, Self::Value>;
}

impl<K: Ord + Borrow<str>, V> Record for BTreeMap<K, V> {
    type Key = K;
    type Value = V;

    fn empty() -> Self {
        Self::new()
    }

    fn add(&mut self, key: K, value: V) {
        self.insert(key, value);
    }

    fn sorted(&self) -> SortedEntries<'_, V> {
        SortedEntries::new(self.iter())
    }
}

impl<K: Hash + Eq + Borrow<str>, V, S: BuildHasher + Default> Record for HashMap<K, V, S> {
    type Key = K;
    type Value = V;

    fn empty() -> Self {
        Self::default()
    }

    fn add(&mut self, key: K, value: V) {
        self.insert(key, value);
    }

    fn sorted(&self) -> SortedEntries<'_, V> {
        SortedEntries::new(self.iter())
    }
}

/// Reads one extra entry into a map.
///
/// # Errors
/// What is wrong with its value.
#[doc(hidden)]
pub fn read_entry<'de, M>(
    map: &mut M,
    key: Key<'_, 'de>,
    kind: u8,
    decoder: &mut Decoder<'de>,
) -> Result<EntryFate, Error>
where
    M: Record<Key: FromText<'de>, Value: Decode<'de>>,
{
    if !M::Value::KINDS.accepts(kind) {
        return Ok(EntryFate::Unaccepted);
    }
    let value = M::Value::decode_tagged(kind, decoder)?;
    let key = if key.repeated {
        M::Key::from_repeated(key.text, decoder)?
    } else {
        M::Key::from_text(key.text, decoder)?
    };
    map.add(key, value);
    Ok(EntryFate::Read)
}

/// Fills a map with the extra entries of a struct without fields.
struct RecordSink<M>(M);

impl<'de, M> StructSink<'de> for RecordSink<M>
where
    M: Record<Key: FromText<'de>, Value: Decode<'de>>,
{
    fn field(&mut self, _: usize, _: ReadForm<'_, 'de>, _: &mut Decoder<'de>) -> Result<(), Error> {
        Err(Code::Schema.into())
    }

    fn entry(&mut self, key: Key<'_, 'de>, kind: u8, decoder: &mut Decoder<'de>) -> Result<EntryFate, Error> {
        read_entry(&mut self.0, key, kind, decoder)
    }
}

/// Gives the entries of a map as the extra entries of a struct without fields.
struct RecordSource<'v, M>(&'v M);

impl<'v, M: Record<Value: Encode>> StructSource<'v> for RecordSource<'v, M> {
    fn has(&self, _: usize) -> bool {
        false
    }

    fn write(&self, _: usize, _: WriteForm<'_, 'v>, _: &mut Encoder) -> Result<(), Error> {
        Err(Code::Schema.into())
    }

    fn entries(&self) -> Option<Box<dyn Entries<'v> + '_>> {
        Some(Box::new(self.0.sorted()))
    }
}

fn write<'v, M: Record<Value: Encode>>(
    map: &'v M,
    keys: Option<&mut WriteTable<'v>>,
    encoder: &mut Encoder,
) -> Result<(), Error> {
    write_struct(encoder, RECORD, &RecordSource(map), keys)
}

fn read<'de, M>(keys: Option<&mut ReadTable<'de>>, decoder: &mut Decoder<'de>) -> Result<M, Error>
where
    M: Record<Key: FromText<'de>, Value: Decode<'de>>,
{
    let mut sink = RecordSink(M::empty());
    read_struct(decoder, RECORD, &mut sink, keys)?;
    Ok(sink.0)
}

macro_rules! records {
    ($([$($bounds:tt)*] $map:ty),*) => {$(
        impl<K, V: Layout, $($bounds)*> Layout for $map {
            const INTERN: Intern = Intern::Keys;
            const UNION_KIND: u8 = 9;

            fn node(builder: &mut Builder) -> NodeId {
                let value = V::node(builder);
                builder.add(struct_node(RECORD, Vec::new(), Some((value, V::KINDS)), &[]))
            }
        }

        impl<K, V: Encode, $($bounds)*> Encode for $map
        where
            Self: Record<Key = K, Value = V>,
        {
            fn encode(&self, encoder: &mut Encoder) -> Result<(), Error> {
                write(self, None, encoder)
            }

            fn encode_region<'v>(&'v self, table: &mut WriteTable<'v>, encoder: &mut Encoder) -> Result<(), Error> {
                encoder.region(|encoder| write(self, Some(table), encoder))
            }

            fn encode_elements<'v, I>(items: I, encoder: &mut Encoder) -> Result<(), Error>
            where
                Self: 'v,
                I: Iterator<Item = &'v Self> + Clone,
            {
                let mut rows = RowWriter::new(RECORD);
                for (index, item) in items.enumerate() {
                    rows.next(encoder, &RecordSource(item)).map_err(|error| error.at(index))?;
                }
                Ok(())
            }
        }

        impl<'de, K: FromText<'de>, V: Decode<'de>, $($bounds)*> Decode<'de> for $map
        where
            Self: Record<Key = K, Value = V>,
        {
            fn decode(decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                read(None, decoder)
            }

            fn decode_region(table: &mut ReadTable<'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
                let region = plain_region(&mut decoder.reader)?;
                decoder.value_in(region, |decoder| read(Some(table), decoder))
            }

            fn decode_elements(
                count: usize,
                decoder: &mut Decoder<'de>,
                push: &mut impl FnMut(Self),
            ) -> Result<(), Error> {
                let mut rows = RowReader::new(RECORD);
                for index in 0..count {
                    let mut sink = RecordSink(Self::empty());
                    rows.next(decoder, &mut sink).map_err(|error| error.at(index))?;
                    push(sink.0);
                }
                Ok(())
            }
        }
    )*};
}

records!([] BTreeMap<K, V>, [S] HashMap<K, V, S>);
