//! The terms of a schema: its description, understood but not compiled.

use std::collections::{HashMap, HashSet};

use super::check::Check;
use super::pattern::{Key, Template};
use crate::dynamic::Text;
use crate::layout::Literal;
use crate::{Code, Error};

/// The place of a term. Descriptions without parameters share one term; every other description is a term of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TermId(pub(super) usize);

/// A schema in the terms of its description.
#[derive(Debug, Clone)]
pub(super) enum Term {
    Leaf(Leaf),
    Template(Template),
    UniqueSymbol(Text),
    Literal(Literal),
    Union(Vec<TermId>),
    Struct { fields: Vec<FieldTerm>, rest: Vec<(Key, TermId)> },
    Array { elements: Vec<FieldTerm>, rest: Vec<TermId> },
    Option(TermId),
    Result { success: TermId, failure: TermId },
    Exit { success: TermId, failure: TermId, defect: TermId },
    Cause { error: TermId, defect: TermId },
    CauseReason { error: TermId, defect: TermId },
    Ref(String),
    Checked(TermId, Check),
    Frame(TermId),
}

/// Schemas without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Leaf {
    Bool,
    Null,
    Undefined,
    Void,
    Number,
    Int,
    Natural,
    String,
    Symbol,
    Bytes,
    BigInt,
    Unknown,
    Json,
    Duration,
    BigDecimal,
    DateTimeZoned,
    Date,
    DateTimeUtc,
    Never,
}

/// A field of a struct, or an element of a tuple (without name).
#[derive(Debug, Clone)]
pub(super) struct FieldTerm {
    pub(super) name: String,
    pub(super) term: TermId,
    pub(super) optional: bool,
    pub(super) id: Option<u32>,
}

/// All terms of a schema.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) terms: Vec<Term>,
    pub(super) leaves: HashMap<Leaf, TermId>,
    pub(super) definitions: HashMap<String, Definition>,
    pub(super) root: TermId,
    /// Whether nothing but layouts decides which values fit what is being read.
    pub(super) exact: bool,
    /// The refs in what is being read.
    pub(super) refs: Vec<String>,
}

/// A term that refs name.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) term: TermId,
    pub(super) exact: bool,
    pub(super) refs: Vec<String>,
}

impl Terms {
    pub(super) fn get(&self, id: TermId) -> &Term {
        self.terms.get(id.0).unwrap_or(&Term::Leaf(Leaf::Never))
    }

    /// Follows refs.
    pub(super) fn resolve(&self, mut id: TermId) -> Result<TermId, Error> {
        for _ in 0..=self.definitions.len() {
            let Term::Ref(name) = self.get(id) else { return Ok(id) };
            let definition = self.definitions.get(name);
            id = definition.ok_or_else(|| Error::from(Code::Schema).at(name.as_str()))?.term;
        }
        Err(Code::Schema.into())
    }

    /// Whether nothing but layouts decides which values fit the root.
    pub(super) fn is_exact(&self) -> bool {
        let mut seen = HashSet::new();
        let mut open: Vec<&String> = self.refs.iter().collect();
        let mut exact = self.exact;
        while let Some(name) = open.pop() {
            if let Some(definition) = self.definitions.get(name).filter(|_| seen.insert(name)) {
                exact &= definition.exact;
                open.extend(&definition.refs);
            }
        }
        exact
    }

    /// The term behind its checks.
    pub(super) fn unchecked(&self, id: TermId) -> &Term {
        match self.get(id) {
            Term::Checked(inner, _) => self.unchecked(*inner),
            term => term,
        }
    }

    pub(super) fn add(&mut self, term: Term) -> TermId {
        self.terms.push(term);
        TermId(self.terms.len() - 1)
    }

    pub(super) fn leaf(&mut self, leaf: Leaf) -> TermId {
        if let Some(id) = self.leaves.get(&leaf) {
            return *id;
        }
        let id = self.add(Term::Leaf(leaf));
        self.leaves.insert(leaf, id);
        id
    }
}
