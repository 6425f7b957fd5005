//! What `--help` says, and what shells and manuals are given.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::process::{Command, Output};

fn logkeep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_logkeep")).args(arguments).env_clear().output().unwrap()
}

fn help_of(command: &str) -> String {
    let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let output = logkeep(&arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn device_commands_explain_themselves() {
    for command in [
        "identity",
        "identity import",
        "log",
        "log append",
        "log tail",
        "log sync",
        "log import-effect",
        "log export-effect",
    ] {
        insta::assert_snapshot!(command.replace(' ', "-"), help_of(command));
    }
}

#[test]
fn shells_can_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = logkeep(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{shell}");
        for word in ["import-effect", "export-effect", "append", "serve"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("man1");
    assert!(logkeep(&["man", pages.to_str().unwrap()]).status.success());
    for page in ["logkeep", "logkeep-serve", "logkeep-log-append", "logkeep-identity-new"] {
        let text = std::fs::read_to_string(pages.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
    }
}
