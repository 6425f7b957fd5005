//! Reading values by walking a layout graph.

use super::{BigDecimal, Duration, Object, Reason, Text, Value, Zone, Zoned, json, zone};
use crate::engine::{
    Decoder, EntryFate, Intern, Key, ReadForm, ReadTable, Selector, Slot, StructSink, kind, read_struct,
};
use crate::layout::{Graph, Literal, Literals, Member, Node, NodeId, StructNode, UnionNode};
use crate::wire::MAX_SAFE_INTEGER;
use crate::{Code, Error};

/// The farthest instant from the epoch, in milliseconds.
pub(super) const INSTANT_MAX: f64 = 8.64e15;

/// Reads values of the layouts of one graph.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'g>(pub(super) &'g Graph);

impl<'g> Walk<'g> {
    /// Reads a plain value, which fills the region; the caller counts the level and checks for leftovers.
    pub(super) fn value<'a>(self, id: NodeId, decoder: &mut Decoder<'a>) -> Result<Value, Error> {
        Ok(match self.0.node(id) {
            Node::Null | Node::Undefined if !decoder.reader.is_empty() => return Err(Code::NotEmpty.into()),
            Node::Null => Value::Null,
            Node::Undefined => Value::Undefined,
            Node::Bool => Value::Bool(plain_bool(decoder)?),
            Node::Number => Value::Number(decoder.reader.plain_number()?),
            Node::Int => Value::Number(decoder.reader.number_varint()?),
            Node::String(slot) => Value::String(decoder.string(*slot)?.share().into()),
            Node::Symbol => Value::Symbol(decoder.reader.text()?.into()),
            Node::Bytes => Value::Bytes(decoder.reader.take_rest().to_vec()),
            Node::BigInt => Value::BigInt(Box::new(decoder.reader.zigzag()?)),
            Node::Json => json_value(decoder)?,
            Node::Duration => Value::Duration(Box::new(duration(decoder)?)),
            Node::BigDecimal => Value::BigDecimal(Box::new(decimal(decoder)?)),
            Node::Date => Value::Date(instant(decoder)?),
            Node::DateTimeUtc => Value::DateTimeUtc(instant(decoder)?),
            Node::DateTimeZoned => Value::DateTimeZoned(Box::new(zoned(decoder)?)),
            Node::Literal(literals) => self.literal(literals, decoder)?,
            Node::Struct(node) => Value::Object(self.object(node, decoder, None)?),
            Node::Array(node) => Value::Array(self.array(node, decoder, None)?),
            Node::Union(node) => return self.union(node, decoder),
            Node::CauseReason { error, defect } => {
                Value::Reason(Box::new(self.reason(*error, *defect, decoder)?.ok_or(Code::Absent)?))
            }
            Node::Cause { error, defect } => Value::Cause(self.cause(*error, *defect, decoder)?),
            Node::Never => return Err(Code::Type.into()),
            wrapper => self.wrapper(wrapper, decoder)?,
        })
    }

    /// Options, results and exits: a byte, and then one of two layouts.
    fn wrapper<'a>(self, node: &Node, decoder: &mut Decoder<'a>) -> Result<Value, Error> {
        let tag = match decoder.reader.byte()? {
            tag @ (0 | 1) => tag == 1,
            _ => return Err(Code::Bool.into()),
        };
        Ok(match (node, tag) {
            (Node::Option(_), false) if !decoder.reader.is_empty() => return Err(Code::NotEmpty.into()),
            (Node::Option(_), false) => Value::Option(None),
            (Node::Option(item), true) => Value::Option(Some(self.item(*item, decoder)?)),
            (Node::Result { success, .. }, false) => Value::Result(Ok(self.item(*success, decoder)?)),
            (Node::Result { failure, .. }, true) => Value::Result(Err(self.item(*failure, decoder)?)),
            (Node::Exit { success, .. }, false) => Value::Exit(Ok(self.item(*success, decoder)?)),
            (Node::Exit { error, defect, .. }, true) => {
                Value::Exit(Err(decoder.nested(|decoder| self.cause(*error, *defect, decoder))?))
            }
            _ => return Err(Code::Type.into()),
        })
    }

    fn item<'a>(self, id: NodeId, decoder: &mut Decoder<'a>) -> Result<Box<Value>, Error> {
        decoder.item(|decoder| self.value(id, decoder)).map(Box::new)
    }

    fn cause<'a>(
        self,
        error: NodeId,
        defect: NodeId,
        decoder: &mut Decoder<'a>,
    ) -> Result<Vec<Reason>, Error> {
        let count = decoder.reader.uvarint()?;
        let mut reasons = Vec::new();
        for index in 0..count {
            let region = decoder.reader.sized().map_err(|error| error.at(index as usize))?;
            let outer = std::mem::replace(&mut decoder.reader, crate::wire::Reader::new(region));
            let reason = self.reason(error, defect, decoder).map_err(|error| error.at(index as usize))?;
            decoder.reader = outer;
            reasons.extend(reason);
        }
        decoder.reader.finish()?;
        Ok(reasons)
    }

    /// A reason that fills the region; none for a tag of the future.
    fn reason<'a>(
        self,
        error: NodeId,
        defect: NodeId,
        decoder: &mut Decoder<'a>,
    ) -> Result<Option<Reason>, Error> {
        Ok(Some(match decoder.reader.byte()? {
            0 => Reason::Fail(decoder.item(|decoder| self.value(error, decoder))?),
            1 => Reason::Die(decoder.item(|decoder| self.value(defect, decoder))?),
            2 if decoder.reader.is_empty() => Reason::Interrupt(None),
            2 => return Err(Code::NotEmpty.into()),
            3 if decoder.reader.remaining() == 8 => Reason::Interrupt(Some(decoder.reader.f64()?)),
            3 => return Err(Code::NumberLength.into()),
            _ => {
                decoder.reader.take_rest();
                return Ok(None);
            }
        }))
    }

    fn literal<'a>(self, literals: &Literals, decoder: &mut Decoder<'a>) -> Result<Value, Error> {
        let value = decoder.nested(|decoder| match literals.leaf() {
            Node::Bool => plain_bool(decoder).map(Value::Bool),
            Node::Number => decoder.reader.plain_number().map(Value::Number),
            Node::BigInt => decoder.reader.zigzag().map(|integer| Value::BigInt(Box::new(integer))),
            Node::String(slot) => Ok(Value::String(decoder.string(slot)?.share().into())),
            _ => Err(Code::Type.into()),
        })?;
        if has_literal(literals, &value) { Ok(value) } else { Err(Code::Value.into()) }
    }

    pub(super) fn object<'a>(
        self,
        node: &StructNode,
        decoder: &mut Decoder<'a>,
        keys: Option<&mut ReadTable<'a>>,
    ) -> Result<Object, Error> {
        let mut sink = ObjectSink::new(self, node, decoder.reader.remaining());
        read_struct(decoder, node.fields(), &mut sink, keys)?;
        Ok(sink.object)
    }

    fn union<'a>(self, node: &UnionNode, decoder: &mut Decoder<'a>) -> Result<Value, Error> {
        let Some(member) = select(node, decoder)? else { return Err(decoder.unknown_member()) };
        let mut value = decoder.nested(|decoder| self.value(member.layout, decoder))?;
        std::mem::take(&mut decoder.reader).finish()?;
        if let (Node::Struct(payload), Value::Object(object)) = (self.0.node(member.layout), &mut value) {
            for (name, literal) in &payload.sentinels {
                object.push(Text::from(&**name), literal_value(literal));
            }
        }
        Ok(value)
    }

    /// An element of an array or tuple, or a field in fingerprint mode.
    pub(super) fn slot<'a>(self, id: NodeId, decoder: &mut Decoder<'a>) -> Result<Value, Error> {
        match self.0.node(id).slot() {
            Slot::Sized => decoder.sized_value(|decoder| self.value(id, decoder)),
            Slot::Varint => decoder.nested(|decoder| self.value(id, decoder)),
            Slot::Fixed(width) => {
                let region = decoder.reader.take(u64::from(width))?;
                decoder.value_in(region, |decoder| self.value(id, decoder))
            }
            Slot::Empty => decoder.value_in(&[], |decoder| self.value(id, decoder)),
        }
    }

    /// A field or entry behind its kind, which its layout accepts.
    fn tagged<'a>(self, id: NodeId, kind: u8, decoder: &mut Decoder<'a>) -> Result<Value, Error> {
        let value = match kind {
            kind::FALSE => Value::Bool(false),
            kind::TRUE => Value::Bool(true),
            kind::VARINT => Value::Number(decoder.reader.number_varint()?),
            kind::FIXED64 => Value::Number(decoder.reader.f64()?),
            kind::DECIMAL => Value::Number(decoder.reader.decimal()?),
            _ => return decoder.sized_value(|decoder| self.value(id, decoder)),
        };
        match self.0.node(id) {
            Node::Literal(literals) if !has_literal(literals, &value) => Err(Code::Value.into()),
            _ => Ok(value),
        }
    }

    /// A field of a row.
    fn region<'a>(
        self,
        id: NodeId,
        intern: Intern,
        table: &mut ReadTable<'a>,
        decoder: &mut Decoder<'a>,
    ) -> Result<Value, Error> {
        let code = decoder.reader.uvarint()?;
        if code & 1 == 1 {
            // Only tables of whole values can be referred to from here.
            return match intern {
                Intern::Text => Ok(Value::String(table.get(code >> 1)?.share().into())),
                _ => Err(Code::BackReference.into()),
            };
        }
        let region = decoder.reader.take(code >> 1)?;
        decoder.value_in(region, |decoder| match (intern, self.0.node(id)) {
            (Intern::Text, Node::String(slot)) => {
                let mut text = decoder.string(*slot)?;
                let shared = text.share();
                table.push(text);
                Ok(Value::String(shared.into()))
            }
            (Intern::Items, Node::Array(node)) => self.array(node, decoder, Some(table)).map(Value::Array),
            (Intern::Keys, Node::Struct(node)) => self.object(node, decoder, Some(table)).map(Value::Object),
            _ => self.value(id, decoder),
        })
    }
}

