//! Checks a file of test vectors for keys, sessions, batches and identity strings:
//! `cargo run -p logkeep-crypto --example check-vectors -- FILE`.
//!
//! Prints a line for each vector that fails and ends with `N passed, M failed`; exits with 1
//! if any failed, with 2 if the file is no vector file.

mod checks;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: check-vectors FILE");
        return ExitCode::from(2);
    };
    let vectors = match read(&file) {
        Ok(vectors) => vectors,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    };
    let report = checks::check_all(&vectors);
    for failure in &report.failures {
        println!("FAILED {failure}");
    }
    println!("{} passed, {} failed", report.passed, report.failures.len());
    ExitCode::from(u8::from(!report.failures.is_empty()))
}

fn read(file: &str) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let vectors: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    if vectors.is_object() { Ok(vectors) } else { Err("not a JSON object with sections of vectors".into()) }
}
