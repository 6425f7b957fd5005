//! Writing values by walking a layout graph.

use super::decode::{INSTANT_MAX, has_literal, is_literal};
use super::encode_object::ObjectSource;
use super::{Object, Reason, Text, Value, Zone, Zoned, json};
use crate::dynamic::Duration;
use crate::engine::{Encoder, Intern, Scalar, Selector, Slot, WriteTable, write_struct};
use crate::layout::{Graph, Literals, Member, Node, NodeId, StructNode, UnionNode};
use crate::wire::{self, is_safe_integer, put_zigzag};
use crate::{Code, Error};

/// Writes values of the layouts of one graph.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'g>(pub(super) &'g Graph);

impl<'g> Writer<'g> {
    /// Writes a plain value.
    pub(super) fn value(self, id: NodeId, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
        match (self.0.node(id), value) {
            (Node::Null, Value::Null) | (Node::Undefined, Value::Undefined) => {}
            (Node::Bool, Value::Bool(bool)) => encoder.byte(u8::from(*bool)),
            (Node::Number, Value::Number(number)) => encoder.number(*number),
            (Node::Int, Value::Number(number)) if is_safe_integer(*number) => {
                wire::put_number_varint(encoder.out(), *number);
            }
            (Node::Int, Value::Number(_)) => return Err(Code::Check.into()),
            (Node::String(slot), Value::String(text)) => {
                encoder.string(&text.to_str(), text.identity(), *slot)
            }
            (Node::Symbol, Value::Symbol(key)) => encoder.bytes(key.to_str().as_bytes()),
            (Node::Bytes, Value::Bytes(bytes)) => encoder.bytes(bytes),
            (Node::BigInt, Value::BigInt(integer)) => put_zigzag(encoder.out(), integer),
            (Node::Json, value) => encoder.bytes(json::print(value).ok_or(Code::Value)?.as_bytes()),
            (Node::Duration, Value::Duration(duration)) => write_duration(encoder, duration),
            (Node::BigDecimal, Value::BigDecimal(decimal)) => {
                let decimal = decimal.normalized();
                put_zigzag(encoder.out(), &decimal.value);
                put_zigzag(encoder.out(), &decimal.scale.into());
            }
            (Node::Date, Value::Date(millis)) | (Node::DateTimeUtc, Value::DateTimeUtc(millis)) => {
                write_instant(encoder, *millis)?;
            }
            (Node::DateTimeZoned, Value::DateTimeZoned(zoned)) => write_zoned(encoder, zoned)?,
            (Node::Literal(literals), value) => self.literal(literals, value, encoder)?,
            (Node::Struct(node), Value::Object(object)) => self.object(node, object, encoder, None)?,
            (Node::Array(node), Value::Array(items)) => self.array(node, items, encoder, None)?,
            (Node::Union(node), value) => self.union(node, value, encoder)?,
            (Node::Never, _) => return Err(Code::Type.into()),
            (node, value) => return self.wrapper(node, value, encoder),
        }
        Ok(())
    }

    /// Options, results, exits and causes.
    fn wrapper(self, node: &Node, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
        let (tag, id, item) = match (node, value) {
            (Node::Option(_), Value::Option(None)) => {
                encoder.byte(0);
                return Ok(());
            }
            (Node::Option(id), Value::Option(Some(item))) => (1, id, item),
            (Node::Result { success, .. }, Value::Result(Ok(item))) => (0, success, item),
            (Node::Result { failure, .. }, Value::Result(Err(item))) => (1, failure, item),
            (Node::Exit { success, .. }, Value::Exit(Ok(item))) => (0, success, item),
            (Node::Exit { error, defect, .. }, Value::Exit(Err(reasons))) => {
                encoder.byte(1);
                return self.cause(*error, *defect, reasons, encoder);
            }
            (Node::Cause { error, defect }, Value::Cause(reasons)) => {
                return self.cause(*error, *defect, reasons, encoder);
            }
            (Node::CauseReason { error, defect }, Value::Reason(reason)) => {
                return self.reason(*error, *defect, reason, encoder);
            }
            _ => return Err(Code::Value.into()),
        };
        encoder.byte(tag);
        self.value(*id, item, encoder)
    }

