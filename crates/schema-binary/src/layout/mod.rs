//! The compiled form of a schema: a graph of layouts. Its nodes say how values lie on the wire, and nothing else.

mod build;
mod fingerprint;
mod literal;

use std::borrow::Cow;
use std::sync::Arc;

pub use build::{Builder, struct_node, union_node};
pub use fingerprint::fingerprint;
pub use literal::Literal;

use crate::dictionary::StringSlot;
use crate::dynamic::Text;
use crate::engine::{FieldInfo, Fields, Intern, Kinds, Selector, Slot};

/// The place of a node in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) usize);

/// A compiled schema.
#[derive(Debug, Clone)]
pub struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
}

impl Graph {
    /// The node of the whole value.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0).unwrap_or(&Node::Never)
    }
}

/// How one value lies on the wire.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Node {
    /// One byte, 0 or 1.
    Bool,
    /// No bytes.
    Null,
    /// No bytes.
    Undefined,
    /// A number in the shortest of three forms.
    Number,
    /// An integer as a varint.
    Int,
    /// UTF-8.
    String(StringSlot),
    /// UTF-8 of a symbol's key.
    Symbol,
    /// Bytes as they are.
    Bytes,
    /// A zigzag varint.
    BigInt,
    /// JSON text.
    Json,
    /// Nanoseconds, or for ever.
    Duration,
    /// Digits and scale.
    BigDecimal,
    /// An instant and its zone.
    DateTimeZoned,
    /// An instant in 8 bytes.
    Date,
    /// An instant in 8 bytes.
    DateTimeUtc,
    /// Nothing fits.
    Never,
    /// One of some literals of one kind.
    Literal(Literals),
    /// Fields by id.
    Struct(Arc<StructNode>),
    /// Elements in order.
    Array(Arc<ArrayNode>),
    /// One of several layouts, named by a selector.
    Union(Arc<UnionNode>),
    /// A value or none.
    Option(NodeId),
    /// A success or a failure.
    Result {
        /// Layout of successes.
        success: NodeId,
        /// Layout of failures.
        failure: NodeId,
    },
    /// A success or the reasons of a failure.
    Exit {
        /// Layout of successes.
        success: NodeId,
        /// Layout of expected errors.
        error: NodeId,
        /// Layout of defects.
        defect: NodeId,
    },
    /// The reasons of a failure.
    Cause {
        /// Layout of expected errors.
        error: NodeId,
        /// Layout of defects.
        defect: NodeId,
    },
    /// One reason of a failure.
    CauseReason {
        /// Layout of expected errors.
        error: NodeId,
        /// Layout of defects.
        defect: NodeId,
    },
}

/// Literals of one kind, at least one.
#[derive(Debug, Clone)]
pub struct Literals {
    /// The values, each once.
    pub values: Arc<[Literal]>,
    /// The table of the strings among them.
    pub slot: StringSlot,
}

impl Literals {
    /// The layout the literals are written in.
    pub fn leaf(&self) -> Node {
        match self.values.first() {
            Some(Literal::String(_)) => Node::String(self.slot),
            Some(Literal::Number(_)) => Node::Number,
            Some(Literal::Bool(_)) => Node::Bool,
            Some(Literal::BigInt(_)) => Node::BigInt,
            Some(Literal::Symbol(_)) => Node::Symbol,
            None => Node::Never,
        }
    }
}

/// The fields of a struct.
#[derive(Debug, Clone, Default)]
pub struct StructNode {
    /// What the engine knows of the fields, by ascending id.
    pub infos: Vec<FieldInfo>,
    /// Their layouts, in the same order.
    pub layouts: Vec<NodeId>,
    /// Their names, to share.
    pub names: Vec<Text>,
    /// What extra entries may be, first match wins.
    pub signatures: Vec<Signature>,
    /// The sentinels of a variant: fields that its tag tells, with their values.
    pub sentinels: Vec<(Cow<'static, str>, Literal)>,
    /// The names of the sentinels.
    pub hidden: Vec<Cow<'static, str>>,
    /// Whether the fields are in the order of their declaration instead.
    pub declared_order: bool,
}

impl StructNode {
    /// The engine's view of the struct.
    pub fn fields(&self) -> Fields<'_> {
        let open = !self.signatures.is_empty();
        Fields::new(&self.infos, &self.hidden, open, !self.declared_order)
    }

    /// Puts the fields in the order of `names`.
    pub(crate) fn arrange(&mut self, names: &[String]) {
        let mut fields: Vec<_> = self.infos.drain(..).zip(self.layouts.drain(..)).collect();
        fields.sort_by_key(|(info, _)| names.iter().position(|name| *name == info.name));
        (self.infos, self.layouts) = fields.into_iter().unzip();
        self.declared_order = true;
    }

    /// Numbers the fields by their position.
    pub(crate) fn renumber(&mut self) {
        for (number, info) in self.infos.iter_mut().enumerate() {
            info.number = number;
        }
    }

    fn complete(&mut self, graph: &Graph) {
        for (info, layout) in self.infos.iter_mut().zip(&self.layouts) {
            info.kinds = graph.node(*layout).kinds();
            info.intern = graph.intern(*layout);
        }
        self.names = self.infos.iter().map(|info| Text::from(&*info.name)).collect();
        for signature in &mut self.signatures {
            signature.kinds = graph.node(signature.value).kinds();
        }
    }
}

