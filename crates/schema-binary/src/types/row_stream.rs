//! Rows of arrays that are not in memory as a whole.

use crate::engine::{Decoder, DerivedFields, ReadStruct, RowReader, RowShapes};
use crate::{Code, Error, Mode};

/// Shapes of one array, counted by their fields, that are remembered at most.
const MAX_SHAPED_FIELDS: usize = 65_536;

/// Reads an array of structs in default mode row by row, each row from bytes of its own.
///
/// The shapes that rows declare are remembered, the texts are not: rows that repeat a text of an earlier row by
/// reference are refused.
#[derive(Debug, Default)]
pub struct RowStream {
    shapes: RowShapes,
}

impl RowStream {
    /// Reads the next row, which is all of `row`; its length does not belong to it. All rows of an array are read as
    /// the same type.
    ///
    /// # Errors
    /// What is wrong with the row; [`Code::CountLimit`] if the rows declare more shapes than any writer does.
    pub fn read<'a, T: ReadStruct<'a>>(&mut self, row: &'a [u8]) -> Result<T, Error> {
        let fields = <T as DerivedFields<0>>::FIELDS;
        let mut rows = RowReader::resume(fields, std::mem::take(&mut self.shapes));
        let mut decoder = Decoder::new(row, Mode::Default, 0);
        let mut partial = T::Partial::default();
        let read = rows.read(&mut decoder, &mut partial);
        self.shapes = rows.into_shapes();
        read?;
        if self.shapes.fields() > MAX_SHAPED_FIELDS {
            return Err(Code::CountLimit.into());
        }
        T::finish(partial)
    }
}