/// Puts the fields of a struct into an object.
pub(super) struct ObjectSink<'g> {
    pub(super) walk: Walk<'g>,
    pub(super) node: &'g StructNode,
    pub(super) object: Object,
}

impl<'g> ObjectSink<'g> {
    /// Makes room for no more fields than so many bytes can hold.
    pub(super) fn new(walk: Walk<'g>, node: &'g StructNode, bytes: usize) -> Self {
        Self { walk, node, object: Object::with_capacity(node.infos.len().min(bytes)) }
    }
}

impl<'a> StructSink<'a> for ObjectSink<'_> {
    fn field(
        &mut self,
        number: usize,
        form: ReadForm<'_, 'a>,
        decoder: &mut Decoder<'a>,
    ) -> Result<(), Error> {
        let info = self.node.infos.get(number).ok_or(Code::Schema)?;
        let id = *self.node.layouts.get(number).ok_or(Code::Schema)?;
        let value = match form {
            ReadForm::Tagged(kind) => self.walk.tagged(id, kind, decoder)?,
            ReadForm::Slot => self.walk.slot(id, decoder)?,
            ReadForm::Region(table) => self.walk.region(id, info.intern, table, decoder)?,
        };
        let name = self.node.names.get(number).ok_or(Code::Schema)?;
        self.object.push(name.clone(), value);
        Ok(())
    }

    fn entry(&mut self, key: Key<'_, 'a>, kind: u8, decoder: &mut Decoder<'a>) -> Result<EntryFate, Error> {
        let mut signatures = self.node.signatures.iter();
        let Some(signature) = signatures.find(|signature| signature.keys.matches(key.text.as_str())) else {
            return Ok(EntryFate::Unmatched);
        };
        if !signature.kinds.accepts(kind) {
            return Ok(EntryFate::Unaccepted);
        }
        let value = self.walk.tagged(signature.value, kind, decoder)?;
        self.object.push(key.text.share().into(), value);
        Ok(EntryFate::Read)
    }
}

