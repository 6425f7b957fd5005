//! What the members of a union are: variants, literals, or others told apart by kind.

use std::collections::HashSet;

use super::terms::{Leaf, Term, TermId, Terms};
use crate::dynamic::Text;
use crate::engine::{TAG_START, sentinel_hash};
use crate::layout::Literal;
use crate::{Code, Error};

/// The members of a union by what tells them apart.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) variants: Vec<VariantTerm>,
    /// Literals by kind, in order of appearance.
    pub(super) literals: Vec<(u8, Vec<Literal>)>,
    pub(super) symbols: Vec<Text>,
    /// Other members, by kind.
    pub(super) rows: Vec<(u8, TermId)>,
}

/// A struct or tuple that is told by literals in it.
#[derive(Debug)]
pub(super) struct VariantTerm {
    pub(super) term: TermId,
    pub(super) tag: u32,
    pub(super) struct_sentinels: Option<Vec<(String, Literal)>>,
    pub(super) tuple_sentinels: Vec<(usize, Literal)>,
    /// The names of a struct's fields as they were declared.
    pub(super) declared: Vec<String>,
}

impl Members {
    pub(super) fn is_empty(&self) -> bool {
        self.variants.is_empty()
            && self.literals.is_empty()
            && self.symbols.is_empty()
            && self.rows.is_empty()
    }

    /// The only member, if it is neither a variant nor a literal: it needs no selector.
    pub(super) fn single(&self) -> Option<TermId> {
        match (&*self.variants, &*self.literals, &*self.symbols, &*self.rows) {
            ([], [], [], [(_, term)]) => Some(*term),
            _ => None,
        }
    }

    /// The literals, if there is nothing else and they are of one kind: they need no selector.
    pub(super) fn only_literals(&self) -> Option<Vec<Literal>> {
        match (&*self.variants, &*self.literals, &*self.symbols, &*self.rows) {
            ([], [(_, values)], [], []) => Some(values.clone()),
            _ => None,
        }
    }
}

/// Flattens and classifies members.
///
/// # Errors
/// [`Code::Schema`] if two members cannot be told apart.
pub(super) fn classify(terms: &Terms, members: &[TermId]) -> Result<Members, Error> {
    let mut flat = Vec::new();
    flatten(terms, members, &mut HashSet::new(), &mut flat)?;
    let mut classified = Members::default();
    for term in flat {
        classified.add(terms, term)?;
    }
    classified.check()?;
    Ok(classified)
}

fn flatten(
    terms: &Terms,
    members: &[TermId],
    seen: &mut HashSet<TermId>,
    flat: &mut Vec<TermId>,
) -> Result<(), Error> {
    for member in members {
        let member = terms.resolve(*member)?;
        if !seen.insert(member) {
            continue;
        }
        match terms.unchecked(member) {
            Term::Leaf(Leaf::Never) => {}
            Term::Union(members) => flatten(terms, members, seen, flat)?,
            _ => flat.push(member),
        }
    }
    Ok(())
}

impl Members {
    fn add(&mut self, terms: &Terms, term: TermId) -> Result<(), Error> {
        match terms.unchecked(term) {
            Term::Literal(literal) => self.add_literal(literal),
            Term::UniqueSymbol(key) => self.symbols.push(key.clone()),
            Term::Struct { fields, .. } => {
                let required = fields.iter().filter(|field| !field.optional);
                let sentinels =
                    required.filter_map(|field| Some((field.name.clone(), sentinel(terms, field.term)?)));
                let sentinels: Vec<_> = sentinels.collect();
                if sentinels.is_empty() {
                    self.rows.push((9, term));
                } else {
                    let tag = struct_tag(&sentinels);
                    let struct_sentinels = Some(sentinels);
                    let declared = fields.iter().map(|field| field.name.clone()).collect();
                    self.variants.push(VariantTerm {
                        term,
                        tag,
                        struct_sentinels,
                        tuple_sentinels: Vec::new(),
                        declared,
                    });
                }
            }
            Term::Array { elements, .. } => {
                let required = elements.iter().enumerate().filter(|(_, element)| !element.optional);
                let sentinels =
                    required.filter_map(|(index, element)| Some((index, sentinel(terms, element.term)?)));
                let sentinels: Vec<_> = sentinels.collect();
                if sentinels.is_empty() {
                    self.rows.push((11, term));
                } else {
                    let tag = tuple_tag(&sentinels);
                    self.variants.push(VariantTerm {
                        term,
                        tag,
                        struct_sentinels: None,
                        tuple_sentinels: sentinels,
                        declared: Vec::new(),
                    });
                }
            }
            other => self.rows.push((kind(other), term)),
        }
        Ok(())
    }