    fn cause(
        self,
        error: NodeId,
        defect: NodeId,
        reasons: &[Reason],
        encoder: &mut Encoder,
    ) -> Result<(), Error> {
        encoder.uvarint(reasons.len() as u64);
        for (index, reason) in reasons.iter().enumerate() {
            let written = encoder.sized(|encoder| self.reason(error, defect, reason, encoder));
            written.map_err(|error| error.at(index))?;
        }
        Ok(())
    }

    fn reason(
        self,
        error: NodeId,
        defect: NodeId,
        reason: &Reason,
        encoder: &mut Encoder,
    ) -> Result<(), Error> {
        match reason {
            Reason::Fail(value) => {
                encoder.byte(0);
                self.value(error, value, encoder)
            }
            Reason::Die(value) => {
                encoder.byte(1);
                self.value(defect, value, encoder)
            }
            Reason::Interrupt(None) => {
                encoder.byte(2);
                Ok(())
            }
            Reason::Interrupt(Some(fiber)) => {
                encoder.byte(3);
                encoder.float(*fiber);
                Ok(())
            }
        }
    }

    fn literal(self, literals: &Literals, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
        if !has_literal(literals, value) {
            return Err(Code::Value.into());
        }
        match (literals.leaf(), value) {
            (_, Value::Bool(bool)) => encoder.byte(u8::from(*bool)),
            (_, Value::Number(number)) => encoder.number(*number),
            (_, Value::BigInt(integer)) => put_zigzag(encoder.out(), integer),
            (Node::String(slot), Value::String(text)) => {
                encoder.string(&text.to_str(), text.identity(), slot)
            }
            _ => return Err(Code::Value.into()),
        }
        Ok(())
    }

    fn object<'v>(
        self,
        node: &'v StructNode,
        object: &'v Object,
        encoder: &mut Encoder,
        keys: Option<&mut WriteTable<'v>>,
    ) -> Result<(), Error>
    where
        'g: 'v,
    {
        write_struct(encoder, node.fields(), &ObjectSource::new(self, node, object), keys)
    }

    fn union(self, node: &UnionNode, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
        let place =
            node.trials.iter().copied().find(|place| self.member_takes(node.members.get(*place), value));
        let (Some(place), Some(member)) = (place, place.and_then(|place| node.members.get(place))) else {
            return Err(Code::Type.into());
        };
        if encoder.positional() {
            encoder.uvarint(place as u64);
        } else {
            member.selector.write(encoder);
        }
        self.value(member.layout, value, encoder)
    }

    /// Whether an encoder writes `value` as this member; it does not look further inside than variants need.
    pub(super) fn member_takes(self, member: Option<&Member>, value: &Value) -> bool {
        let Some(member) = member else { return false };
        let node = self.0.node(member.layout);
        match (member.selector, node, value) {
            (Selector::Variant(_), Node::Struct(payload), Value::Object(object)) => {
                let mut sentinels = payload.sentinels.iter();
                sentinels
                    .all(|(name, literal)| object.get(name).is_some_and(|value| is_literal(literal, value)))
            }
            (Selector::Variant(_), Node::Array(_), Value::Array(items)) => {
                let mut sentinels = member.tuple_sentinels.iter();
                sentinels
                    .all(|(index, literal)| items.get(*index).is_some_and(|value| is_literal(literal, value)))
            }
            (Selector::Variant(_), ..) => false,
            (_, node, value) => node_takes(node, value),
        }
    }

    /// Writes an element of an array or tuple, or a field in fingerprint mode.
    pub(super) fn slot(self, id: NodeId, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
        match self.0.node(id).slot() {
            Slot::Sized => encoder.sized(|encoder| self.value(id, value, encoder)),
            _ => self.value(id, value, encoder),
        }
    }

    /// The form of a value behind a field tag or an entry's key.
    pub(super) fn scalar(self, id: NodeId, value: &Value) -> Result<Scalar, Error> {
        if let Node::Literal(literals) = self.0.node(id) {
            if !has_literal(literals, value) {
                return Err(Code::Value.into());
            }
            return Ok(match value {
                Value::Bool(bool) => Scalar::Bool(*bool),
                Value::Number(number) => Scalar::number(*number),
                _ => Scalar::Sized,
            });
        }
        match (self.0.node(id), value) {
            (Node::Bool, Value::Bool(bool)) => Ok(Scalar::Bool(*bool)),
            (Node::Number, Value::Number(number)) => Ok(Scalar::number(*number)),
            (Node::Int, Value::Number(number)) if is_safe_integer(*number) => Ok(Scalar::Varint(*number)),
            (Node::Int, Value::Number(_)) => Err(Code::Check.into()),
            (Node::Bool | Node::Number | Node::Int, _) => Err(Code::Value.into()),
            _ => Ok(Scalar::Sized),
        }
    }

    /// Writes a field of a row.
    pub(super) fn region<'v>(
        self,
        id: NodeId,
        intern: Intern,
        value: &'v Value,
        table: &mut WriteTable<'v>,
        encoder: &mut Encoder,
    ) -> Result<(), Error>
    where
        'g: 'v,
    {
        match (intern, self.0.node(id), value) {
            (Intern::Text, Node::String(_), Value::String(text)) => {
                self.interned(id, value, text, table, encoder)
            }
            (Intern::Items, Node::Array(node), Value::Array(items)) => {
                encoder.region(|encoder| self.array(node, items, encoder, Some(table)))
            }
            (Intern::Keys, Node::Struct(node), Value::Object(object)) => {
                encoder.region(|encoder| self.object(node, object, encoder, Some(table)))
            }
            _ => encoder.region(|encoder| self.value(id, value, encoder)),
        }
    }

    /// Writes a string, or a reference to where it was written before.
    pub(super) fn interned<'v>(
        self,
        id: NodeId,
        value: &'v Value,
        text: &'v Text,
        table: &mut WriteTable<'v>,
        encoder: &mut Encoder,
    ) -> Result<(), Error> {
        if let Some(place) = table.find_or_add(text.identity()) {
            encoder.uvarint(2 * place as u64 + 1);
            return Ok(());
        }
        encoder.region(|encoder| self.value(id, value, encoder))
    }
}

