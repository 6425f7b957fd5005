//! Sessions out of the store: as JSON, as Markdown, and as their log.

mod markdown;

use std::io::{self, Write};

use crate::json::Json;
use crate::store::{MessageRow, PartRow, SessionStore, StoreError};

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One value: `{"info", "messages": [{"info", "parts"}], "todos", "diff"}`.
    Json,
    /// For reading.
    Markdown,
    /// The log, one event a line: `{"id", "seq", "type", "aggregateID", "data"}`.
    Events,
}

/// Why a session could not be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no session of this id.
    #[error("there is no session {0}")]
    Unknown(String),
    /// Reading failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes a session. Only one message is in memory at a time.
///
/// # Errors
/// [`ExportError::Unknown`] before anything is written, and failures of reading and writing.
pub fn export(
    store: &SessionStore,
    id: &str,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let info = store.session(id)?.ok_or_else(|| ExportError::Unknown(id.to_owned()))?;
    match format {
        Format::Json => json(store, id, &info, out),
        Format::Markdown => markdown::write(store, id, &info, out),
        Format::Events => store.each_event(id, |event| Ok(writeln!(out, "{}", event.to_json())?)),
    }
}

fn json(store: &SessionStore, id: &str, info: &Json, out: &mut dyn Write) -> Result<(), ExportError> {
    write!(out, "{{\"info\":{info},\"messages\":[")?;
    let mut first = true;
    store.each_message(id, |message, parts| {
        let comma = if std::mem::take(&mut first) { "\n" } else { ",\n" };
        Ok::<_, ExportError>(write!(out, "{comma}{}", with_parts(message, parts))?)
    })?;
    write!(out, "\n]")?;
    let todos = store.todos(id)?;
    if !todos.is_empty() {
        write!(out, ",\"todos\":{}", Json::Array(todos))?;
    }
    if let Some(diff) = store.diff(id)? {
        write!(out, ",\"diff\":{diff}")?;
    }
    Ok(writeln!(out, "}}")?)
}

fn with_parts(message: MessageRow, parts: Vec<PartRow>) -> Json {
    let parts = parts.into_iter().map(|part| part.part).collect();
    Json::object([("info", message.info), ("parts", Json::Array(parts))])
}
