//! Reading arrays and tuples.

use super::Value;
use super::decode::{ObjectSink, Walk};
use crate::dictionary::StringSlot;
use crate::engine::{ArrayRules, Decoder, ReadTable, RowReader, Str, read_count, read_numbers};
use crate::layout::{ArrayNode, Node, NodeId};
use crate::wire::Reader;
use crate::{Code, Error};

impl Walk<'_> {
    /// Reads an array; `table` holds its strings if it is a field of a row.
    pub(super) fn array<'a>(
        self,
        node: &ArrayNode,
        decoder: &mut Decoder<'a>,
        table: Option<&mut ReadTable<'a>>,
    ) -> Result<Vec<Value>, Error> {
        let count =
            if node.has_count() { read_count(decoder, self.rules(node))? } else { node.elements.len() };
        let mut items = Vec::with_capacity(count.min(decoder.reader.remaining()));
        if let (Some(row), 1..) = (node.rows, count) {
            self.rows(row, count, decoder, &mut items)?;
            return Ok(items);
        }
        let Some(item) = node.uniform() else {
            self.elements(node, count, decoder, &mut items)?;
            return Ok(items);
        };
        match (self.0.node(item), table) {
            (Node::Number, _) => read_numbers(decoder, count, |number| items.push(Value::Number(number)))?,
            (Node::String(slot), Some(table)) => {
                strings(decoder, count, &mut items, |decoder| interned(decoder, *slot, table))?
            }
            (Node::String(slot), None) => strings(decoder, count, &mut items, |decoder| {
                let region = decoder.reader.sized()?;
                string(decoder, region, *slot)
            })?,
            _ => {
                for index in 0..count {
                    let value = self.slot(item, decoder).map_err(|error| error.required().at(index))?;
                    items.push(value);
                }
            }
        }
        Ok(items)
    }

    fn rules(self, node: &ArrayNode) -> ArrayRules {
        let zero_width =
            node.rest.first().is_some_and(|item| matches!(self.0.node(*item), Node::Null | Node::Undefined));
        ArrayRules { min: node.min(), max: node.rest.is_empty().then_some(node.elements.len()), zero_width }
    }

    fn rows<'a>(
        self,
        row: NodeId,
        count: usize,
        decoder: &mut Decoder<'a>,
        items: &mut Vec<Value>,
    ) -> Result<(), Error> {
        let Node::Struct(node) = self.0.node(row) else { return Err(Code::Schema.into()) };
        let mut rows = RowReader::new(node.fields());
        for index in 0..count {
            let mut sink = ObjectSink::new(self, node, decoder.reader.remaining() / (count - index));
            rows.next(decoder, &mut sink).map_err(|error| error.at(index))?;
            items.push(Value::Object(sink.object));
        }
        Ok(())
    }

    /// Tuples, and arrays whose elements differ.
    fn elements<'a>(
        self,
        node: &ArrayNode,
        count: usize,
        decoder: &mut Decoder<'a>,
        items: &mut Vec<Value>,
    ) -> Result<(), Error> {
        for index in 0..count {
            let (Some(id), optional) = node.element(index, count) else { return Err(Code::Schema.into()) };
            let nothing_left = !node.has_count() && decoder.reader.is_empty();
            if nothing_left && !matches!(self.0.node(id), Node::Null | Node::Undefined) {
                return Err(Error::from(Code::MissingKey).at(index));
            }
            items.push(self.slot(id, decoder).map_err(|error| element_error(error, optional).at(index))?);
        }
        if !node.has_count() && !decoder.reader.is_empty() {
            return Err(Error::from(Code::UnexpectedKey).at(node.elements.len()));
        }
        Ok(())
    }
}

fn element_error(error: Error, optional: bool) -> Error {
    if optional && error.code == Code::Absent { Code::UnknownMember.into() } else { error.required() }
}

fn strings<'a>(
    decoder: &mut Decoder<'a>,
    count: usize,
    items: &mut Vec<Value>,
    mut read: impl FnMut(&mut Decoder<'a>) -> Result<Value, Error>,
) -> Result<(), Error> {
    for index in 0..count {
        items.push(read(decoder).map_err(|error| error.at(index))?);
    }
    Ok(())
}

/// A string in an array that shares a table with the arrays of other rows.
fn interned<'a>(
    decoder: &mut Decoder<'a>,
    slot: StringSlot,
    table: &mut ReadTable<'a>,
) -> Result<Value, Error> {
    let code = decoder.reader.uvarint()?;
    if code & 1 == 1 {
        return Ok(Value::String(table.get(code >> 1)?.share().into()));
    }
    let region = decoder.reader.take(code >> 1)?;
    let mut text = read_text(decoder, region, slot)?;
    let shared = text.share();
    table.push(text);
    Ok(Value::String(shared.into()))
}

fn string<'a>(decoder: &mut Decoder<'a>, region: &'a [u8], slot: StringSlot) -> Result<Value, Error> {
    Ok(Value::String(read_text(decoder, region, slot)?.share().into()))
}

/// The string in a region; strings in plain arrays count as a level only where a dictionary stands between.
fn read_text<'a>(decoder: &mut Decoder<'a>, region: &'a [u8], slot: StringSlot) -> Result<Str<'a>, Error> {
    if decoder.has_dictionary() {
        return decoder.value_in(region, |decoder| decoder.string(slot));
    }
    Reader::new(region).text().map(Str::Borrowed)
}
