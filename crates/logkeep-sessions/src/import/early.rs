//! The first two forms of messages, which legacy folders with a marker below 2 still hold (DS-070).
//!
//! The first kept times, model and costs under `metadata` and tools as
//! `tool-invocation`; the second kept parts inside the message. Both are brought
//! into the present form: fields of the message where they belong, and parts by themselves.

use sha2::{Digest, Sha256};

use crate::ids::{self, Kind};
use crate::json::Json;

/// Takes the parts out of a message of an early form; none for a message of the present one.
pub(super) fn take_parts(message: &mut Json) -> Vec<Json> {
    let metadata = message.get(&["metadata"]).filter(|metadata| metadata.is_object()).cloned();
    let Some(Json::Array(parts)) = message.remove("parts") else { return Vec::new() };
    if let Some(metadata) = &metadata {
        hoist(message, metadata);
    }
    parts.into_iter().map(|part| present_form(part, metadata.as_ref())).collect()
}

/// The id of a part inside a message: its own, or one made from its place.
pub(super) fn part_id(part: &Json, message: &str, message_time: i64, place: usize) -> String {
    match part.text(&["id"]) {
        Some(id) if ids::is_id(Kind::Part, &id) => id.into_owned(),
        _ => {
            let digest = Sha256::digest(format!("{message}/{place}"));
            ids::with_time("prt", message_time.saturating_add(place as i64), &digest)
        }
    }
}

/// Puts what `metadata` holds where messages have it today. The field itself stays.
fn hoist(message: &mut Json, metadata: &Json) {
    let assistant = metadata.get(&["assistant"]);
    let told = assistant.map_or(&[][..], Json::fields).iter().map(|(name, value)| (name.plain(), value));
    let own = ["time", "error"].into_iter().filter_map(|name| Some((name.into(), metadata.get(&[name])?)));
    for (name, value) in own.chain(told) {
        if message.get(&[&name]).is_none() {
            message.set(&name, value.clone());
        }
    }
}

fn present_form(mut part: Json, metadata: Option<&Json>) -> Json {
    match part.text(&["type"]).as_deref() {
        Some("tool-invocation") => tool(&part, metadata).unwrap_or(part),
        Some("file") if part.get(&["mime"]).is_none() => {
            if let Some(kind) = part.remove("mediaType") {
                part.set("mime", kind);
            }
            part
        }
        _ => part,
    }
}

fn tool(part: &Json, metadata: Option<&Json>) -> Option<Json> {
    let invocation = part.get(&["toolInvocation"])?;
    let call = invocation.text(&["toolCallId"])?;
    let mut about = metadata.and_then(|metadata| metadata.get(&["tool", &call])).cloned();
    let mut take = |name: &str| about.as_mut().and_then(|about| about.remove(name));
    let (title, time) = (take("title"), take("time"));
    let status = match invocation.text(&["state"]).as_deref() {
        Some("result") => "completed",
        Some("call") => "running",
        _ => "pending",
    };
    let mut state = Json::object([("status", Json::from(status))]);
    let fields = [
        ("input", invocation.get(&["args"]).cloned()),
        ("output", invocation.get(&["result"]).cloned()),
        ("title", title),
        ("time", time),
        ("metadata", about),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            state.set(name, value);
        }
    }
    Some(Json::object([
        ("type", Json::from("tool")),
        ("callID", Json::from(&*call)),
        ("tool", Json::from(invocation.text(&["toolName"]).as_deref())),
        ("state", state),
    ]))
}
