//! Random values of a description.

use num_bigint::BigInt;
use schema_binary::dynamic::{BigDecimal, Duration, Object, Reason, Text, Value, Zone, Zoned, notation};

use super::random::Random;
use super::{get, schemas, text};

/// Strings that repeat, so that tables and dictionaries have something to do.
const TEXTS: [&str; 9] = [
    "",
    "x",
    "user-1",
    "é",
    "😀",
    "a longer string that repeats now and then",
    "__proto__",
    "\u{feff}b",
    "z",
];

/// A value of a schema; deep recursion ends where it can.
pub(crate) fn value(random: &mut Random, description: &Value, budget: usize) -> Value {
    let less = budget.saturating_sub(1);
    match text(description, "type") {
        "string" | "brand" => Value::String(string(random)),
        "templateLiteral" => Value::from(format!("id-{}", random.below(4)).as_str()),
        "check" => Value::from(*random.pick(&["", "a", "abc", "é"])),
        "number" => Value::Number(number(random)),
        "int" => Value::Number(integer(random)),
        "natural" => Value::Number(integer(random).abs()),
        "boolean" => Value::Bool(random.one_in(2)),
        "null" => Value::Null,
        "undefined" | "void" => Value::Undefined,
        "bigint" => Value::BigInt(Box::new(big(random))),
        "bytes" => Value::Bytes(random.bytes(20)),
        "symbol" => Value::Symbol((*random.pick(&TEXTS)).into()),
        "date" => Value::Date(instant(random)),
        "dateTimeUtc" => Value::DateTimeUtc(instant(random)),
        "dateTimeZoned" => Value::DateTimeZoned(Box::new(zoned(random))),
        "duration" => Value::Duration(Box::new(duration(random))),
        "bigDecimal" => {
            let scale = random.below(20) as i64 - 10;
            Value::BigDecimal(Box::new(BigDecimal { value: big(random), scale }.normalized()))
        }
        "unknown" | "json" => json(random, 3),
        "literal" => notation::read(get(description, "value")).unwrap(),
        "literals" => notation::read(random.pick(items(description, "values"))).unwrap(),
        "struct" | "taggedStruct" => Value::Object(structure(random, description, less)),
        "record" => Value::Object(extras(random, get(description, "value"), "", less)),
        "array" => array(random, description, 0, less),
        "nonEmptyArray" => array(random, description, 1, less),
        "tuple" | "tupleWithRest" => tuple(random, description, less),
        "union" => {
            let members = items(description, "members");
            let end = members.iter().find(|member| budget == 0 && text(member, "type") == "null");
            value(random, end.unwrap_or_else(|| random.clone().pick(members)), less)
        }
        "option" if budget == 0 || random.one_in(3) => Value::Option(None),
        "option" => Value::Option(Some(Box::new(value(random, get(description, "item"), less)))),
        "result" if random.one_in(2) => {
            Value::Result(Ok(Box::new(value(random, get(description, "success"), less))))
        }
        "result" => Value::Result(Err(Box::new(value(random, get(description, "failure"), less)))),
        "exit" if random.one_in(2) => {
            Value::Exit(Ok(Box::new(value(random, get(description, "success"), less))))
        }
        "exit" => Value::Exit(Err(reasons(random, get(description, "failure"), less))),
        "cause" => Value::Cause(reasons(random, get(description, "error"), less)),
        "causeReason" => Value::Reason(Box::new(reason(random, get(description, "error"), less))),
        "ref" => value(random, get(&schemas::definitions(), text(description, "name")), less),
        other => panic!("no values of {other}"),
    }
}

fn items<'v>(description: &'v Value, name: &str) -> &'v [Value] {
    match get(description, name) {
        Value::Array(items) => items,
        _ => &[],
    }
}

fn string(random: &mut Random) -> Text {
    match random.below(12) {
        0 => Text::from(format!("unique {}", random.next())),
        1 => Text::from("x".repeat(random.below(200))),
        _ => (*random.pick(&TEXTS)).into(),
    }
}

fn number(random: &mut Random) -> f64 {
    match random.below(12) {
        0 => -0.0,
        1 => f64::from_bits(random.next()),
        2 => *random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e21, 5e-324, f64::MAX]),
        3 => (random.next() % 100_000) as f64 / 100.0,
        4 => random.next() as f64 / 1e8,
        5 => (random.next() >> random.below(64)) as f64,
        6 => *random.pick(&[1.5, 36.6, 1e-8, 1e-9, 219_902_325_555.1, 219_902_325_555.2, 0.1 + 0.2]),
        7 => 281_474_976_710_655.0 + random.below(3) as f64 - 1.0,
        _ => integer(random),
    }
}

fn integer(random: &mut Random) -> f64 {
    let magnitude = (random.next() >> (11 + random.below(53))) as f64;
    let magnitude = if random.one_in(2) { random.below(200) as f64 } else { magnitude };
    if random.one_in(3) { -magnitude - 1.0 } else { magnitude }
}

