//! From values to JSON.

use std::fmt::Write;

use crate::dynamic::{Duration, Object, Reason, Text, Value, Zone};

/// The value as JSON in the notation of this module; [`json::print`](crate::dynamic::json::print) makes text of it.
pub fn write(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) => string(text),
        Value::Number(number) => write_number(*number),
        Value::Array(items) => Value::Array(items.iter().map(write).collect()),
        Value::Object(object) => write_object(object),
        Value::Undefined => special("$undefined", Value::Bool(true)),
        Value::BigInt(integer) => special("$bigint", Value::from(integer.to_string().as_str())),
        Value::Bytes(bytes) => special("$bytes", Value::from(hex(bytes).as_str())),
        Value::Symbol(key) => special("$symbol", string(key)),
        Value::Date(millis) => special("$date", instant(*millis)),
        Value::DateTimeUtc(millis) => special("$utc", instant(*millis)),
        Value::DateTimeZoned(zoned) => {
            let zone = match &zoned.zone {
                Zone::Offset(millis) => ("offsetMillis", Value::Number(f64::from(*millis))),
                Zone::Named(name) => ("zone", Value::from(name.as_str())),
            };
            special("$zoned", object([("epochMillis", Value::Number(zoned.epoch_millis)), zone]))
        }
        Value::Duration(duration) => special("$duration", write_duration(duration)),
        Value::BigDecimal(decimal) => {
            let decimal = decimal.normalized();
            let digits = Value::from(decimal.value.to_string().as_str());
            special(
                "$bigDecimal",
                object([("value", digits), ("scale", Value::Number(decimal.scale as f64))]),
            )
        }
        Value::Option(None) => special("$none", Value::Bool(true)),
        Value::Option(Some(value)) => special("$some", write(value)),
        Value::Result(Ok(value)) => special("$success", write(value)),
        Value::Result(Err(value)) => special("$failure", write(value)),
        Value::Exit(Ok(value)) => special("$exit", object([("success", write(value))])),
        Value::Exit(Err(reasons)) => special("$exit", object([("cause", write_reasons(reasons))])),
        Value::Cause(reasons) => special("$cause", write_reasons(reasons)),
        Value::Reason(reason) => special("$reason", write_reason(reason)),
    }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().collect())
}

fn special(name: &str, value: Value) -> Value {
    object([(name, value)])
}

fn string(text: &Text) -> Value {
    match text.broken_units() {
        None => Value::String(text.clone()),
        Some(units) => special("$utf16", units.iter().map(|unit| f64::from(*unit)).collect()),
    }
}

fn write_number(number: f64) -> Value {
    let name = match number {
        number if number.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        number if number == 0.0 && number.is_sign_negative() => "-0",
        number => return Value::Number(number),
    };
    special("$number", Value::from(name))
}

fn instant(millis: f64) -> Value {
    if millis.is_nan() { Value::Null } else { Value::Number(millis) }
}

fn write_object(object: &Object) -> Value {
    let plain = object
        .iter()
        .all(|(key, _)| key.as_str().is_some_and(|key| !key.starts_with('$') && key != "__proto__"));
    if plain {
        return Value::Object(object.iter().map(|(key, value)| (key.clone(), write(value))).collect());
    }
    let entry = |(key, value)| Value::Array(vec![string(key), write(value)]);
    special("$entries", Value::Array(object.iter().map(entry).collect()))
}

fn write_duration(duration: &Duration) -> Value {
    match duration {
        Duration::Nanos(nanos) => Value::from(nanos.to_string().as_str()),
        Duration::Infinity => Value::from("Infinity"),
        Duration::NegativeInfinity => Value::from("-Infinity"),
    }
}

fn write_reasons(reasons: &[Reason]) -> Value {
    Value::Array(reasons.iter().map(write_reason).collect())
}

fn write_reason(reason: &Reason) -> Value {
    match reason {
        Reason::Fail(value) => object([("fail", write(value))]),
        Reason::Die(value) => object([("die", write(value))]),
        Reason::Interrupt(fiber) => object([("interrupt", fiber.map_or(Value::Null, write_number))]),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
