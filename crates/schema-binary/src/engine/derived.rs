//! What derived structs have in common.

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::field::Fields;
use super::rows_read::RowReader;
use super::rows_write::RowWriter;
use super::struct_read::{StructSink, read_struct};
use super::struct_write::{StructSource, write_struct};
use super::text::{ReadTable, WriteTable};
use crate::Error;
use crate::layout::{Builder, Node};

/// The fields of a derived struct, or of a variant of a derived enum.
///
/// For structs, `N` is 0 for the struct itself and 1 for the struct as a variant, whose tag is not a field of it.
/// For enums, it is the number of the variant.
pub trait DerivedFields<const N: usize> {
    /// The fields.
    const FIELDS: Fields<'static>;

    /// Adds the layout to a graph.
    fn node(builder: &mut Builder) -> Node;
}

/// A struct that can be read as a whole and as a row.
pub trait ReadStruct<'de>: DerivedFields<0> + DerivedFields<1> + Sized {
    /// Holds the fields until all are read.
    type Partial: StructSink<'de> + Default;

    /// Makes the struct of its fields.
    ///
    /// # Errors
    /// [`Code::MissingKey`](crate::Code::MissingKey) if one is missing.
    fn finish(partial: Self::Partial) -> Result<Self, Error>;

    /// Reads a struct with these fields that fills the region.
    ///
    /// # Errors
    /// Everything that can be wrong with a struct.
    #[inline]
    fn read(
        fields: Fields<'static>,
        decoder: &mut Decoder<'de>,
        keys: Option<&mut ReadTable<'de>>,
    ) -> Result<Self, Error> {
        let mut partial = Self::Partial::default();
        read_struct(decoder, fields, &mut partial, keys)?;
        Self::finish(partial)
    }

    /// Reads the next row.
    ///
    /// # Errors
    /// Everything that can be wrong with a row.
    #[inline]
    fn read_row(rows: &mut RowReader<'static, 'de>, decoder: &mut Decoder<'de>) -> Result<Self, Error> {
        let mut partial = Self::Partial::default();
        rows.next(decoder, &mut partial)?;
        Self::finish(partial)
    }

    /// Reads all rows of an array.
    ///
    /// # Errors
    /// Everything that can be wrong with a row, at its index.
    fn read_rows(count: usize, decoder: &mut Decoder<'de>, push: &mut impl FnMut(Self)) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let mut rows = RowReader::new(<Self as DerivedFields<0>>::FIELDS);
        for index in 0..count {
            push(Self::read_row(&mut rows, decoder).map_err(|error| error.at(index))?);
        }
        Ok(())
    }
}

/// A struct that can be written as a whole and as a row.
pub trait WriteStruct: DerivedFields<0> + DerivedFields<1> {
    /// Lends the fields.
    type Source<'v>: StructSource<'v>
    where
        Self: 'v;

    /// Lends the fields.
    fn source(&self) -> Self::Source<'_>;

    /// Writes a struct with these fields.
    ///
    /// # Errors
    /// Whatever is wrong with a field, at its path.
    #[inline]
    fn write<'v>(
        &'v self,
        fields: Fields<'static>,
        encoder: &mut Encoder,
        keys: Option<&mut WriteTable<'v>>,
    ) -> Result<(), Error> {
        write_struct(encoder, fields, &self.source(), keys)
    }

    /// Writes the rows of an array.
    ///
    /// # Errors
    /// Whatever is wrong with a row, at its index.
    fn write_rows<'v>(items: impl Iterator<Item = &'v Self>, encoder: &mut Encoder) -> Result<(), Error>
    where
        Self: 'v,
    {
        let mut rows = RowWriter::new(<Self as DerivedFields<0>>::FIELDS);
        for (index, item) in items.enumerate() {
            rows.next(encoder, &item.source()).map_err(|error| error.at(index))?;
        }
        Ok(())
    }
}
