//! Schema files: which payloads an event tag stands for.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use schema_binary::Mode;
use schema_binary::dynamic::{Schema, Value, json, notation};

use crate::device::about;
use crate::failure::Failure;

/// The schemas of a file: a JSON object from event tag to schema description.
pub(super) struct Schemas(HashMap<String, Schema>);

impl Schemas {
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(file).map_err(about(file))?;
        let Value::Object(tags) = json::parse(&text).map_err(about(file))? else {
            return Err(about(file)("expected a JSON object from event tag to schema description"));
        };
        let schemas = tags.iter().map(|(tag, description)| {
            let tag = tag.to_string();
            let schema = Schema::from_description(description, None)
                .map_err(|error| about(file)(format!("{tag:?}: {error}")))?;
            Ok((tag, schema))
        });
        Ok(Self(schemas.collect::<Result<_, Failure>>()?))
    }

    /// The bytes of a payload that is given as JSON.
    pub(super) fn encode(&self, event: &str, payload: &str) -> Result<Vec<u8>, Failure> {
        let wrong = |error| Failure::usage(format_args!("payload: {error}"));
        let schema = self.0.get(event).ok_or_else(|| {
            Failure::usage(format_args!("the schema file does not know the event {event:?}"))
        })?;
        let value = json::parse(payload).and_then(|value| notation::read(&value)).map_err(wrong)?;
        schema.encode(&value, Mode::Default).map_err(wrong)
    }

    /// The payload as JSON text, if the file knows the event; or why it does not decode.
    pub(super) fn decode(&self, event: &str, payload: &[u8]) -> Option<Result<String, String>> {
        let schema = self.0.get(event)?;
        let value = schema.decode(payload, Mode::Default).map_err(|error| error.to_string());
        Some(value.and_then(|value| {
            json::print(&notation::write(&value)).ok_or_else(|| "it cannot be shown as JSON".to_owned())
        }))
    }
}
