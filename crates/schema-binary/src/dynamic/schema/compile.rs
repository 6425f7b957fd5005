//! From terms to a layout graph.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::Schema;
use super::check::Check;
use super::pattern::Key;
use super::terms::{FieldTerm, Leaf, Term, TermId, Terms};
use super::union::{Members, classify};
use crate::dictionary::StringSlot;
use crate::engine::{FieldInfo, Intern, Kinds, Selector, field_id};
use crate::layout::{
    ArrayNode, Graph, KeyPattern, Literal, Literals, Member, Node, NodeId, Signature, StructNode, UnionNode,
};
use crate::{Code, Error};

/// Compiles terms into a schema.
pub(super) fn compile(terms: &Terms) -> Result<Schema, Error> {
    let mut compiler = Compiler {
        terms,
        nodes: Vec::new(),
        checks: HashMap::new(),
        known: HashMap::new(),
        optional_string: None,
        next_slot: StringSlot::FIRST_FREE,
        variants: Vec::new(),
        open_structs: HashSet::new(),
        depth: 0,
    };
    let root = compiler.node(terms.root)?;
    compiler.fill_variants();
    let graph = Graph { nodes: compiler.nodes, root }.completed();
    Ok(Schema { graph, checks: compiler.checks, exact: terms.is_exact() })
}

pub(super) struct Compiler<'t> {
    pub(super) terms: &'t Terms,
    nodes: Vec<Node>,
    checks: HashMap<NodeId, Vec<Check>>,
    known: HashMap<TermId, NodeId>,
    optional_string: Option<NodeId>,
    next_slot: StringSlot,
    /// Struct variants to be filled from their full structs in the end.
    variants: Vec<Variant>,
    /// Structs whose fields are being compiled.
    open_structs: HashSet<NodeId>,
    depth: usize,
}

/// Terms inside terms, refs included, that a schema may have.
const MAX_DEPTH: usize = 512;

/// A struct variant: the full struct without some fields.
struct Variant {
    payload: NodeId,
    full: NodeId,
    sentinels: Vec<(String, Literal)>,
    /// The fields in the order of their declaration, if the struct was being compiled when it was met as a variant.
    /// The reference implementation then writes them in that order, not by id.
    declared: Option<Vec<String>>,
}