fn big(random: &mut Random) -> BigInt {
    let bytes = random.bytes(12);
    BigInt::from_signed_bytes_le(&bytes) * BigInt::from(if random.one_in(2) { 1 } else { 1000 })
}

fn instant(random: &mut Random) -> f64 {
    match random.below(4) {
        0 => 0.0,
        1 => *random.pick(&[8.64e15, -8.64e15]),
        _ => random.next() as i64 as f64 / 4096.0 % 8.64e15,
    }
    .trunc()
}

fn zoned(random: &mut Random) -> Zoned {
    let zone = if random.one_in(2) {
        Zone::Offset((random.below(1440) as i32 - 720) * 60_000)
    } else {
        Zone::Named((*random.pick(&["Europe/London", "UTC", "America/New_York", "Asia/Tokyo"])).to_owned())
    };
    Zoned { epoch_millis: (instant(random) / 2.0).trunc(), zone }
}

fn duration(random: &mut Random) -> Duration {
    match random.below(6) {
        0 => Duration::Infinity,
        1 => Duration::NegativeInfinity,
        2 => Duration::Nanos(BigInt::from(random.below(1000)) * 1_000_000),
        _ => Duration::Nanos(BigInt::from(random.next() >> 20)),
    }
}

fn json(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(random.one_in(2)),
        2 => Value::Number(loop {
            let number = number(random);
            // Other numbers do not come back out of JSON.
            if number.is_finite() && (number != 0.0 || number.is_sign_positive()) {
                break number;
            }
        }),
        3 | 4 => Value::String(string(random)),
        5 => Value::Array((0..random.below(4)).map(|_| json(random, depth - 1)).collect()),
        _ => {
            let keys = ["b", "a", "10", "9", "é", "$k", "01"];
            Value::Object(
                (0..random.below(4)).map(|_| (*random.pick(&keys), json(random, depth - 1))).collect(),
            )
        }
    }
}

fn structure(random: &mut Random, description: &Value, budget: usize) -> Object {
    let mut object = Object::new();
    if text(description, "type") == "taggedStruct" {
        object.set("_tag", get(description, "tag").clone());
    }
    let Value::Object(fields) = get(description, "fields") else { panic!("no fields") };
    for (name, field) in fields.iter() {
        let optional = !matches!(get(field, "optional"), Value::Undefined);
        if optional && (budget == 0 || random.one_in(3)) {
            continue;
        }
        let undefined = matches!(get(field, "optional"), Value::String(how) if how == "undefined");
        let field =
            if undefined && random.one_in(4) { Value::Undefined } else { value(random, field, budget) };
        object.set(name.clone(), field);
    }
    if let [signature] = items(description, "rest") {
        for (key, value) in extras(random, get(signature, "value"), "x-", budget).iter() {
            object.set(key.clone(), value.clone());
        }
    }
    object
}

fn extras(random: &mut Random, item: &Value, prefix: &str, budget: usize) -> Object {
    let keys = ["k", "key", "é", "\u{ff5e}", "😀", "a", "10", "9", "k1", "k2", "k3"];
    let count = random.below(if budget == 0 { 1 } else { 6 });
    let mut object = Object::new();
    for _ in 0..count {
        let key = format!("{prefix}{}", random.pick(&keys));
        object.set(key, value(random, item, budget));
    }
    object
}

fn array(random: &mut Random, description: &Value, min: usize, budget: usize) -> Value {
    let long = random.one_in(30) && budget > 3;
    let count = if long { 60 + random.below(80) } else { random.below(if budget == 0 { 1 } else { 6 }) };
    let budget = if long { budget.min(2) } else { budget };
    (0..count.max(min)).map(|_| value(random, get(description, "item"), budget)).collect()
}

fn tuple(random: &mut Random, description: &Value, budget: usize) -> Value {
    let mut values = Vec::new();
    for element in items(description, "elements") {
        if !matches!(get(element, "optional"), Value::Undefined) && random.one_in(3) {
            return Value::Array(values);
        }
        values.push(value(random, element, budget));
    }
    if let [head, tail @ ..] = items(description, "rest") {
        for _ in 0..random.below(4) {
            values.push(value(random, head, budget));
        }
        values.extend(tail.iter().map(|item| value(random, item, budget)));
    }
    Value::Array(values)
}

fn reasons(random: &mut Random, error: &Value, budget: usize) -> Vec<Reason> {
    (0..random.below(4)).map(|_| reason(random, error, budget)).collect()
}

fn reason(random: &mut Random, error: &Value, budget: usize) -> Reason {
    match random.below(4) {
        0 => Reason::Fail(value(random, error, budget)),
        1 => Reason::Die(json(random, 2)),
        2 => Reason::Interrupt(None),
        _ => Reason::Interrupt(Some(random.below(100) as f64)),
    }
}