    fn add_literal(&mut self, literal: &Literal) {
        let kind = literal.union_kind();
        match self.literals.iter_mut().find(|(known, _)| *known == kind) {
            None => self.literals.push((kind, vec![literal.clone()])),
            Some((_, values)) if !values.contains(literal) => values.push(literal.clone()),
            Some(_) => {}
        }
    }

    fn check(&self) -> Result<(), Error> {
        let mut kinds = HashSet::new();
        let symbols = (!self.symbols.is_empty()).then_some(5);
        let literals = self.literals.iter().map(|(kind, _)| *kind);
        let rows = self.rows.iter().map(|(kind, _)| *kind);
        let mut tags = HashSet::new();
        let unique = literals.chain(symbols).chain(rows).all(|kind| kinds.insert(kind))
            && self.variants.iter().all(|variant| tags.insert(variant.tag));
        if unique { Ok(()) } else { Err(Code::Schema.into()) }
    }
}

/// The literal that a required property is.
fn sentinel(terms: &Terms, term: TermId) -> Option<Literal> {
    match terms.unchecked(term) {
        Term::Literal(literal) => Some(literal.clone()),
        Term::UniqueSymbol(key) => Some(Literal::Symbol(key.clone())),
        _ => None,
    }
}

fn struct_tag(sentinels: &[(String, Literal)]) -> u32 {
    let mut sorted: Vec<_> = sentinels.iter().collect();
    sorted.sort_by(|left, right| left.0.cmp(&right.0));
    let add = |hash, (name, literal): &(String, Literal)| {
        sentinel_hash(hash, true, name, literal.kind(), &literal.text())
    };
    sorted.into_iter().fold(TAG_START, add)
}

fn tuple_tag(sentinels: &[(usize, Literal)]) -> u32 {
    let add = |hash, (index, literal): &(usize, Literal)| {
        sentinel_hash(hash, false, &index.to_string(), literal.kind(), &literal.text())
    };
    sentinels.iter().fold(TAG_START, add)
}

/// The kind number of a member that is no variant and no literal.
fn kind(term: &Term) -> u8 {
    match term {
        Term::Leaf(leaf) => match leaf {
            Leaf::Bool => 1,
            Leaf::Null => 2,
            Leaf::Undefined | Leaf::Void => 3,
            Leaf::Number | Leaf::Int | Leaf::Natural => 4,
            Leaf::String | Leaf::Symbol => 5,
            Leaf::Bytes => 6,
            Leaf::BigInt => 7,
            Leaf::Date | Leaf::DateTimeUtc => 8,
            Leaf::Duration => 14,
            Leaf::BigDecimal => 15,
            Leaf::DateTimeZoned => 16,
            Leaf::Unknown | Leaf::Json => 17,
            Leaf::Never => 0,
        },
        Term::Template(_) => 5,
        Term::Frame(_) => 6,
        Term::Option(_) => 12,
        Term::Result { .. } => 13,
        Term::Exit { .. } => 18,
        Term::Cause { .. } => 19,
        Term::CauseReason { .. } => 20,
        _ => 0,
    }
}