fn select<'u>(node: &'u UnionNode, decoder: &mut Decoder<'_>) -> Result<Option<&'u Member>, Error> {
    if decoder.positional() {
        let position = usize::try_from(decoder.reader.uvarint()?).ok();
        return Ok(position.and_then(|position| node.members.get(position)));
    }
    let selector = Selector::read(decoder)?;
    let place = node.members.binary_search_by_key(&selector, |member| member.selector).ok();
    Ok(place.and_then(|place| node.members.get(place)))
}

/// Whether a value is one of the literals; 0 and -0 are the same here.
pub(super) fn has_literal(literals: &Literals, value: &Value) -> bool {
    literals.values.iter().any(|literal| is_literal(literal, value))
}

/// Whether a value is this literal; 0 and -0 are the same here.
pub(super) fn is_literal(literal: &Literal, value: &Value) -> bool {
    match (literal, value) {
        (Literal::String(left), Value::String(right)) | (Literal::Symbol(left), Value::Symbol(right)) => {
            left == right
        }
        (Literal::Number(left), Value::Number(right)) => left == right,
        (Literal::Bool(left), Value::Bool(right)) => left == right,
        (Literal::BigInt(left), Value::BigInt(right)) => *left == **right,
        _ => false,
    }
}

fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::String(text) => Value::String(text.clone()),
        Literal::Number(number) => Value::Number(*number),
        Literal::Bool(bool) => Value::Bool(*bool),
        Literal::BigInt(integer) => Value::BigInt(Box::new(integer.clone())),
        Literal::Symbol(key) => Value::Symbol(key.clone()),
    }
}

