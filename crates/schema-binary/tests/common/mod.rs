//! Random schemas, values and damage, from seeds.
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod random;
pub(crate) mod schemas;
pub(crate) mod values;

use schema_binary::dynamic::{Object, Schema, Value};

/// Whether tests should take their time (`LOGKEEP_LONG=1`).
pub(crate) fn long() -> bool {
    std::env::var_os("LOGKEEP_LONG").is_some_and(|value| value == "1")
}

/// An object description.
pub(crate) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().collect())
}

/// A member of a description.
pub(crate) fn get<'v>(description: &'v Value, name: &str) -> &'v Value {
    match description {
        Value::Object(object) => object.get(name).unwrap_or(&Value::Undefined),
        _ => &Value::Undefined,
    }
}

/// A description with a member replaced.
pub(crate) fn with(description: &Value, name: &str, value: Value) -> Value {
    let Value::Object(object) = description else { panic!("not an object") };
    let mut object: Object = object.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    object.set(name, value);
    Value::Object(object)
}

/// The text of a member.
pub(crate) fn text<'v>(description: &'v Value, name: &str) -> &'v str {
    match get(description, name) {
        Value::String(text) => text.as_str().unwrap(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The schema of a description, if it is usable.
pub(crate) fn schema(description: &Value) -> Option<Schema> {
    Schema::from_description(description, Some(&schemas::definitions())).ok()
}
