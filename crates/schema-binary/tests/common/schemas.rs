//! Random schema descriptions.

use schema_binary::dynamic::{Value, json};

use super::random::Random;
use super::{object, with};

const NAMES: [&str; 12] = ["a", "b", "c", "d", "id", "name", "é", "$x", "_tag", "zz", "row", "n1"];
const TEXTS: [&str; 6] = ["A", "B", "set", "patch", "é", ""];

/// What refs name: recursive schemas of several shapes.
pub(crate) fn definitions() -> Value {
    let definitions = r#"{
        "List":{"type":"struct","fields":{"n":{"type":"number"},"next":{"type":"ref","name":"List","optional":"key"}}},
        "Tree":{"type":"array","item":{"type":"ref","name":"Tree"}},
        "Rows":{"type":"struct","fields":{"s":{"type":"string"},"kids":{"type":"array","item":{"type":"ref","name":"Rows"}}}},
        "Expr":{"type":"union","members":[
            {"type":"taggedStruct","tag":"Add","fields":{"left":{"type":"ref","name":"Expr"},"right":{"type":"ref","name":"Expr"}}},
            {"type":"taggedStruct","tag":"Num","fields":{"value":{"type":"number"}}},
            {"type":"null"}]},
        "Even":{"type":"struct","fields":{"odd":{"type":"option","item":{"type":"ref","name":"Odd"}}}},
        "Odd":{"type":"tuple","elements":[{"type":"int"},{"type":"union","members":[{"type":"ref","name":"Even"},{"type":"null"}]}]}
    }"#;
    json::parse(definitions).unwrap()
}

/// A schema that nests up to `depth` levels.
pub(crate) fn schema(random: &mut Random, depth: usize) -> Value {
    if depth == 0 || random.one_in(4) {
        return leaf(random);
    }
    match random.below(16) {
        0..=3 => structure(random, depth, false),
        4..=6 => object([("type", "array".into()), ("item", row(random, depth))]),
        7 => object([("type", "nonEmptyArray".into()), ("item", row(random, depth))]),
        8 => record(random, depth),
        9 => union(random, depth),
        10 => tuple(random, depth),
        11 => object([("type", "option".into()), ("item", schema(random, depth - 1))]),
        12 => {
            let (success, failure) = (schema(random, depth - 1), schema(random, depth - 1));
            object([("type", "result".into()), ("success", success), ("failure", failure)])
        }
        13 => exit(random, depth),
        14 => object([
            ("type", "ref".into()),
            ("name", (*random.pick(&["List", "Tree", "Rows", "Expr", "Even", "Odd"])).into()),
        ]),
        _ => literals(random),
    }
}

/// The item of an array: a struct more often than not, for rows.
fn row(random: &mut Random, depth: usize) -> Value {
    if random.one_in(3) { schema(random, depth - 1) } else { structure(random, depth, false) }
}

