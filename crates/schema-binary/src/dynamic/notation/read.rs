//! From JSON to values.

use num_bigint::BigInt;

use crate::dynamic::{BigDecimal, Duration, Object, Reason, Text, Value, Zone, Zoned};
use crate::{Code, Error};

/// Reads a value in the notation of this module out of parsed JSON.
///
/// # Errors
/// [`Code::Json`] where an object with a `$` key is not as it should be.
pub fn read(json: &Value) -> Result<Value, Error> {
    match json {
        Value::Array(items) => items.iter().map(read).collect::<Result<_, _>>().map(Value::Array),
        Value::Object(object) => read_object(object),
        plain => Ok(plain.clone()),
    }
}

fn read_object(object: &Object) -> Result<Value, Error> {
    let marked = object.iter().find_map(|(key, value)| Some((key.as_str()?.strip_prefix('$')?, value)));
    match marked {
        Some((name, value)) => special(name, value),
        None => {
            let entries = object.iter().map(|(key, value)| Ok((key.clone(), read(value)?)));
            entries.collect::<Result<Object, Error>>().map(Value::Object)
        }
    }
}

fn special(name: &str, value: &Value) -> Result<Value, Error> {
    Ok(match name {
        "undefined" => Value::Undefined,
        "none" => Value::Option(None),
        "some" => Value::Option(Some(Box::new(read(value)?))),
        "success" => Value::Result(Ok(Box::new(read(value)?))),
        "failure" => Value::Result(Err(Box::new(read(value)?))),
        "number" => Value::Number(named_number(text(value)?)?),
        "f64" => {
            Value::Number(f64::from_bits(u64::from_str_radix(text(value)?, 16).map_err(|_| Code::Json)?))
        }
        "bigint" => Value::BigInt(Box::new(integer(value)?)),
        "bytes" => Value::Bytes(hex(text(value)?)?),
        "symbol" => Value::Symbol(string(value)?),
        "date" => Value::Date(instant(value)?),
        "utc" => Value::DateTimeUtc(instant(value)?),
        "zoned" => Value::DateTimeZoned(Box::new(zoned(value)?)),
        "duration" => Value::Duration(Box::new(duration(value)?)),
        "bigDecimal" => Value::BigDecimal(Box::new(decimal(value)?)),
        "exit" => exit(value)?,
        "cause" => Value::Cause(reasons(value)?),
        "reason" => Value::Reason(Box::new(reason(value)?)),
        "utf16" => Value::String(string_of_units(value)?),
        "entries" => Value::Object(entries(value)?),
        _ => return Err(Code::Json.into()),
    })
}

fn text(value: &Value) -> Result<&str, Error> {
    match value {
        Value::String(text) => text.as_str().ok_or(Code::Json.into()),
        _ => Err(Code::Json.into()),
    }
}

fn number(value: &Value) -> Result<f64, Error> {
    match read(value)? {
        Value::Number(number) => Ok(number),
        _ => Err(Code::Json.into()),
    }
}

fn items(value: &Value) -> Result<&[Value], Error> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(Code::Json.into()),
    }
}

fn property<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name),
        _ => None,
    }
}

fn named_number(name: &str) -> Result<f64, Error> {
    match name {
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        "-0" => Ok(-0.0),
        _ => Err(Code::Json.into()),
    }
}

fn integer(value: &Value) -> Result<BigInt, Error> {
    text(value)?.parse().map_err(|_| Code::Json.into())
}

fn hex(digits: &str) -> Result<Vec<u8>, Error> {
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) || !digits.len().is_multiple_of(2) {
        return Err(Code::Json.into());
    }
    let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>().ok_or(Code::Json.into())
}

fn string(value: &Value) -> Result<Text, Error> {
    match read(value)? {
        Value::String(text) => Ok(text),
        _ => Err(Code::Json.into()),
    }
}

fn string_of_units(value: &Value) -> Result<Text, Error> {
    let unit = |value| match value {
        &Value::Number(unit) if unit.trunc() == unit && (0.0..=65535.0).contains(&unit) => Ok(unit as u16),
        _ => Err(Error::from(Code::Json)),
    };
    let units = items(value)?.iter().map(unit).collect::<Result<Vec<_>, _>>()?;
    Ok(Text::from_utf16(&units))
}

fn instant(value: &Value) -> Result<f64, Error> {
    if matches!(value, Value::Null) { Ok(f64::NAN) } else { number(value) }
}

fn zoned(value: &Value) -> Result<Zoned, Error> {
    let epoch_millis = number(property(value, "epochMillis").ok_or(Code::Json)?)?;
    let zone = match (property(value, "zone"), property(value, "offsetMillis")) {
        (Some(name), _) => Zone::Named(text(name)?.to_owned()),
        (None, Some(offset)) => Zone::Offset(number(offset)? as i32),
        _ => return Err(Code::Json.into()),
    };
    Ok(Zoned { epoch_millis, zone })
}

fn duration(value: &Value) -> Result<Duration, Error> {
    match text(value)? {
        "Infinity" => Ok(Duration::Infinity),
        "-Infinity" => Ok(Duration::NegativeInfinity),
        _ => integer(value).map(Duration::Nanos),
    }
}

fn decimal(value: &Value) -> Result<BigDecimal, Error> {
    let scale = number(property(value, "scale").ok_or(Code::Json)?)?;
    Ok(BigDecimal { value: integer(property(value, "value").ok_or(Code::Json)?)?, scale: scale as i64 })
}

fn exit(value: &Value) -> Result<Value, Error> {
    if let Some(success) = property(value, "success") {
        return Ok(Value::Exit(Ok(Box::new(read(success)?))));
    }
    Ok(Value::Exit(Err(reasons(property(value, "cause").ok_or(Code::Json)?)?)))
}

fn reasons(value: &Value) -> Result<Vec<Reason>, Error> {
    items(value)?.iter().map(reason).collect()
}

fn reason(value: &Value) -> Result<Reason, Error> {
    if let Some(error) = property(value, "fail") {
        return read(error).map(Reason::Fail);
    }
    if let Some(defect) = property(value, "die") {
        return read(defect).map(Reason::Die);
    }
    match property(value, "interrupt") {
        Some(Value::Null) => Ok(Reason::Interrupt(None)),
        Some(fiber) => number(fiber).map(|fiber| Reason::Interrupt(Some(fiber))),
        None => Err(Code::Json.into()),
    }
}

fn entries(value: &Value) -> Result<Object, Error> {
    let entry = |entry: &Value| match items(entry)? {
        [key, value] => Ok((string(key)?, read(value)?)),
        _ => Err(Error::from(Code::Json)),
    };
    items(value)?.iter().map(entry).collect()
}
