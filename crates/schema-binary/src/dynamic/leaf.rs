//! Leaf values outside a graph, for types that are written as their dynamic form.

use super::Value;
use super::decode::Walk;
use super::encode::Writer;
use crate::Error;
use crate::engine::{Decoder, Encoder};
use crate::layout::{Graph, Node, NodeId};

fn graph(leaf: &Node) -> Graph {
    Graph { nodes: vec![leaf.clone()], root: NodeId(0) }
}

/// Writes a value of a leaf layout.
pub(crate) fn encode_leaf(leaf: &Node, value: &Value, encoder: &mut Encoder) -> Result<(), Error> {
    Writer(&graph(leaf)).value(NodeId(0), value, encoder)
}

/// Reads a value of a leaf layout.
pub(crate) fn decode_leaf(leaf: &Node, decoder: &mut Decoder<'_>) -> Result<Value, Error> {
    Walk(&graph(leaf)).value(NodeId(0), decoder)
}