/// A boolean that fills the region.
fn plain_bool(decoder: &mut Decoder<'_>) -> Result<bool, Error> {
    match decoder.reader.take_rest() {
        [byte @ (0 | 1)] => Ok(*byte == 1),
        _ => Err(Code::Bool.into()),
    }
}

fn json_value(decoder: &mut Decoder<'_>) -> Result<Value, Error> {
    json::parse(decoder.reader.text()?)
}

fn instant(decoder: &mut Decoder<'_>) -> Result<f64, Error> {
    if decoder.reader.remaining() != 8 {
        return Err(Code::Int64Length.into());
    }
    let millis = decoder.reader.i64()? as f64;
    if millis.abs() <= INSTANT_MAX { Ok(millis) } else { Err(Code::DateRange.into()) }
}

fn zoned(decoder: &mut Decoder<'_>) -> Result<Zoned, Error> {
    let epoch_millis = decoder.reader.i64()? as f64;
    let zone = match decoder.reader.byte()? {
        0 if decoder.reader.remaining() == 4 => Zone::Offset(decoder.reader.i32()?),
        1 => zone::parse(decoder.reader.text()?).ok_or(Code::TimeZone)?,
        _ => return Err(Code::TimeZone.into()),
    };
    if zone::reaches(epoch_millis) { Ok(Zoned { epoch_millis, zone }) } else { Err(Code::TimeZone.into()) }
}

fn duration(decoder: &mut Decoder<'_>) -> Result<Duration, Error> {
    match decoder.reader.byte()? {
        0 => decoder.reader.zigzag().map(Duration::Nanos),
        1 => Ok(Duration::Infinity),
        2 => Ok(Duration::NegativeInfinity),
        _ => Err(Code::DurationTag.into()),
    }
}

fn decimal(decoder: &mut Decoder<'_>) -> Result<BigDecimal, Error> {
    let value = decoder.reader.zigzag()?;
    let scale = i64::try_from(decoder.reader.zigzag()?).ok();
    let scale = scale.filter(|scale| scale.unsigned_abs() <= MAX_SAFE_INTEGER).ok_or(Code::UnsafeInteger)?;
    Ok(BigDecimal { value, scale })
}