/// Whether an encoder writes `value` as this layout if it stands in a union.
fn node_takes(node: &Node, value: &Value) -> bool {
    match (node, value) {
        (Node::Literal(literals), value) => has_literal(literals, value),
        (Node::Json, _)
        | (Node::Null, Value::Null)
        | (Node::Undefined, Value::Undefined)
        | (Node::Bool, Value::Bool(_))
        | (Node::Number | Node::Int, Value::Number(_))
        | (Node::String(_), Value::String(_))
        | (Node::Symbol, Value::Symbol(_))
        | (Node::Bytes, Value::Bytes(_))
        | (Node::BigInt, Value::BigInt(_))
        | (Node::Duration, Value::Duration(_))
        | (Node::BigDecimal, Value::BigDecimal(_))
        | (Node::DateTimeZoned, Value::DateTimeZoned(_))
        | (Node::Date, Value::Date(_))
        | (Node::DateTimeUtc, Value::DateTimeUtc(_))
        | (Node::Struct(_), Value::Object(_))
        | (Node::Array(_), Value::Array(_))
        | (Node::Option(_), Value::Option(_))
        | (Node::Result { .. }, Value::Result(_))
        | (Node::Exit { .. }, Value::Exit(_))
        | (Node::Cause { .. }, Value::Cause(_))
        | (Node::CauseReason { .. }, Value::Reason(_)) => true,
        _ => false,
    }
}

fn write_instant(encoder: &mut Encoder, millis: f64) -> Result<(), Error> {
    if millis.trunc() != millis || millis.abs() > INSTANT_MAX {
        return Err(Code::DateRange.into());
    }
    encoder.bytes(&(millis as i64).to_le_bytes());
    Ok(())
}

fn write_zoned(encoder: &mut Encoder, zoned: &Zoned) -> Result<(), Error> {
    if !super::zone::reaches(zoned.epoch_millis) || zoned.epoch_millis.trunc() != zoned.epoch_millis {
        return Err(Code::TimeZone.into());
    }
    encoder.bytes(&(zoned.epoch_millis as i64).to_le_bytes());
    match &zoned.zone {
        Zone::Offset(millis) => {
            encoder.byte(0);
            encoder.bytes(&millis.to_le_bytes());
        }
        Zone::Named(name) => {
            encoder.byte(1);
            encoder.bytes(name.as_bytes());
        }
    }
    Ok(())
}

fn write_duration(encoder: &mut Encoder, duration: &Duration) {
    match duration {
        Duration::Nanos(nanos) => {
            encoder.byte(0);
            put_zigzag(encoder.out(), nanos);
        }
        Duration::Infinity => encoder.byte(1),
        Duration::NegativeInfinity => encoder.byte(2),
    }
}