/// An index signature.
#[derive(Debug, Clone)]
pub struct Signature {
    /// Which keys it takes.
    pub keys: KeyPattern,
    /// The layout of its values.
    pub value: NodeId,
    /// The kinds that layout accepts behind a key.
    pub kinds: Kinds,
}

/// Which keys an index signature takes.
#[derive(Clone)]
pub struct KeyPattern(pub(crate) Option<Arc<KeyTest>>);

/// Whether a signature takes a key.
pub(crate) type KeyTest = dyn Fn(&str) -> bool + Send + Sync;

impl KeyPattern {
    /// Every key.
    pub const ALL: Self = Self(None);

    /// Whether the signature takes this key.
    pub fn matches(&self, key: &str) -> bool {
        self.0.as_ref().is_none_or(|matches| matches(key))
    }
}

impl std::fmt::Debug for KeyPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_none() { "KeyPattern(all)" } else { "KeyPattern(some)" })
    }
}

/// The elements of an array or tuple.
#[derive(Debug, Clone, Default)]
pub struct ArrayNode {
    /// Leading elements: their layouts, and whether they may be missing.
    pub elements: Vec<(NodeId, bool)>,
    /// The layout of any number of further elements, then those of the last ones.
    pub rest: Vec<NodeId>,
    /// The struct that all elements are, if they form rows.
    pub rows: Option<NodeId>,
}

impl ArrayNode {
    /// Whether the wire has a count.
    pub fn has_count(&self) -> bool {
        !self.rest.is_empty() || self.elements.iter().any(|(_, optional)| *optional)
    }

    /// The number of elements that must be there.
    pub fn min(&self) -> usize {
        self.elements.iter().filter(|(_, optional)| !optional).count() + self.rest.len().saturating_sub(1)
    }

    /// The layout of all elements of a plain array.
    pub fn uniform(&self) -> Option<NodeId> {
        match (&*self.elements, &*self.rest) {
            ([], [item]) => Some(*item),
            _ => None,
        }
    }

    /// The layout of element `index` of `count`, and whether it may be missing.
    pub fn element(&self, index: usize, count: usize) -> (Option<NodeId>, bool) {
        if let Some((layout, optional)) = self.elements.get(index) {
            return (Some(*layout), *optional);
        }
        let tail = self.rest.len().saturating_sub(1);
        let tail_start = self.elements.len().max(count.saturating_sub(tail));
        let place = index.checked_sub(tail_start).map_or(0, |place| place + 1);
        (self.rest.get(place).copied(), false)
    }
}

/// The members of a union.
#[derive(Debug, Clone, Default)]
pub struct UnionNode {
    /// All members in the order of fingerprint mode: variants by tag, then the others by kind.
    pub members: Vec<Member>,
    /// Their places in the order in which an encoder tries them.
    pub trials: Vec<usize>,
}

/// A member of a union.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name on the wire.
    pub selector: Selector,
    /// Its layout; for a struct variant, without the sentinels.
    pub layout: NodeId,
    /// The sentinels of a tuple variant, by index; those of a struct are in its layout.
    pub tuple_sentinels: Vec<(usize, Literal)>,
}

impl Node {
    /// How the value stands in an array, a tuple, or a positional struct.
    pub fn slot(&self) -> Slot {
        match self {
            Self::Bool => Slot::Fixed(1),
            Self::Date | Self::DateTimeUtc => Slot::Fixed(8),
            Self::Int => Slot::Varint,
            Self::Null | Self::Undefined => Slot::Empty,
            Self::Literal(literals) => literals.leaf().slot(),
            _ => Slot::Sized,
        }
    }

    /// The kinds a struct field of this layout accepts.
    pub fn kinds(&self) -> Kinds {
        match self {
            Self::Bool => Kinds::BOOL,
            Self::Number => Kinds::NUMBER,
            Self::Int => Kinds::INT,
            Self::Literal(literals) => literals.leaf().kinds(),
            _ => Kinds::SIZED,
        }
    }
}

impl Graph {
    /// Fills in what follows from the layouts of others: kinds, string tables, rows.
    pub(crate) fn completed(mut self) -> Self {
        let finished = self.clone();
        for node in &mut self.nodes {
            match node {
                Node::Struct(node) => Arc::make_mut(node).complete(&finished),
                Node::Array(node) => {
                    let rows = finished.rows(node);
                    Arc::make_mut(node).rows = rows;
                }
                _ => {}
            }
        }
        self
    }

    /// What the string table of a row field of this layout holds.
    fn intern(&self, id: NodeId) -> Intern {
        match self.node(id) {
            Node::String(_) => Intern::Text,
            Node::Array(array) => match array.uniform().map(|item| self.node(item)) {
                Some(Node::String(_)) => Intern::Items,
                _ => Intern::None,
            },
            Node::Struct(node) if !node.signatures.is_empty() => Intern::Keys,
            _ => Intern::None,
        }
    }

    /// The struct that the elements of an array are, if they form rows: all required, all of one layout.
    fn rows(&self, array: &ArrayNode) -> Option<NodeId> {
        let [item] = *array.rest else { return None };
        let same = array.elements.iter().all(|(layout, optional)| *layout == item && !optional);
        (same && matches!(self.node(item), Node::Struct(_))).then_some(item)
    }
}
