//! From JSON descriptions to the terms the compiler works with.

use std::collections::HashMap;

use super::check::Check;
use super::pattern::{Key, Template};
use super::terms::{Definition, FieldTerm, Leaf, Term, TermId, Terms};
use crate::dynamic::{Object, Value, notation};
use crate::layout::Literal;
use crate::{Code, Error};

/// Reads a description and its definitions.
pub(super) fn describe(description: &Value, definitions: Option<&Value>) -> Result<Terms, Error> {
    let mut terms = Terms {
        terms: Vec::new(),
        leaves: HashMap::new(),
        definitions: HashMap::new(),
        root: TermId(0),
        exact: true,
        refs: Vec::new(),
    };
    if let Some(definitions) = definitions {
        for (name, definition) in object(definitions)?.iter() {
            let term = terms.term(definition).map_err(|error| error.at(&*name.to_str()))?;
            let exact = std::mem::replace(&mut terms.exact, true);
            let refs = std::mem::take(&mut terms.refs);
            terms.definitions.insert(name.to_string(), Definition { term, exact, refs });
        }
    }
    terms.root = terms.term(description)?;
    Ok(terms)
}

impl Terms {
    fn term(&mut self, description: &Value) -> Result<TermId, Error> {
        let object = object(description)?;
        let kind = string(object, "type")?;
        if let Some(leaf) = leaf(kind) {
            // Integer checks and the JSON declaration run outside the layout.
            self.exact &= !matches!(leaf, Leaf::Int | Leaf::Natural | Leaf::Json);
            return Ok(self.leaf(leaf));
        }
        let term = match kind {
            "brand" => return self.child(object, "item"),
            "transform" => {
                self.exact = false;
                return self.child(object, "encoded");
            }
            "struct" | "class" | "taggedStruct" => self.structure(object, kind)?,
            "record" => {
                let mut fields = Vec::new();
                let mut rest = Vec::new();
                self.record(object, &mut fields, &mut rest)?;
                Term::Struct { fields, rest }
            }
            "array" | "nonEmptyArray" | "tuple" | "tupleWithRest" => self.array(object, kind)?,
            "union" => Term::Union(self.children(object, "members")?),
            "literal" | "literals" | "enum" | "templateLiteral" | "uniqueSymbol" => {
                self.literal(object, kind)?
            }
            "check" | "codec" => self.checked(object, kind)?,
            "ref" => {
                let name = string(object, "name")?.to_owned();
                self.refs.push(name.clone());
                Term::Ref(name)
            }
            _ => self.declared(object, kind)?,
        };
        Ok(self.add(term))
    }

    fn child(&mut self, object: &Object, name: &str) -> Result<TermId, Error> {
        let child = object.get(name).ok_or_else(|| Error::from(Code::Schema).at(name))?;
        self.term(child).map_err(|error| error.at(name))
    }

    fn children(&mut self, object: &Object, name: &str) -> Result<Vec<TermId>, Error> {
        let describe = |(index, child)| self.term(child).map_err(|error| error.at(index).at(name));
        array(object, name)?.iter().enumerate().map(describe).collect()
    }

    /// Options, results, exits and causes.
    fn declared(&mut self, object: &Object, kind: &str) -> Result<Term, Error> {
        Ok(match kind {
            "option" => Term::Option(self.child(object, "item")?),
            "result" => Term::Result {
                success: self.child(object, "success")?,
                failure: self.child(object, "failure")?,
            },
            "exit" => Term::Exit {
                success: self.child(object, "success")?,
                failure: self.child(object, "failure")?,
                defect: self.child(object, "defect")?,
            },
            "cause" => {
                Term::Cause { error: self.child(object, "error")?, defect: self.child(object, "defect")? }
            }
            "causeReason" => Term::CauseReason {
                error: self.child(object, "error")?,
                defect: self.child(object, "defect")?,
            },
            _ => return Err(Error::from(Code::Schema).at("type")),
        })
    }

    fn structure(&mut self, description: &Object, kind: &str) -> Result<Term, Error> {
        self.exact &= kind != "class";
        let mut fields = Vec::new();
        if kind == "taggedStruct" {
            let tag = Literal::String(string(description, "tag")?.into());
            let term = self.add(Term::Literal(tag));
            fields.push(FieldTerm { name: "_tag".to_owned(), term, optional: false, id: None });
        }
        let declared =
            object(description.get("fields").ok_or_else(|| Error::from(Code::Schema).at("fields"))?)?;
        for (name, field) in declared.iter() {
            let name = name.as_str().ok_or(Code::Schema)?;
            fields.push(self.field(name, field).map_err(|error| error.at(name).at("fields"))?);
        }
        let mut rest = Vec::new();
        if description.get("rest").is_some() {
            for (index, signature) in array(description, "rest")?.iter().enumerate() {
                let record = self.record(object(signature)?, &mut fields, &mut rest);
                record.map_err(|error| error.at(index).at("rest"))?;
            }
        }
        Ok(Term::Struct { fields, rest })
    }

