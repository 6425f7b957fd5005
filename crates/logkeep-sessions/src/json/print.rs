//! Values to text, byte for byte as `JSON.stringify` would.

use std::fmt;

use super::Json;

/// Without spaces: the form that is stored and compared.
impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Number(digits) => out.write_str(digits),
            Self::String(text) => write!(out, "\"{}\"", text.escaped()),
            Self::Array(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index == 0 { "" } else { "," })?;
                }
                out.write_str("]")
            }
            Self::Object(fields) => {
                out.write_str("{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(out, "{comma}\"{}\":{value}", name.escaped())?;
                }
                out.write_str("}")
            }
        }
    }
}

impl Json {
    /// The form documents have on disk: an indent of two spaces, no newline at the end.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        pretty(self, 1, &mut out);
        out
    }
}

fn pretty(value: &Json, depth: usize, out: &mut String) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                new_line(index, depth, out);
                pretty(item, depth + 1, out);
            }
            close(']', depth, out);
        }
        Json::Object(fields) if !fields.is_empty() => {
            out.push('{');
            for (index, (name, item)) in fields.iter().enumerate() {
                new_line(index, depth, out);
                out.push('"');
                out.push_str(name.escaped());
                out.push_str("\": ");
                pretty(item, depth + 1, out);
            }
            close('}', depth, out);
        }
        Json::String(text) => {
            out.push('"');
            out.push_str(text.escaped());
            out.push('"');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn new_line(index: usize, depth: usize, out: &mut String) {
    out.push_str(if index == 0 { "\n" } else { ",\n" });
    out.extend(std::iter::repeat_n("  ", depth));
}

fn close(bracket: char, depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth - 1));
    out.push(bracket);
}
