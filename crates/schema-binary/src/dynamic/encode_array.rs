//! Writing arrays and tuples.

use super::Value;
use super::encode::Writer;
use super::encode_object::ObjectSource;
use crate::engine::{Encoder, RowWriter, WriteTable, write_numbers};
use crate::layout::{ArrayNode, Node, NodeId};
use crate::{Code, Error};

impl<'g> Writer<'g> {
    /// Writes an array; `table` holds its strings if it is a field of a row.
    pub(super) fn array<'v>(
        self,
        node: &'v ArrayNode,
        items: &'v [Value],
        encoder: &mut Encoder,
        table: Option<&mut WriteTable<'v>>,
    ) -> Result<(), Error>
    where
        'g: 'v,
    {
        if node.rest.is_empty() && items.len() > node.elements.len() {
            return Err(Error::from(Code::UnexpectedKey).at(node.elements.len()));
        }
        if items.len() < node.min() {
            return Err(Error::from(Code::MissingKey).at(items.len()));
        }
        if node.has_count() {
            encoder.uvarint(items.len() as u64);
        }
        if let (Some(row), [_, ..]) = (node.rows, items) {
            return self.rows(row, items, encoder);
        }
        match (node.uniform(), table) {
            (Some(item), _) if matches!(self.0.node(item), Node::Number) => numbers(items, encoder),
            (Some(item), Some(table)) => self.strings(item, items, encoder, table),
            _ => self.elements(node, items, encoder),
        }
    }

    fn rows<'v>(self, row: NodeId, items: &'v [Value], encoder: &mut Encoder) -> Result<(), Error>
    where
        'g: 'v,
    {
        let Node::Struct(node) = self.0.node(row) else { return Err(Code::Schema.into()) };
        let mut rows = RowWriter::new(node.fields());
        for (index, item) in items.iter().enumerate() {
            let written = match item {
                Value::Object(object) => rows.next(encoder, &ObjectSource::new(self, node, object)),
                _ => Err(Code::Value.into()),
            };
            written.map_err(|error| error.at(index))?;
        }
        Ok(())
    }

    /// Strings that share a table with the arrays of other rows.
    fn strings<'v>(
        self,
        item: NodeId,
        items: &'v [Value],
        encoder: &mut Encoder,
        table: &mut WriteTable<'v>,
    ) -> Result<(), Error> {
        for (index, value) in items.iter().enumerate() {
            let written = match value {
                Value::String(text) => self.interned(item, value, text, table, encoder),
                _ => Err(Code::Value.into()),
            };
            written.map_err(|error| error.at(index))?;
        }
        Ok(())
    }

    fn elements(self, node: &ArrayNode, items: &[Value], encoder: &mut Encoder) -> Result<(), Error> {
        for (index, value) in items.iter().enumerate() {
            let (Some(id), _) = node.element(index, items.len()) else { return Err(Code::Schema.into()) };
            self.slot(id, value, encoder).map_err(|error| error.at(index))?;
        }
        Ok(())
    }
}

fn numbers(items: &[Value], encoder: &mut Encoder) -> Result<(), Error> {
    if let Some(index) = items.iter().position(|item| !matches!(item, Value::Number(_))) {
        return Err(Error::from(Code::Value).at(index));
    }
    let number = |item: &Value| if let Value::Number(number) = item { *number } else { f64::NAN };
    write_numbers(encoder, items.iter().map(number));
    Ok(())
}
