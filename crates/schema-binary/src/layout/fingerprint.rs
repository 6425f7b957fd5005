//! The hash of a layout graph, by which two sides know that they agree.

use std::collections::HashMap;

use super::{ArrayNode, Graph, Literals, Node, NodeId, StructNode, UnionNode};
use crate::engine::Selector;
use crate::wire::put_uvarint;

/// The fingerprint of a layout: equal for two layouts exactly if (hash collisions aside) their bytes mean the same.
///
/// Field names do not matter, only ids; nor does the order of members, fields or literals.
pub fn fingerprint(graph: &Graph, root: NodeId) -> u64 {
    Hasher { graph, cache: HashMap::new(), stack: Vec::new(), escape: usize::MAX }.node(root)
}

struct Hasher<'g> {
    graph: &'g Graph,
    cache: HashMap<NodeId, u64>,
    /// The nodes being hashed, outermost first.
    stack: Vec<NodeId>,
    /// The outermost place of the stack that a back edge has led to.
    escape: usize,
}

impl Hasher<'_> {
    fn node(&mut self, id: NodeId) -> u64 {
        if let Some(at) = self.stack.iter().rposition(|open| *open == id) {
            self.escape = self.escape.min(at);
            let mut out = vec![0];
            put_uvarint(&mut out, (self.stack.len() - at) as u64);
            return fnv64(&out);
        }
        if let Some(hash) = self.cache.get(&id) {
            return *hash;
        }
        let place = self.stack.len();
        let outer = std::mem::replace(&mut self.escape, usize::MAX);
        self.stack.push(id);
        let hash = fnv64(&self.structure(id));
        self.stack.pop();
        // Only what does not lead back above itself hashes the same everywhere.
        if self.escape >= place {
            self.cache.insert(id, hash);
            self.escape = outer;
        } else {
            self.escape = self.escape.min(outer);
        }
        hash
    }

    fn structure(&mut self, id: NodeId) -> Vec<u8> {
        let mut out = vec![number(self.graph.node(id))];
        match self.graph.node(id).clone() {
            Node::Literal(literals) => literal_structure(&mut out, &literals),
            Node::Struct(node) => self.struct_structure(&mut out, &node),
            Node::Array(node) => self.array_structure(&mut out, &node),
            Node::Union(node) => self.union_structure(&mut out, &node),
            Node::Option(item) => self.children(&mut out, &[item]),
            Node::Result { success, failure } => self.children(&mut out, &[success, failure]),
            Node::Exit { success, error, defect } => self.children(&mut out, &[success, error, defect]),
            Node::Cause { error, defect } | Node::CauseReason { error, defect } => {
                self.children(&mut out, &[error, defect]);
            }
            _ => {}
        }
        out
    }

    fn children(&mut self, out: &mut Vec<u8>, children: &[NodeId]) {
        for child in children {
            out.extend_from_slice(&self.node(*child).to_le_bytes());
        }
    }

    fn struct_structure(&mut self, out: &mut Vec<u8>, node: &StructNode) {
        put_uvarint(out, node.infos.len() as u64);
        for (info, layout) in node.infos.iter().zip(&node.layouts) {
            out.extend_from_slice(&info.id.to_le_bytes());
            out.push(u8::from(info.optional));
            self.children(out, &[*layout]);
        }
        put_uvarint(out, node.signatures.len() as u64);
        for signature in &node.signatures {
            self.children(out, &[signature.value]);
        }
    }

    fn array_structure(&mut self, out: &mut Vec<u8>, node: &ArrayNode) {
        put_uvarint(out, node.elements.len() as u64);
        for (layout, optional) in &node.elements {
            out.push(u8::from(*optional));
            self.children(out, &[*layout]);
        }
        put_uvarint(out, node.rest.len() as u64);
        self.children(out, &node.rest);
    }

    fn union_structure(&mut self, out: &mut Vec<u8>, node: &UnionNode) {
        put_uvarint(out, node.members.len() as u64);
        for member in &node.members {
            match member.selector {
                Selector::Kind(_) => out.push(0),
                Selector::Variant(tag) => {
                    let tuple = matches!(self.graph.node(member.layout), Node::Array(_));
                    out.extend_from_slice(&[1, u8::from(tuple)]);
                    out.extend_from_slice(&tag.to_le_bytes());
                }
            }
            self.children(out, &[member.layout]);
        }
    }
}

/// The byte that stands for a kind of node.
const fn number(node: &Node) -> u8 {
    match node {
        Node::Bool => 1,
        Node::Null => 2,
        Node::Undefined => 3,
        Node::Number => 4,
        Node::Int => 5,
        Node::String(_) => 6,
        Node::Symbol => 7,
        Node::Bytes => 8,
        Node::BigInt => 9,
        Node::Json => 10,
        Node::Duration => 11,
        Node::BigDecimal => 12,
        Node::DateTimeZoned => 13,
        Node::Date => 14,
        Node::DateTimeUtc => 15,
        Node::Never => 16,
        Node::Struct(_) => 17,
        Node::Array(_) => 18,
        Node::Union(_) => 19,
        Node::Option(_) => 20,
        Node::Result { .. } => 21,
        Node::Exit { .. } => 22,
        Node::Cause { .. } => 23,
        Node::CauseReason { .. } => 24,
        Node::Literal(_) => 25,
    }
}

fn literal_structure(out: &mut Vec<u8>, literals: &Literals) {
    out.push(number(&literals.leaf()));
    put_uvarint(out, literals.values.len() as u64);
    let mut sorted: Vec<_> = literals.values.iter().map(|value| (value.text(), value.kind())).collect();
    // Texts sort by UTF-16 code units, which differs from UTF-8 beyond U+FFFF.
    sorted
        .sort_by(|left, right| left.0.encode_utf16().cmp(right.0.encode_utf16()).then(left.1.cmp(&right.1)));
    for (text, kind) in sorted {
        out.push(kind);
        put_uvarint(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
}

fn fnv64(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_of_leaves() {
        let graph = |node| Graph { nodes: vec![node], root: NodeId(0) };
        assert_eq!(
            fingerprint(&graph(Node::Number), NodeId(0)).to_le_bytes(),
            [0x13, 0xb1, 1, 0x86, 0x4c, 0xb9, 0x63, 0xaf]
        );
    }
}
