//! Layout graphs of types.

use std::any::type_name;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::{
    ArrayNode, Graph, KeyPattern, Literal, Literals, Member, Node, NodeId, Signature, StructNode, UnionNode,
};
use crate::Layout;
use crate::dictionary::StringSlot;
use crate::engine::{FieldInfo, Fields, Kinds, Selector};

/// Collects the nodes of the layouts that a type consists of.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
    /// Types that were met, by name; a recursive type meets itself.
    types: HashMap<&'static str, NodeId>,
}

impl Builder {
    /// The graph of a type.
    pub fn graph<T: Layout + ?Sized>() -> Graph {
        let mut builder = Self::default();
        let root = T::node(&mut builder);
        Graph { nodes: builder.nodes, root }.completed()
    }

    /// Adds a node.
    pub fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    /// Adds the node of a type that may contain itself.
    pub fn define<T: ?Sized>(&mut self, node: impl FnOnce(&mut Self) -> Node) -> NodeId {
        let name = type_name::<T>();
        if let Some(id) = self.types.get(name) {
            return *id;
        }
        let id = self.add(Node::Never);
        self.types.insert(name, id);
        let node = node(self);
        if let Some(place) = self.nodes.get_mut(id.0) {
            *place = node;
        }
        id
    }

    /// Adds literals of one kind.
    pub fn literals(&mut self, values: impl IntoIterator<Item = Literal>) -> NodeId {
        self.add(Node::Literal(Literals {
            values: values.into_iter().collect(),
            slot: StringSlot::FIRST_FREE,
        }))
    }

    /// A plain array.
    pub fn array(&mut self, item: NodeId) -> NodeId {
        self.array_of(ArrayNode { elements: Vec::new(), rest: vec![item], rows: None })
    }

    /// An array with at least one element.
    pub fn non_empty_array(&mut self, item: NodeId) -> NodeId {
        self.array_of(ArrayNode { elements: vec![(item, false)], rest: vec![item], rows: None })
    }

    /// A tuple of required elements.
    pub fn tuple(&mut self, elements: impl IntoIterator<Item = NodeId>) -> NodeId {
        let elements = elements.into_iter().map(|element| (element, false)).collect();
        self.array_of(ArrayNode { elements, rest: Vec::new(), rows: None })
    }

    fn array_of(&mut self, node: ArrayNode) -> NodeId {
        self.add(Node::Array(Arc::new(node)))
    }
}

/// A struct with these fields; `rest` are its extra entries, `sentinels` the string properties its tag tells.
pub fn struct_node(
    fields: Fields<'_>,
    layouts: Vec<NodeId>,
    rest: Option<(NodeId, Kinds)>,
    sentinels: &[(&'static str, &'static str)],
) -> Node {
    let sentinel = |&(name, text): &(&'static str, &str)| (Cow::Borrowed(name), Literal::String(text.into()));
    let sentinels: Vec<_> = sentinels.iter().map(sentinel).collect();
    let signature = |(value, kinds)| Signature { keys: KeyPattern::ALL, value, kinds };
    Node::Struct(Arc::new(StructNode {
        infos: fields
            .list
            .iter()
            .enumerate()
            .map(|(number, info)| FieldInfo { number, ..info.clone() })
            .collect(),
        layouts,
        names: Vec::new(),
        signatures: rest.map(signature).into_iter().collect(),
        hidden: sentinels.iter().map(|(name, _)| name.clone()).collect(),
        sentinels,
        declared_order: false,
    }))
}

/// A union of these members.
pub fn union_node(members: Vec<(Selector, NodeId)>) -> Node {
    let mut sorted: Vec<_> = members;
    sorted.sort_by_key(|(selector, _)| *selector);
    let member = |(selector, layout)| Member { selector, layout, tuple_sentinels: Vec::new() };
    let members: Vec<_> = sorted.into_iter().map(member).collect();
    Node::Union(Arc::new(UnionNode { trials: (0..members.len()).collect(), members }))
}
