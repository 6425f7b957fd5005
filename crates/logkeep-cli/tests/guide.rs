//! The commands of the guide do what the guide says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server on a free port, ended with the test.
struct Server(Child, String);

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_logkeep"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data", ":memory:"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ws://").expect("an address").to_owned();
        Self(child, address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command of the guide with the output it promises; the last line may be `? STATUS`.
struct Example {
    command: String,
    expected: Vec<String>,
    status: i32,
}

fn examples(guide: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), line.strip_prefix("? ")) {
                (Some(command), _) => {
                    examples.push(Example { command: command.to_owned(), expected: vec![], status: 0 });
                }
                (None, Some(status)) => examples.last_mut().unwrap().status = status.parse().unwrap(),
                (None, None) => examples.last_mut().unwrap().expected.push(line.to_owned()),
            },
            _ => {}
        }
    }
    examples
}

/// `[..]` stands for anything within a line.
fn matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        let found = if at + 1 == parts.len() {
            rest.ends_with(part).then(|| rest.len() - part.len())
        } else {
            rest.find(part)
        };
        let Some(found) = found else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.is_empty()
}

fn run(directory: &Path, command: &str) -> (Vec<String>, i32) {
    let binary = Path::new(env!("CARGO_BIN_EXE_logkeep")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(binary.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new("sh")
        .args(["-c", &format!("{command} 2>&1")])
        .current_dir(directory)
        .env("PATH", path.unwrap())
        .env("LOGKEEP_DEVICE_DATA", "device")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(str::to_owned).collect(), output.status.code().unwrap())
}

#[test]
fn the_device_guide_is_true() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start();
    let schema = r#"{"note.added": {"type": "struct", "fields": {"text": {"type": "string"}}}}"#;
    std::fs::write(directory.path().join("notes.json"), format!("{schema}\n")).unwrap();
    let examples = examples(include_str!("../../../docs/device.md"));
    assert!(examples.len() > 15);
    for Example { command, expected, status } in examples {
        let real = command.replace("127.0.0.1:7070", &server.1);
        let (lines, code) = run(directory.path(), &real);
        let same =
            lines.len() == expected.len() && expected.iter().zip(&lines).all(|(e, line)| matches(e, line));
        assert!(same, "{command}\nprinted  {lines:#?}\nexpected {expected:#?}");
        assert_eq!(code, status, "{command}");
    }
}
