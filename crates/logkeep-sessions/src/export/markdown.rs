//! A session for reading.

use std::io::Write;

use super::ExportError;
use crate::json::Json;
use crate::store::{MessageRow, PartRow, SessionStore};
use crate::time;

pub(super) fn write(
    store: &SessionStore,
    id: &str,
    info: &Json,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let title = info.text(&["title"]).unwrap_or_default();
    writeln!(out, "# {}\n", if title.is_empty() { "Untitled session" } else { &title })?;
    writeln!(out, "- Session: {id}")?;
    if let Some(directory) = info.text(&["directory"]).filter(|directory| !directory.is_empty()) {
        writeln!(out, "- Directory: {directory}")?;
    }
    for (label, name) in [("Created", "created"), ("Updated", "updated"), ("Archived", "archived")] {
        if let Some(at) = info.integer(&["time", name]) {
            writeln!(out, "- {label}: {}", time::utc(at))?;
        }
    }
    if let Some(url) = info.text(&["share", "url"]) {
        writeln!(out, "- Shared at: {url}")?;
    }
    store.each_message(id, |message, parts| write_message(&message, &parts, out))?;
    write_todos(&store.todos(id)?, out)
}

fn write_message(message: &MessageRow, parts: &[PartRow], out: &mut dyn Write) -> Result<(), ExportError> {
    let role = match message.info.text(&["role"]).as_deref() {
        Some("user") => "User",
        Some("assistant") => "Assistant",
        _ => "Message",
    };
    writeln!(out, "\n## {role}, {}", time::utc(message.created))?;
    if let Some(error) = message.info.get(&["error"]) {
        writeln!(out, "\nError: {error}")?;
    }
    parts.iter().try_for_each(|part| write_part(&part.part, out))
}

fn write_part(part: &Json, out: &mut dyn Write) -> Result<(), ExportError> {
    let text = part.text(&["text"]).unwrap_or_default();
    match part.text(&["type"]).unwrap_or_default().as_ref() {
        "text" => writeln!(out, "\n{text}")?,
        "reasoning" => {
            writeln!(out)?;
            text.lines().try_for_each(|line| writeln!(out, "> {line}"))?;
        }
        "tool" => write_tool(part, out)?,
        "file" => {
            let name = part.text(&["filename"]).or(part.text(&["url"])).unwrap_or_default();
            writeln!(out, "\nFile: {name}")?;
        }
        "step-start" | "step-finish" | "snapshot" => {}
        kind => {
            let mut rest = part.clone();
            for name in ["id", "sessionID", "messageID", "type"] {
                rest.remove(name);
            }
            writeln!(out, "\n*{kind}*: {rest}")?;
        }
    }
    Ok(())
}

fn write_tool(part: &Json, out: &mut dyn Write) -> Result<(), ExportError> {
    let tool = part.text(&["tool"]).unwrap_or_default();
    let status = part.text(&["state", "status"]).unwrap_or_default();
    writeln!(out, "\nTool `{tool}`, {status}")?;
    if let Some(title) = part.text(&["state", "title"]).filter(|title| !title.is_empty()) {
        writeln!(out, "\n{title}")?;
    }
    if let Some(input) = part.get(&["state", "input"]) {
        write_block("json", &input.pretty(), out)?;
    }
    for name in ["output", "error"] {
        if let Some(text) = part.text(&["state", name]).filter(|text| !text.is_empty()) {
            write_block("", &text, out)?;
        }
    }
    Ok(())
}

/// A fenced block, with a fence longer than any inside it.
fn write_block(language: &str, text: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    let inside = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(inside.max(2) + 1);
    Ok(writeln!(out, "\n{fence}{language}\n{text}\n{fence}")?)
}

fn write_todos(todos: &[Json], out: &mut dyn Write) -> Result<(), ExportError> {
    if !todos.is_empty() {
        writeln!(out, "\n## To do\n")?;
    }
    for todo in todos {
        let done = todo.text(&["status"]).as_deref() == Some("completed");
        let mark = if done { "x" } else { " " };
        writeln!(out, "- [{mark}] {}", todo.text(&["content"]).unwrap_or_default())?;
    }
    Ok(())
}
