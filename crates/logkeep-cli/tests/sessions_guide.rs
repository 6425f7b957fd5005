//! The examples in `docs/sessions.md` do what they show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of the guide and what it prints, standard error first.
struct Example {
    command: String,
    output: String,
}

fn examples(guide: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            examples.push(Example { command: command.to_owned(), output: String::new() });
        } else if inside {
            let output = &mut examples.last_mut().unwrap().output;
            output.push_str(line);
            output.push('\n');
        }
    }
    examples
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn every_example_prints_what_the_guide_says() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let samples = repository.join("crates/logkeep-sessions/tests/fixtures");
    let folder = tempfile::tempdir().unwrap();
    copy(&samples.join("storage-marker-2"), &folder.path().join("opencode"));
    copy(&samples.join("legacy"), &folder.path().join("old"));
    let mut path = vec![PathBuf::from(env!("CARGO_BIN_EXE_logkeep")).parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let examples = examples(&fs::read_to_string(repository.join("docs/sessions.md")).unwrap());
    assert!(examples.len() > 10);
    for example in examples {
        let run = Command::new("bash")
            .args(["-c", &example.command])
            .current_dir(folder.path())
            .env("PATH", std::env::join_paths(&path).unwrap())
            .output()
            .unwrap();
        let printed = String::from_utf8(run.stderr).unwrap() + &String::from_utf8(run.stdout).unwrap();
        assert_eq!(printed, example.output, "{}", example.command);
    }
}
