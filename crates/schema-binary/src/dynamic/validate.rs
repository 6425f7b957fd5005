//! Checks that have no bytes, looked at before writing and after reading.

use super::codec::nested_frame;
use super::encode::Writer;
use super::schema::{Check, Schema};
use super::{Reason, Value};
use crate::layout::{ArrayNode, Node, NodeId, StructNode, UnionNode};
use crate::{Code, Error};

impl Schema {
    /// Looks at the checks of a value that fits the layout, `depth` levels down. The depth of nested frames
    /// adds to that of the value around them, so that nesting stays bounded.
    pub(super) fn validate(&self, id: NodeId, value: &Value, depth: u32) -> Result<(), Error> {
        if self.checks.is_empty() {
            return Ok(());
        }
        self.parts(id, value, depth)?;
        for check in self.checks.get(&id).into_iter().flatten() {
            match (check, value) {
                (Check::Frame(schema), Value::Bytes(frame)) => nested_frame(self, *schema, frame, depth + 1)?,
                (check, value) if check.passes(value) => {}
                _ => return Err(Code::Check.into()),
            }
        }
        Ok(())
    }

    fn parts(&self, id: NodeId, value: &Value, depth: u32) -> Result<(), Error> {
        match (self.graph.node(id), value) {
            (Node::Struct(node), value) => self.struct_parts(node, value, depth),
            (Node::Array(node), Value::Array(items)) => self.array_parts(node, items, depth),
            (Node::Union(node), value) => self.union_part(node, value, depth),
            (Node::Option(item), Value::Option(Some(value))) => self.validate(*item, value, depth + 1),
            (Node::Result { success, .. }, Value::Result(Ok(value)))
            | (Node::Exit { success, .. }, Value::Exit(Ok(value))) => {
                self.validate(*success, value, depth + 1)
            }
            (Node::Result { failure, .. }, Value::Result(Err(value))) => {
                self.validate(*failure, value, depth + 1)
            }
            (Node::Exit { error, defect, .. }, Value::Exit(Err(reasons)))
            | (Node::Cause { error, defect }, Value::Cause(reasons)) => {
                reasons.iter().try_for_each(|reason| self.reason_part(*error, *defect, reason, depth))
            }
            (Node::CauseReason { error, defect }, Value::Reason(reason)) => {
                self.reason_part(*error, *defect, reason, depth)
            }
            _ => Ok(()),
        }
    }

    fn reason_part(&self, error: NodeId, defect: NodeId, reason: &Reason, depth: u32) -> Result<(), Error> {
        match reason {
            Reason::Fail(value) => self.validate(error, value, depth + 1),
            Reason::Die(value) => self.validate(defect, value, depth + 1),
            Reason::Interrupt(_) => Ok(()),
        }
    }

    fn struct_parts(&self, node: &StructNode, value: &Value, depth: u32) -> Result<(), Error> {
        let Value::Object(object) = value else { return Ok(()) };
        for (info, layout) in node.infos.iter().zip(&node.layouts) {
            if let Some(value) = object.get(&info.name) {
                self.validate(*layout, value, depth + 1).map_err(|error| error.at(&*info.name))?;
            }
        }
        if node.signatures.is_empty() {
            return Ok(());
        }
        let fields = node.fields();
        for (key, value) in object.iter() {
            let Some(name) = key.as_str().filter(|name| !fields.declares(name)) else { continue };
            if let Some(signature) = node.signatures.iter().find(|signature| signature.keys.matches(name)) {
                self.validate(signature.value, value, depth + 1).map_err(|error| error.at(name))?;
            }
        }
        Ok(())
    }

    fn array_parts(&self, node: &ArrayNode, items: &[Value], depth: u32) -> Result<(), Error> {
        for (index, value) in items.iter().enumerate() {
            if let (Some(id), _) = node.element(index, items.len()) {
                self.validate(id, value, depth + 1).map_err(|error| error.at(index))?;
            }
        }
        Ok(())
    }

    /// A member that takes anything excuses what another finds wrong.
    fn union_part(&self, node: &UnionNode, value: &Value, depth: u32) -> Result<(), Error> {
        let writer = Writer(&self.graph);
        let mut members = node.trials.iter().filter_map(|place| node.members.get(*place));
        if node.members.iter().any(|member| matches!(self.graph.node(member.layout), Node::Json)) {
            return Ok(());
        }
        match members.find(|member| writer.member_takes(Some(member), value)) {
            Some(member) => self.validate(member.layout, value, depth + 1),
            None => Ok(()),
        }
    }
}
