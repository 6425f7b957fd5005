//! From values to JSON text.

use std::fmt::Write;

use crate::dynamic::{Object, Text, Value};

/// The JSON text of a value, or `None` if it has none (undefined, or an integer of any size).
pub fn print(value: &Value) -> Option<String> {
    let mut out = String::new();
    print_value(&mut out, value).then_some(out)
}

/// Appends the text of a value and says whether it has one.
fn print_value(out: &mut String, value: &Value) -> bool {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(number) if number.is_finite() => out.push_str(&number_text(*number)),
        Value::Number(_) => out.push_str("null"),
        Value::String(text) => print_text(out, text),
        Value::Array(items) => return print_array(out, items),
        Value::Object(object) => return print_object(out, object),
        _ => return false,
    }
    true
}

fn print_array(out: &mut String, items: &[Value]) -> bool {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match item {
            Value::Undefined => out.push_str("null"),
            item if print_value(out, item) => {}
            _ => return false,
        }
    }
    out.push(']');
    true
}

fn print_object(out: &mut String, object: &Object) -> bool {
    out.push('{');
    let mut first = true;
    for (key, value) in in_javascript_order(object) {
        if matches!(value, Value::Undefined) {
            continue;
        }
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        print_text(out, key);
        out.push(':');
        if !print_value(out, value) {
            return false;
        }
    }
    out.push('}');
    true
}

/// Integer-like keys first, ascending; then the others as they were put in.
fn in_javascript_order(object: &Object) -> Vec<(&Text, &Value)> {
    let mut entries: Vec<_> = object.iter().collect();
    entries.sort_by_key(|(key, _)| array_index(key).map_or(u64::MAX, u64::from));
    entries
}

/// The integer below 2^32 - 1 whose decimal text a key is.
fn array_index(key: &Text) -> Option<u32> {
    let text = key.as_str()?;
    let index = text.parse::<u32>().ok().filter(|index| *index < u32::MAX)?;
    (index.to_string() == text).then_some(index)
}

fn print_text(out: &mut String, text: &Text) {
    out.push('"');
    match (text.as_str(), text.broken_units()) {
        (Some(text), _) => text.chars().for_each(|char| print_char(out, char)),
        (None, units) => {
            for unit in char::decode_utf16(units.unwrap_or_default().iter().copied()) {
                match unit {
                    Ok(char) => print_char(out, char),
                    Err(error) => print_escape(out, error.unpaired_surrogate()),
                }
            }
        }
    }
    out.push('"');
}

fn print_char(out: &mut String, char: char) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..'\x20' => print_escape(out, char as u16),
        _ => out.push(char),
    }
}

fn print_escape(out: &mut String, unit: u16) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{unit:04x}");
}

/// The text JavaScript gives a number: the shortest that reads back as the same.
pub fn number_text(x: f64) -> String {
    if x.is_nan() {
        return "NaN".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    // `d.ddde±x` holds the shortest digits and the exponent.
    let scientific = format!("{:e}", x.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if x < 0.0 { "-" } else { "" };
    format!("{sign}{}", place_point(&digits, exponent + 1))
}

/// Puts the point behind `point` digits, as JavaScript does.
fn place_point(digits: &str, point: i32) -> String {
    let count = digits.len() as i32;
    match point {
        _ if point >= count && point <= 21 => format!("{digits}{}", "0".repeat((point - count) as usize)),
        1..=21 => {
            let (whole, fraction) = digits.split_at_checked(point as usize).unwrap_or((digits, ""));
            format!("{whole}.{fraction}")
        }
        -5..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let exponent = point - 1;
            let sign = if exponent < 0 { '-' } else { '+' };
            let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{first}{dot}{rest}e{sign}{}", exponent.abs())
        }
    }
}
