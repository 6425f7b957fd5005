//! Objects as the engine asks for them.

use std::collections::HashMap;

use super::encode::Writer;
use super::{Object, Value};
use crate::engine::{Encoder, Entries, Scalar, StructSource, WriteForm};
use crate::layout::{Signature, StructNode};
use crate::{Code, Error};

/// Gives the properties of an object to the engine, field by field.
pub(super) struct ObjectSource<'v> {
    writer: Writer<'v>,
    node: &'v StructNode,
    object: &'v Object,
    values: Vec<Option<&'v Value>>,
}

/// Objects up to this size are searched property by property.
const SCAN_MAX: usize = 16;

impl<'v> ObjectSource<'v> {
    pub(super) fn new(writer: Writer<'v>, node: &'v StructNode, object: &'v Object) -> Self {
        let values = if object.len() <= SCAN_MAX {
            node.infos.iter().map(|info| object.get(&info.name)).collect()
        } else {
            let by_name: HashMap<_, _> = object.iter().map(|(key, value)| (key.identity(), value)).collect();
            node.infos.iter().map(|info| by_name.get(info.name.as_bytes()).copied()).collect()
        };
        Self { writer, node, object, values }
    }
}

impl<'v> StructSource<'v> for ObjectSource<'v> {
    fn has(&self, number: usize) -> bool {
        self.values.get(number).is_some_and(Option::is_some)
    }

    fn write(&self, number: usize, form: WriteForm<'_, 'v>, encoder: &mut Encoder) -> Result<(), Error> {
        let info = self.node.infos.get(number).ok_or(Code::Schema)?;
        let id = *self.node.layouts.get(number).ok_or(Code::Schema)?;
        let value = self.values.get(number).copied().flatten().ok_or(Code::MissingKey)?;
        match form {
            WriteForm::Tagged(field) => {
                let scalar = self.writer.scalar(id, value)?;
                encoder.field(field, scalar, |encoder| self.writer.value(id, value, encoder))
            }
            WriteForm::Slot => self.writer.slot(id, value, encoder),
            WriteForm::Region(table) => self.writer.region(id, info.intern, value, table, encoder),
        }
    }

    fn entries(&self) -> Option<Box<dyn Entries<'v> + '_>> {
        if self.node.signatures.is_empty() {
            return None;
        }
        let fields = self.node.fields();
        let mut entries = Vec::new();
        for (key, value) in self.object.iter() {
            // Keys that are not Unicode have no bytes of their own; they match no signature.
            let Some(name) = key.as_str().filter(|name| !fields.declares(name)) else { continue };
            let signature = self.node.signatures.iter().find(|signature| signature.keys.matches(name));
            entries.extend(signature.map(|signature| (name, signature, value)));
        }
        entries.sort_by(|left, right| left.0.cmp(right.0));
        Some(Box::new(ObjectEntries { writer: self.writer, entries }))
    }
}

/// The properties of an object that are not declared fields, sorted by key.
struct ObjectEntries<'v> {
    writer: Writer<'v>,
    entries: Vec<(&'v str, &'v Signature, &'v Value)>,
}

impl<'v> Entries<'v> for ObjectEntries<'v> {
    fn len(&self) -> usize {
        self.entries.len()
    }

    fn key(&self, index: usize) -> &'v [u8] {
        self.entries.get(index).map_or(&[], |(key, ..)| key.as_bytes())
    }

    fn scalar(&self, index: usize) -> Result<Scalar, Error> {
        let (_, signature, value) = self.entries.get(index).ok_or(Code::Schema)?;
        self.writer.scalar(signature.value, value)
    }

    fn write(&self, index: usize, encoder: &mut Encoder) -> Result<(), Error> {
        let (_, signature, value) = self.entries.get(index).ok_or(Code::Schema)?;
        self.writer.value(signature.value, value, encoder)
    }
}
