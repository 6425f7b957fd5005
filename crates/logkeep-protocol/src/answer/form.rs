//! Which schema and which mode the answer to a request is written in.

use super::{PayloadMode, schema::ANSWERS};
use crate::Malformed;

/// How a request is to be answered: as its call prescribes, in the mode of its payload (WIRE-041, WIRE-053).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerForm {
    pub(crate) kind: AnswerKind,
    /// The mode of the request's payload, and so of its answers and stream items.
    pub mode: PayloadMode,
}

/// What a success is; in fingerprint mode it matters to failures too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    Hello,
    DiscardedHello,
    Void,
    Acks,
    Status,
    Begin,
    Commit,
    /// There is no such call.
    Unknown,
}

impl AnswerForm {
    /// The form of the answer to a call of this name with this payload hole, perhaps discarded.
    pub fn of(tag: &str, payload: &[u8], discard: bool) -> Self {
        let kind = match tag.strip_prefix("EventLog.").unwrap_or_default() {
            "Hello" if discard => AnswerKind::DiscardedHello,
            "Hello" => AnswerKind::Hello,
            "Authenticate" | "Changes" | "CompactionInput" | "CompactionFetch" | "CompactionPart"
            | "CompactionAbort" => AnswerKind::Void,
            "WriteSingle" | "WriteChunked" | "CompactionStatus" | "CompactionBegin" | "CompactionCommit"
                if discard =>
            {
                AnswerKind::Void
            }
            "WriteSingle" | "WriteChunked" => AnswerKind::Acks,
            "CompactionStatus" => AnswerKind::Status,
            "CompactionBegin" => AnswerKind::Begin,
            "CompactionCommit" => AnswerKind::Commit,
            _ => AnswerKind::Unknown,
        };
        Self { kind, mode: PayloadMode::of(payload) }
    }
}

/// The hole of a Defect: an error with a name and a message, as JSON (WIRE-042).
pub fn defect(mode: PayloadMode, message: &str) -> Vec<u8> {
    let message = serde_json::Value::from(message);
    json_defect(mode, &format!(r#"{{"name":"SchemaError","message":{message}}}"#))
}

/// The hole of a Defect that is a text.
pub fn text_defect(mode: PayloadMode, text: &str) -> Vec<u8> {
    json_defect(mode, &serde_json::Value::from(text).to_string())
}

fn json_defect(mode: PayloadMode, json: &str) -> Vec<u8> {
    // It is JSON, which is all that could be wrong.
    ANSWERS.defect.write(mode, &schema_binary::types::Json(json)).unwrap_or_default()
}

/// Reads the hole of a Defect: its JSON.
///
/// # Errors
/// If it does not decode.
pub fn read_defect(hole: &[u8]) -> Result<&str, Malformed> {
    Ok(ANSWERS.defect.read(hole)?.0)
}