impl Compiler<'_> {
    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    fn set(&mut self, id: NodeId, node: Node) {
        if let Some(place) = self.nodes.get_mut(id.0) {
            *place = node;
        }
    }

    fn add_check(&mut self, id: NodeId, check: Check) {
        self.checks.entry(id).or_default().push(check);
    }

    /// A table of its own for a string schema object.
    fn fresh_slot(&mut self) -> StringSlot {
        let slot = self.next_slot;
        self.next_slot = StringSlot(slot.0 + 1);
        slot
    }

    /// The node of a term; a term has one node, which also holds while the term is being compiled.
    pub(super) fn node(&mut self, term: TermId) -> Result<NodeId, Error> {
        let term = self.terms.resolve(term)?;
        if let Some(node) = self.known.get(&term) {
            return Ok(*node);
        }
        let node = self.nested(|compiler| compiler.compile(term, term))?;
        self.known.insert(term, node);
        Ok(node)
    }

    /// Goes one term deeper; terms that consist of nothing but each other end here.
    fn nested<T>(&mut self, compile: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(Code::Schema.into());
        }
        self.depth += 1;
        let compiled = compile(self);
        self.depth -= 1;
        compiled
    }

    /// Compiles `term` for `owner`, which is the term itself or one that adds checks to it.
    fn compile(&mut self, term: TermId, owner: TermId) -> Result<NodeId, Error> {
        let terms = self.terms;
        match terms.get(term) {
            Term::Leaf(leaf) => Ok(self.leaf(*leaf)),
            Term::Template(template) => {
                let slot = self.fresh_slot();
                let id = self.add(Node::String(slot));
                self.add_check(id, Check::Template(template.clone()));
                Ok(id)
            }
            Term::UniqueSymbol(key) => Ok(self.symbols(vec![key.clone()])),
            Term::Literal(literal) => Ok(self.literals(vec![literal.clone()])),
            Term::Union(members) => self.union(members, owner),
            Term::Struct { fields, rest } => self.structure(fields, rest, owner),
            Term::Array { elements, rest } => self.array(elements, rest, owner),
            Term::Checked(inner, check) => self.checked(*inner, check, owner),
            Term::Frame(schema) => {
                let id = self.add(Node::Bytes);
                self.known.insert(owner, id);
                let schema = self.node(*schema)?;
                self.add_check(id, Check::Frame(schema));
                Ok(id)
            }
            Term::Ref(_) => self.node(term),
            declared => self.declared(declared, owner),
        }
    }

    fn leaf(&mut self, leaf: Leaf) -> NodeId {
        let id = self.add(match leaf {
            Leaf::Bool => Node::Bool,
            Leaf::Null => Node::Null,
            Leaf::Undefined | Leaf::Void => Node::Undefined,
            Leaf::Number => Node::Number,
            Leaf::Int | Leaf::Natural => Node::Int,
            Leaf::String => Node::String(StringSlot::PLAIN),
            Leaf::Symbol => Node::Symbol,
            Leaf::Bytes => Node::Bytes,
            Leaf::BigInt => Node::BigInt,
            Leaf::Unknown | Leaf::Json => Node::Json,
            Leaf::Duration => Node::Duration,
            Leaf::BigDecimal => Node::BigDecimal,
            Leaf::DateTimeZoned => Node::DateTimeZoned,
            Leaf::Date => Node::Date,
            Leaf::DateTimeUtc => Node::DateTimeUtc,
            Leaf::Never => Node::Never,
        });
        if matches!(leaf, Leaf::Int | Leaf::Natural) {
            self.add_check(id, Check::SafeInteger);
        }
        if leaf == Leaf::Natural {
            self.add_check(id, Check::NotNegative);
        }
        id
    }

    fn symbols(&mut self, keys: Vec<crate::dynamic::Text>) -> NodeId {
        let id = self.add(Node::Symbol);
        self.add_check(id, Check::Symbols(keys));
        id
    }

    fn literals(&mut self, values: Vec<Literal>) -> NodeId {
        let slot = self.fresh_slot();
        self.add(Node::Literal(Literals { values: values.into(), slot }))
    }

    fn declared(&mut self, term: &Term, owner: TermId) -> Result<NodeId, Error> {
        let id = self.add(Node::Never);
        self.known.insert(owner, id);
        let node = match term {
            Term::Option(item) => Node::Option(self.node(*item)?),
            Term::Result { success, failure } => {
                Node::Result { success: self.node(*success)?, failure: self.node(*failure)? }
            }
            Term::Exit { success, failure, defect } => Node::Exit {
                success: self.node(*success)?,
                error: self.node(*failure)?,
                defect: self.node(*defect)?,
            },
            Term::Cause { error, defect } => {
                Node::Cause { error: self.node(*error)?, defect: self.node(*defect)? }
            }
            Term::CauseReason { error, defect } => {
                Node::CauseReason { error: self.node(*error)?, defect: self.node(*defect)? }
            }
            _ => return Err(Code::Schema.into()),
        };
        self.set(id, node);
        Ok(id)
    }

    /// A term with a check has a node of its own, made from the term without.
    fn checked(&mut self, inner: TermId, check: &Check, owner: TermId) -> Result<NodeId, Error> {
        let before = self.nodes.len();
        let inner = self.terms.resolve(inner)?;
        let mut id = self.nested(|compiler| compiler.compile(inner, owner))?;
        if id.0 < before {
            // The term reduces to a node of another term, such as the only member of a union.
            let checks = self.checks.get(&id).cloned();
            id = self.add(self.nodes.get(id.0).cloned().unwrap_or(Node::Never));
            self.checks.extend(checks.map(|checks| (id, checks)));
        }
        let integer = matches!(check, Check::SafeInteger | Check::Int32);
        if integer && matches!(self.nodes.get(id.0), Some(Node::Number)) {
            self.set(id, Node::Int);
            self.add_check(id, Check::SafeInteger);
        }
        self.add_check(id, check.clone());
        Ok(id)
    }

    fn structure(
        &mut self,
        fields: &[FieldTerm],
        rest: &[(Key, TermId)],
        owner: TermId,
    ) -> Result<NodeId, Error> {
        let id = self.add(Node::Struct(Arc::default()));
        self.known.insert(owner, id);
        self.open_structs.insert(id);
        let mut by_id = BTreeMap::new();
        for field in fields {
            let field_id = field.id.unwrap_or_else(|| field_id(&field.name));
            if field_id == 0 || by_id.insert(field_id, field).is_some() {
                return Err(Error::from(Code::Schema).at(field.name.as_str()));
            }
        }
        let mut node = StructNode::default();
        for (number, (id, field)) in by_id.into_iter().enumerate() {
            node.layouts.push(self.field(field)?);
            node.infos.push(FieldInfo {
                name: Cow::Owned(field.name.clone()),
                id,
                number,
                optional: field.optional,
                kinds: Kinds::SIZED,
                intern: Intern::None,
            });
        }
        for (key, value) in rest {
            let keys = match key {
                Key::All => KeyPattern::ALL,
                key => {
                    let key = key.clone();
                    KeyPattern(Some(Arc::new(move |name| key.matches(name))))
                }
            };
            node.signatures.push(Signature { keys, value: self.node(*value)?, kinds: Kinds::SIZED });
        }
        self.set(id, Node::Struct(node.into()));
        self.open_structs.remove(&id);
        Ok(id)
    }

    /// The node of a field. Strings have tables of their own when they carry an id or may be absent.
    fn field(&mut self, field: &FieldTerm) -> Result<NodeId, Error> {
        if !matches!(self.terms.get(field.term), Term::Leaf(Leaf::String)) {
            return self.node(field.term);
        }
        if field.id.is_some() {
            let slot = self.fresh_slot();
            return Ok(self.add(Node::String(slot)));
        }
        if !field.optional {
            return self.node(field.term);
        }
        if let Some(id) = self.optional_string {
            return Ok(id);
        }
        let id = self.add(Node::String(StringSlot::OPTIONAL));
        self.optional_string = Some(id);
        Ok(id)
    }

    fn array(&mut self, elements: &[FieldTerm], rest: &[TermId], owner: TermId) -> Result<NodeId, Error> {
        let id = self.add(Node::Array(Arc::default()));
        self.known.insert(owner, id);
        let mut node = ArrayNode::default();
        for element in elements {
            node.elements.push((self.field(element)?, element.optional));
        }
        for item in rest {
            node.rest.push(self.node(*item)?);
        }
        self.set(id, Node::Array(node.into()));
        Ok(id)
    }

    fn union(&mut self, members: &[TermId], owner: TermId) -> Result<NodeId, Error> {
        let members = classify(self.terms, members)?;
        if let Some(single) = members.single() {
            let id = self.node(single)?;
            self.known.insert(owner, id);
            return Ok(id);
        }
        if let Some(values) = members.only_literals() {
            return Ok(self.literals(values));
        }
        if members.is_empty() {
            return Ok(self.add(Node::Never));
        }
        let id = self.add(Node::Union(Arc::default()));
        self.known.insert(owner, id);
        let node = self.members(members)?;
        self.set(id, Node::Union(node.into()));
        Ok(id)
    }

    fn members(&mut self, members: Members) -> Result<UnionNode, Error> {
        let mut all = Vec::new();
        for variant in members.variants {
            let full = self.node(variant.term)?;
            let selector = Selector::Variant(variant.tag);
            if let Some(sentinels) = variant.struct_sentinels {
                let payload = self.add(Node::Struct(Arc::default()));
                let declared = self.open_structs.contains(&full).then_some(variant.declared);
                self.variants.push(Variant { payload, full, sentinels, declared });
                all.push(Member { selector, layout: payload, tuple_sentinels: Vec::new() });
            } else {
                all.push(Member { selector, layout: full, tuple_sentinels: variant.tuple_sentinels });
            }
        }
        for (kind, literals) in members.literals {
            let layout = self.literals(literals);
            all.push(Member { selector: Selector::Kind(kind), layout, tuple_sentinels: Vec::new() });
        }
        if !members.symbols.is_empty() {
            let layout = self.symbols(members.symbols);
            all.push(Member { selector: Selector::Kind(5), layout, tuple_sentinels: Vec::new() });
        }
        for (kind, term) in members.rows {
            let layout = self.node(term)?;
            all.push(Member { selector: Selector::Kind(kind), layout, tuple_sentinels: Vec::new() });
        }
        Ok(in_both_orders(all, &self.nodes))
    }

    /// Makes the payloads of struct variants, now that all structs are complete.
    fn fill_variants(&mut self) {
        for variant in std::mem::take(&mut self.variants) {
            let Some(Node::Struct(full)) = self.nodes.get(variant.full.0) else { continue };
            let mut payload = StructNode { signatures: full.signatures.clone(), ..StructNode::default() };
            for (info, layout) in full.infos.iter().zip(&full.layouts) {
                if !variant.sentinels.iter().any(|(name, _)| *name == info.name) {
                    payload.infos.push(info.clone());
                    payload.layouts.push(*layout);
                }
            }
            if let Some(declared) = &variant.declared {
                payload.arrange(declared);
            }
            payload.renumber();
            payload.sentinels =
                variant.sentinels.into_iter().map(|(name, value)| (name.into(), value)).collect();
            payload.hidden = payload.sentinels.iter().map(|(name, _)| name.clone()).collect();
            self.set(variant.payload, Node::Struct(payload.into()));
        }
    }
}

/// Sorts members by selector and works out in which order an encoder tries them: variants as they were
/// declared, then members that hold one type, then structs, then what takes anything.
fn in_both_orders(declared: Vec<Member>, nodes: &[Node]) -> UnionNode {
    let rank = |member: &Member| match (member.selector, nodes.get(member.layout.0)) {
        (Selector::Variant(_), _) => 0,
        (_, Some(Node::Json)) => 3,
        (_, Some(Node::Struct(_))) => 2,
        _ => 1,
    };
    let mut trial_order: Vec<Selector> = Vec::new();
    for wanted in 0..=3 {
        trial_order
            .extend(declared.iter().filter(|member| rank(member) == wanted).map(|member| member.selector));
    }
    let mut members = declared;
    members.sort_by_key(|member| member.selector);
    let place = |selector| members.iter().position(|member| member.selector == selector);
    UnionNode { trials: trial_order.into_iter().filter_map(place).collect(), members }
}