    /// A record: literal keys are fields, other keys are signatures.
    fn record(
        &mut self,
        object: &Object,
        fields: &mut Vec<FieldTerm>,
        rest: &mut Vec<(Key, TermId)>,
    ) -> Result<(), Error> {
        let value = self.child(object, "value")?;
        let Some(_) = object.get("key") else {
            rest.push((Key::All, value));
            return Ok(());
        };
        let key = self.child(object, "key")?;
        let mut names = Vec::new();
        let mut keys = Vec::new();
        self.keys(key, &mut names, &mut keys).map_err(|error| error.at("key"))?;
        self.exact &= keys.iter().all(|key| matches!(key, Key::All));
        fields.extend(names.into_iter().map(|name| FieldTerm {
            name,
            term: value,
            optional: false,
            id: None,
        }));
        rest.extend(keys.into_iter().map(|key| (key, value)));
        Ok(())
    }

    fn keys(&self, key: TermId, names: &mut Vec<String>, keys: &mut Vec<Key>) -> Result<(), Error> {
        let mut checks = Vec::new();
        let mut at = self.resolve(key)?;
        while let Term::Checked(inner, check) = self.get(at) {
            checks.push(check.clone());
            at = self.resolve(*inner)?;
        }
        match self.get(at) {
            Term::Leaf(Leaf::String) if checks.is_empty() => keys.push(Key::All),
            Term::Leaf(Leaf::String) => keys.push(Key::String(checks)),
            Term::Leaf(Leaf::Number) => keys.push(Key::Number(checks)),
            Term::Leaf(Leaf::Int) => keys.push(Key::Number([&[Check::SafeInteger], &*checks].concat())),
            Term::Leaf(Leaf::Natural) => keys.push(Key::Number(vec![Check::SafeInteger, Check::NotNegative])),
            Term::Leaf(Leaf::Never) => {}
            Term::Template(template) => keys.push(Key::Template(template.clone())),
            Term::Literal(literal @ (Literal::String(_) | Literal::Number(_))) => {
                let name = literal.text();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Term::Union(members) => {
                for member in members {
                    self.keys(*member, names, keys)?;
                }
            }
            _ => return Err(Code::Schema.into()),
        }
        Ok(())
    }

    fn array(&mut self, description: &Object, kind: &str) -> Result<Term, Error> {
        let mut elements = Vec::new();
        let mut rest = Vec::new();
        match kind {
            "array" => rest.push(self.child(description, "item")?),
            "nonEmptyArray" => {
                let term = self.child(description, "item")?;
                elements.push(FieldTerm { name: String::new(), term, optional: false, id: None });
                rest.push(term);
            }
            _ => {
                for (index, element) in array(description, "elements")?.iter().enumerate() {
                    let element = self.field("", element).map_err(|error| error.at(index).at("elements"))?;
                    elements.push(element);
                }
            }
        }
        if kind == "tupleWithRest" {
            rest = self.children(description, "rest")?;
        }
        let optional_from = elements.iter().position(|element| element.optional).unwrap_or(elements.len());
        let required_after = elements.iter().skip(optional_from).any(|element| !element.optional);
        if required_after || optional_from < elements.len() && rest.len() > 1 {
            return Err(Error::from(Code::Schema).at(optional_from).at("elements"));
        }
        Ok(Term::Array { elements, rest })
    }

    fn field(&mut self, name: &str, description: &Value) -> Result<FieldTerm, Error> {
        let mut term = self.term(description)?;
        let description = object(description)?;
        let optional = match description.get("optional") {
            None => false,
            Some(Value::String(how)) if how == "key" => true,
            Some(Value::String(how)) if how == "undefined" => {
                let undefined = self.leaf(Leaf::Undefined);
                term = self.add(Term::Union(vec![term, undefined]));
                true
            }
            Some(_) => return Err(Error::from(Code::Schema).at("optional")),
        };
        let id = match description.get("fieldId") {
            None => None,
            Some(Value::Number(id)) if *id >= 1.0 && *id <= f64::from(u32::MAX) && id.trunc() == *id => {
                Some(*id as u32)
            }
            Some(_) => return Err(Error::from(Code::Schema).at("fieldId")),
        };
        Ok(FieldTerm { name: name.to_owned(), term, optional, id })
    }

    fn literal(&mut self, description: &Object, kind: &str) -> Result<Term, Error> {
        self.exact &= !matches!(kind, "enum" | "templateLiteral" | "uniqueSymbol");
        Ok(match kind {
            "literal" => Term::Literal(literal(description.get("value").ok_or(Code::Schema)?)?),
            "literals" => {
                let values =
                    array(description, "values")?.iter().map(literal).collect::<Result<Vec<_>, _>>()?;
                self.literals(values)
            }
            "enum" => {
                let members = object(description.get("members").ok_or(Code::Schema)?)?;
                let values =
                    members.iter().map(|(_, value)| literal(value)).collect::<Result<Vec<_>, _>>()?;
                self.literals(values)
            }
            "uniqueSymbol" => Term::UniqueSymbol(string(description, "key")?.into()),
            _ => Term::Template(self.template(description)?),
        })
    }

    fn literals(&mut self, values: Vec<Literal>) -> Term {
        Term::Union(values.into_iter().map(|value| self.add(Term::Literal(value))).collect())
    }

    fn template(&mut self, description: &Object) -> Result<Template, Error> {
        let mut parts = Vec::new();
        for (index, part) in array(description, "parts")?.iter().enumerate() {
            let part = match part {
                Value::Object(_) => self.term(part).and_then(|term| self.template_part(term)),
                part => literal(part).map(|literal| Template::literal(&literal.text())),
            };
            parts.push(part.map_err(|error| error.at(index).at("parts"))?);
        }
        Ok(Template::sequence(parts))
    }

    fn template_part(&self, term: TermId) -> Result<Template, Error> {
        let id = self.resolve(term)?;
        Ok(match self.get(id) {
            Term::Leaf(Leaf::String) => Template::any(),
            Term::Leaf(Leaf::Number) => Template::number(Vec::new()),
            Term::Leaf(Leaf::Int) => Template::number(vec![Check::SafeInteger]),
            Term::Leaf(Leaf::Natural) => Template::number(vec![Check::SafeInteger, Check::NotNegative]),
            Term::Leaf(Leaf::BigInt) => Template::bigint(),
            Term::Literal(literal) => Template::literal(&literal.text()),
            Term::Template(template) => template.clone(),
            Term::Union(members) => Template::choice(
                members.iter().map(|member| self.template_part(*member)).collect::<Result<_, _>>()?,
            ),
            Term::Checked(inner, check) => self.template_part(*inner)?.checked(check.clone()),
            _ => return Err(Code::Schema.into()),
        })
    }

    fn checked(&mut self, description: &Object, kind: &str) -> Result<Term, Error> {
        self.exact = false;
        if kind == "codec" {
            return Ok(Term::Frame(self.child(description, "schema")?));
        }
        let item = self.child(description, "item")?;
        let check = match string(description, "check")? {
            "nonEmpty" => Check::NotEmpty,
            "maxLength3" => Check::MaxLength3,
            "positive" => Check::Positive,
            "int" => Check::SafeInteger,
            "int32" => Check::Int32,
            _ => return Err(Error::from(Code::Schema).at("check")),
        };
        Ok(Term::Checked(item, check))
    }
}

fn leaf(kind: &str) -> Option<Leaf> {
    Some(match kind {
        "boolean" => Leaf::Bool,
        "null" => Leaf::Null,
        "undefined" => Leaf::Undefined,
        "void" => Leaf::Void,
        "number" => Leaf::Number,
        "int" => Leaf::Int,
        "natural" => Leaf::Natural,
        "string" => Leaf::String,
        "symbol" => Leaf::Symbol,
        "bytes" => Leaf::Bytes,
        "bigint" => Leaf::BigInt,
        "unknown" => Leaf::Unknown,
        "json" => Leaf::Json,
        "duration" => Leaf::Duration,
        "bigDecimal" => Leaf::BigDecimal,
        "dateTimeZoned" => Leaf::DateTimeZoned,
        "date" => Leaf::Date,
        "dateTimeUtc" => Leaf::DateTimeUtc,
        "never" => Leaf::Never,
        _ => return None,
    })
}

fn object(value: &Value) -> Result<&Object, Error> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(Code::Schema.into()),
    }
}

fn array<'v>(object: &'v Object, name: &str) -> Result<&'v [Value], Error> {
    match object.get(name) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(Error::from(Code::Schema).at(name)),
    }
}

fn string<'v>(object: &'v Object, name: &str) -> Result<&'v str, Error> {
    match object.get(name) {
        Some(Value::String(text)) => text.as_str().ok_or(Code::Schema.into()),
        _ => Err(Error::from(Code::Schema).at(name)),
    }
}

fn literal(value: &Value) -> Result<Literal, Error> {
    match notation::read(value).map_err(|_| Code::Schema)? {
        Value::String(text) => Ok(Literal::String(text)),
        Value::Number(number) => Ok(Literal::Number(number)),
        Value::Bool(bool) => Ok(Literal::Bool(bool)),
        Value::BigInt(integer) => Ok(Literal::BigInt(*integer)),
        _ => Err(Code::Schema.into()),
    }
}
