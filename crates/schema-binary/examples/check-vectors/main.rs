//! Checks this crate against a file of test vectors.
//!
//! ```text
//! $ cargo run -p schema-binary --example check-vectors -- crates/schema-binary/tests/fixtures/schema-binary.json
//! 1021 passed, 0 failed
//! ```
//!
//! The guide (`docs/schema-binary.md`) describes the file. A line is printed for each vector that fails; the exit status is
//! 1 if there is one, and 2 if the file cannot be read.

mod vector;

use std::process::ExitCode;

use schema_binary::dynamic::{Value, json};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: check-vectors FILE");
        return ExitCode::from(2);
    };
    match read_vectors(&path) {
        Ok(vectors) => check(&vectors),
        Err(problem) => {
            eprintln!("{}: {problem}", path.display());
            ExitCode::from(2)
        }
    }
}

fn read_vectors(path: &std::ffi::OsStr) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let Value::Object(file) = json::parse(&text)? else { return Err("not a JSON object".into()) };
    match file.get("vectors") {
        Some(Value::Array(vectors)) => Ok(vectors.clone()),
        _ => Err("no list of vectors".into()),
    }
}

fn check(vectors: &[Value]) -> ExitCode {
    let mut failed = 0;
    for vector in vectors {
        if let Err(problem) = vector::check(vector) {
            failed += 1;
            println!("{}: {problem}", vector::name(vector));
        }
    }
    println!("{} passed, {failed} failed", vectors.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}
