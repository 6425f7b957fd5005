//! The test vectors made with the format's reference implementation, all of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../examples/check-vectors/vector.rs"]
mod vector;

use schema_binary::dynamic::{Object, Value, json};

fn vectors() -> Vec<Value> {
    let text = include_str!("fixtures/schema-binary.json");
    let Value::Object(file) = json::parse(text).unwrap() else { panic!("not an object") };
    let Some(Value::Array(vectors)) = file.get("vectors") else { panic!("no vectors") };
    vectors.clone()
}

#[test]
fn all_vectors_pass() {
    let vectors = vectors();
    let problems: Vec<_> = vectors
        .iter()
        .filter_map(|vector| Some(format!("{}: {}", vector::name(vector), vector::check(vector).err()?)))
        .collect();
    assert_eq!(vectors.len(), 1021);
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The vector of this name, with some members replaced.
fn falsified<const N: usize>(name: &str, members: [(&str, Option<Value>); N]) -> Value {
    let vectors = vectors();
    let vector = vectors.iter().find(|vector| vector::name(vector) == name).unwrap();
    assert_eq!(vector::check(vector), Ok(()));
    let Value::Object(vector) = vector else { panic!("not an object") };
    let kept = vector.iter().filter(|(key, _)| !members.iter().any(|(name, _)| **key == **name));
    let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
    let added = members.iter().filter_map(|(name, value)| Some(((*name).into(), value.clone()?)));
    Value::Object(kept.chain(added).collect::<Object>())
}

#[test]
fn false_expectations_are_found() {
    let error = || json::parse(r#"{"code":"type","path":[]}"#).unwrap();
    let falsified = [
        falsified("number/1", [("value", Some(Value::Number(2.0)))]),
        falsified("number/1", [("hex", Some(Value::from("022004")))]),
        falsified("literal/other-value", [("error", None), ("value", Some(Value::from("abd")))]),
        falsified("evolution/add-optional", [("value", None), ("error", Some(error()))]),
        falsified("literal/other", [("value", Some(Value::from("abc")))]),
        falsified(
            "struct/id-collision-hash",
            [("schema", Some(json::parse(r#"{"type":"string"}"#).unwrap()))],
        ),
        falsified("parser/one-frame", [("feeds", Some(json::parse(r#"[{"values":["b"]}]"#).unwrap()))]),
        falsified("parser/incomplete-end", [("end", Some(json::parse(r#"{"ok":true}"#).unwrap()))]),
        falsified("dictionary/strings", [("frames", Some(Value::Array(vec![Value::from("022061"); 8])))]),
        falsified("recursive/list-512", [("hex", Some(Value::from("0120")))]),
    ];
    for vector in falsified {
        assert!(vector::check(&vector).is_err(), "{}", vector::name(&vector));
    }
}

/// A struct that is a variant inside itself is written there in the order of its declaration, not by id: a habit of the
/// reference implementation, recorded with its version 4.1.0.
#[test]
fn a_struct_inside_itself_keeps_the_order_of_its_declaration() {
    let vectors = r#"[
        {"name":"default","op":"roundtrip","hex":"4020a8b7ffd92b017af0e0b5a239014ee0b7db886720011e0adbca9a17a8b7ffd92b0179e19285837204abde85c373e0b7db88670100e19285837202acde85c373"},
        {"name":"fingerprint","op":"roundtrip","mode":"fingerprint","hex":"1b215e4939c47fe0692e017a014e0a01080001790104000100010201"}
    ]"#;
    let node = r#"{"N":{"type":"taggedStruct","tag":"N","fields":{"zz":{"type":"string"},"a":{"type":"number"},
        "b":{"type":"boolean"},"kids":{"type":"array","item":{"type":"union","members":[
            {"type":"ref","name":"N"},{"type":"null"}]}}}}}"#;
    let value =
        r#"{"_tag":"N","zz":"z","a":1,"b":true,"kids":[{"_tag":"N","zz":"y","a":2,"b":false,"kids":[]}]}"#;
    let Value::Array(vectors) = json::parse(vectors).unwrap() else { panic!("not a list") };
    for vector in vectors {
        let Value::Object(mut vector) = vector else { panic!("not an object") };
        vector.set("schema", json::parse(r#"{"type":"ref","name":"N"}"#).unwrap());
        vector.set("defs", json::parse(node).unwrap());
        vector.set("value", json::parse(value).unwrap());
        assert_eq!(vector::check(&Value::Object(vector)), Ok(()));
    }
}
