//! The vectors recorded from effect 4.1.0, and wrong ones that must be told apart.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../examples/check-vectors/checks.rs"]
mod checks;

use serde_json::{Value, json};

fn fixture() -> Value {
    serde_json::from_str(include_str!("fixtures/crypto.json")).unwrap()
}

#[test]
fn recorded_vectors_hold() {
    let report = checks::check_all(&fixture());
    assert_eq!(report.failures, Vec::<String>::new());
    assert_eq!(report.passed, 101);
}

#[test]
fn exactly_the_wrong_vectors_fail() {
    let mut file = fixture();
    file["keyDerivation"][3]["aesKey"] = json!("00");
    file["sessionAuth"][1]["signature"] = json!("00");
    file["sessionAuthVerify"][2]["outcome"] = json!("invalid");
    file["sessionAuthPayloadDecode"][1]["error"] = json!("InvalidContext");
    file["batchEncryption"][4]["storeId"] = json!("elsewhere");
    file["batchSizes"][5]["batches"] = json!([1, 2]);
    file["identityStrings"][6]["publicKey"] = json!("other");
    file["identityStringDecode"][11] = json!({"name": "unreadable"});
    let failures = checks::check_all(&file).failures;
    let names: Vec<&str> = failures.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(
        names,
        [
            "keyDerivation, ones",
            "sessionAuth, bob",
            "sessionAuthVerify, remote id as its lowercase hex text",
            "sessionAuthPayloadDecode, empty",
            &format!("batchEncryption, {}", file["batchEncryption"][4]["name"].as_str().unwrap()),
            "batchSizes, small, large, small",
            "identityStrings, short-secret",
            "identityStringDecode, unreadable",
        ]
    );
}
