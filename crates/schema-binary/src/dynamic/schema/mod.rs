//! Schemas that are read at run time.

mod check;
mod compile;
mod describe;
mod pattern;
mod terms;
mod union;

use std::collections::HashMap;

pub(crate) use check::Check;

use super::Value;
use crate::dynamic::json;
use crate::layout::{Graph, NodeId, fingerprint};
use crate::{Error, Mode};

/// A schema that was read from its description and is ready for use.
///
/// A description is a JSON object with a `type`, such as
/// `{"type":"struct","fields":{"name":{"type":"string"},"age":{"type":"natural","optional":"key"}}}`.
/// The guide lists all types.
#[derive(Debug, Clone)]
pub struct Schema {
    pub(crate) graph: Graph,
    pub(crate) checks: HashMap<NodeId, Vec<Check>>,
    /// Whether the layout alone tells all values that fit from all that do not.
    pub(crate) exact: bool,
}

impl Schema {
    /// Reads a schema from the text of its description.
    ///
    /// # Errors
    /// [`Code::Json`](crate::Code::Json) or [`Code::Schema`](crate::Code::Schema), at the place in the description.
    pub fn parse(description: &str) -> Result<Self, Error> {
        Self::from_description(&json::parse(description)?, None)
    }

    /// Reads a schema from its description; `definitions` is an object that holds what its refs name.
    ///
    /// # Errors
    /// [`Code::Schema`](crate::Code::Schema), at the place in the description.
    pub fn from_description(description: &Value, definitions: Option<&Value>) -> Result<Self, Error> {
        compile::compile(&describe::describe(description, definitions)?)
    }

    /// The compiled layout.
    pub fn layout(&self) -> &Graph {
        &self.graph
    }

    /// The hash by which two sides know that they use the same layout.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(&self.graph, self.graph.root())
    }

    /// Whether a connection dictionary can be used: the schema needs no checks and no transformations.
    pub fn supports_dictionary(&self) -> bool {
        self.exact
    }

    /// Writes a value as one frame.
    ///
    /// # Errors
    /// Why the value does not fit the schema, and where.
    pub fn encode(&self, value: &Value, mode: Mode) -> Result<Vec<u8>, Error> {
        super::Codec::new(self, mode).encode(value)
    }

    /// Reads a value from exactly one frame.
    ///
    /// # Errors
    /// What is wrong with the bytes, or why the value does not fit the schema.
    pub fn decode(&self, frame: &[u8], mode: Mode) -> Result<Value, Error> {
        super::Codec::new(self, mode).decode(frame)
    }
}