/// `void` is left out: inside a union the package writes anything at all as void.
fn leaf(random: &mut Random) -> Value {
    const TYPES: [&str; 19] = [
        "string",
        "string",
        "string",
        "number",
        "number",
        "int",
        "natural",
        "boolean",
        "null",
        "undefined",
        "bigint",
        "bytes",
        "symbol",
        "date",
        "dateTimeUtc",
        "dateTimeZoned",
        "duration",
        "bigDecimal",
        "unknown",
    ];
    match random.below(24) {
        0 => json::parse(r#"{"type":"check","item":{"type":"string"},"check":"maxLength3"}"#).unwrap(),
        1 => json::parse(r#"{"type":"templateLiteral","parts":["id-",{"type":"string"}]}"#).unwrap(),
        2 => json::parse(r#"{"type":"brand","item":{"type":"string"},"brand":"B"}"#).unwrap(),
        _ => object([("type", (*random.pick(&TYPES)).into())]),
    }
}

fn structure(random: &mut Random, depth: usize, tagged: bool) -> Value {
    let wide = random.one_in(25);
    let count = if wide { 31 + random.below(40) } else { random.below(6) };
    let mut fields = Vec::new();
    for n in 0..count {
        let name = if wide { format!("f{n}") } else { (*random.pick(&NAMES)).to_owned() };
        if fields.iter().any(|(known, _)| *known == name) || tagged && name == "_tag" {
            continue;
        }
        let item = if wide { leaf(random) } else { schema(random, depth - 1) };
        fields.push((name, field(random, item)));
    }
    let fields = Value::Object(fields.into_iter().collect());
    if tagged {
        return object([("type", "taggedStruct".into()), ("tag", "T".into()), ("fields", fields)]);
    }
    let structure = object([("type", "struct".into()), ("fields", fields)]);
    if !random.one_in(8) {
        return structure;
    }
    let rest = object([("value", schema(random, depth - 1))]);
    // The reference checks every field against a signature that takes all keys; only patterned ones leave them alone.
    let key = json::parse(r#"{"type":"templateLiteral","parts":["x-",{"type":"string"}]}"#).unwrap();
    with(&structure, "rest", Value::Array(vec![with(&rest, "key", key)]))
}

fn field(random: &mut Random, item: Value) -> Value {
    let item = match random.below(8) {
        0 | 1 => with(&item, "optional", "key".into()),
        2 => with(&item, "optional", "undefined".into()),
        _ => item,
    };
    if random.one_in(12) {
        with(&item, "fieldId", Value::Number((1 + random.below(1 << 20)) as f64))
    } else {
        item
    }
}

fn record(random: &mut Random, depth: usize) -> Value {
    object([("type", "record".into()), ("value", schema(random, depth - 1))])
}

/// The package looks for the first member that fits a value all the way down, which may be a plain struct where
/// we go by the type; so plain structs meet only members that are no objects in JavaScript.
fn union(random: &mut Random, depth: usize) -> Value {
    let mut members = Vec::new();
    if random.one_in(4) {
        members.push(structure(random, depth, false));
        members.extend(["string", "number", "null"].map(|leaf| object([("type", leaf.into())])));
        return object([("type", "union".into()), ("members", Value::Array(members))]);
    }
    for tag in TEXTS.iter().take(random.below(4)) {
        members.push(with(&structure(random, depth, true), "tag", (*tag).into()));
    }
    for _ in 0..1 + random.below(3) {
        let member = schema(random, depth - 1);
        if !["struct", "record", "ref", "union"].contains(&super::text(&member, "type")) {
            members.push(member);
        }
    }
    if members.is_empty() {
        members.push(object([("type", "null".into())]));
    }
    object([("type", "union".into()), ("members", Value::Array(members))])
}

fn tuple(random: &mut Random, depth: usize) -> Value {
    let count = random.below(4);
    let mut elements = Vec::new();
    let optional_from = if random.one_in(3) { random.below(count + 1) } else { count };
    for n in 0..count {
        // The package cannot build recursive schemas with optional refs in tuples.
        let item = if n >= optional_from { leaf(random) } else { schema(random, depth - 1) };
        elements.push(if n >= optional_from { with(&item, "optional", "key".into()) } else { item });
    }
    let elements = ("elements", Value::Array(elements));
    if random.one_in(2) || optional_from < count {
        return object([("type", "tuple".into()), elements]);
    }
    let rest: Vec<_> = (0..1 + random.below(3)).map(|_| schema(random, depth - 1)).collect();
    object([("type", "tupleWithRest".into()), elements, ("rest", Value::Array(rest))])
}

fn exit(random: &mut Random, depth: usize) -> Value {
    let (error, defect) = (schema(random, depth - 1), object([("type", "unknown".into())]));
    match random.below(3) {
        0 => object([
            ("type", "exit".into()),
            ("success", schema(random, depth - 1)),
            ("failure", error),
            ("defect", defect),
        ]),
        1 => object([("type", "cause".into()), ("error", error), ("defect", defect)]),
        _ => object([("type", "causeReason".into()), ("error", error), ("defect", defect)]),
    }
}

fn literals(random: &mut Random) -> Value {
    const ALL: &str = r#"["a","b","é",1,2.5,-3,true,false,{"$bigint":"7"}]"#;
    let Value::Array(all) = json::parse(ALL).unwrap() else { panic!("not a list") };
    let values: Vec<_> = all.into_iter().filter(|_| random.one_in(3)).collect();
    match &*values {
        [] => object([("type", "literal".into()), ("value", "only".into())]),
        [value] => object([("type", "literal".into()), ("value", value.clone())]),
        _ => object([("type", "literals".into()), ("values", Value::Array(values))]),
    }
}
