//! Bringing documents of every age into the form events carry.

use super::document::Document;
use crate::ids;
use crate::json::Json;

/// What is known about a session from around its document.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) id: &'a str,
    /// The project the folder or row says.
    pub(super) project: &'a str,
    /// Where it worked, if its document does not say.
    pub(super) directory: &'a str,
    /// When it began, if its document does not say.
    pub(super) created: i64,
    /// Time of its last message.
    pub(super) last: i64,
}

/// A session as events carry it: ids from outside, required fields present, and
/// fields of a wrong type left out and named in `faults`. Unknown fields stay.
pub(super) fn session(document: Json, around: &Surroundings<'_>, faults: &mut Vec<String>) -> Json {
    let mut info = document;
    info.set("id", Json::from(around.id));
    info.set("projectID", Json::from(around.project));
    for (name, default) in [("slug", ""), ("directory", around.directory), ("title", ""), ("version", "")] {
        if info.text(&[name]).is_none_or(|text| text.is_empty() && !default.is_empty()) {
            drop_wrong(&mut info, name, faults);
            info.set(name, Json::from(default));
        }
    }
    check(&mut info, "parentID", |value| matches!(value, Json::String(_)), faults);
    check(&mut info, "share", |value| value.text(&["url"]).is_some(), faults);
    check(&mut info, "summary", Json::is_object, faults);
    check(&mut info, "revert", Json::is_object, faults);
    check(&mut info, "permission", |value| matches!(value, Json::Array(_)), faults);
    session_times(&mut info, around, faults);
    info
}

fn session_times(info: &mut Json, around: &Surroundings<'_>, faults: &mut Vec<String>) {
    if !info.get(&["time"]).is_some_and(Json::is_object) {
        drop_wrong(info, "time", faults);
    }
    let mut time = info.get(&["time"]).cloned().unwrap_or(Json::Object(Vec::new()));
    let created = time.integer(&["created"]).unwrap_or(around.created);
    let updated = time.integer(&["updated"]).unwrap_or(created.max(around.last));
    for (name, known) in [("created", created), ("updated", updated)] {
        if time.integer(&[name]).is_none() {
            drop_wrong(&mut time, name, faults);
        }
        time.set(name, Json::from(known));
    }
    for name in ["compacting", "archived"] {
        check(&mut time, name, |value| value.integer(&[]).is_some(), faults);
    }
    info.set("time", time);
}

/// Takes out a field that is null or fails the check.
fn check(object: &mut Json, name: &str, is_right: impl Fn(&Json) -> bool, faults: &mut Vec<String>) {
    if object.get(&[name]).is_some_and(|value| !is_right(value)) {
        drop_wrong(object, name, faults);
    }
}

/// Takes a field out; unless it was null or an empty string, that is worth a note.
fn drop_wrong(object: &mut Json, name: &str, faults: &mut Vec<String>) {
    match object.remove(name) {
        None | Some(Json::Null) => {}
        Some(value) if value == Json::from("") => {}
        Some(value) => faults.push(format!("field {name} cannot be {}", kind(&value))),
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object of this form",
    }
}

/// A message as events carry it, and its time. `near` is a time close to it.
pub(super) fn message(document: Document, session: &str, id: &str, near: i64) -> (Json, i64) {
    let mut info = document.value;
    let time = info.integer(&["time", "created"]).or(document.row_time);
    let time = time.or_else(|| ids::time_near(id, near)).or(document.file_time).unwrap_or(near);
    info.set("id", Json::from(id));
    info.set("sessionID", Json::from(session));
    if info.integer(&["time", "created"]) != Some(time) {
        let mut times = info.get(&["time"]).filter(|times| times.is_object()).cloned();
        let times = times.get_or_insert_with(|| Json::Object(Vec::new()));
        times.set("created", Json::from(time));
        info.set("time", times.clone());
    }
    (info, time)
}

/// A part as events carry it, and when it came to be: what its id tells, near its message.
pub(super) fn part(document: Document, ids: [&str; 3], message_time: i64) -> (Json, i64) {
    let [session, message, id] = ids;
    let mut part = document.value;
    part.set("id", Json::from(id));
    part.set("sessionID", Json::from(session));
    part.set("messageID", Json::from(message));
    let told = [&["time", "start"][..], &["state", "time", "start"], &["time", "created"]];
    let time = ids::time_near(id, message_time)
        .or_else(|| told.iter().find_map(|path| part.integer(path)))
        .or(document.row_time)
        .unwrap_or(message_time);
    (part, time)
}
