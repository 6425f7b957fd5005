//! Kill and a full disk in the middle of the work: old or new content, and the next run finishes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Instant;

const LOGKEEP: &str = env!("CARGO_BIN_EXE_logkeep");

fn logkeep(arguments: &[&str]) -> Command {
    let mut command = Command::new(LOGKEEP);
    command.args(arguments).stdin(Stdio::null());
    command
}

fn succeed(arguments: &[&str]) -> String {
    let output = logkeep(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs with files limited to some KiB, which is how a full disk looks to a program.
fn with_full_disk(kib: u32, stdin: &str, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" \"$@\"");
    let mut child = Command::new("bash")
        .args(["-c", &script, LOGKEEP])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Sessions with a message of five parts each.
fn source(folder: &Path, sessions: u32) {
    let storage = folder.join("storage");
    for number in 0..sessions {
        let session = format!("ses_{number:04}");
        let text = format!(
            r#"{{"title":"{number}","directory":"/d","time":{{"created":{number},"updated":{number}}}}}"#
        );
        write(&storage.join(format!("session/p/{session}.json")), &text);
        let message = format!("msg_{number:04}");
        let text = r#"{"role":"user","time":{"created":7}}"#;
        write(&storage.join(format!("message/{session}/{message}.json")), text);
        for part in 0..5 {
            let text = format!(r#"{{"type":"text","text":"{}"}}"#, "words ".repeat(100));
            write(&storage.join(format!("part/{message}/prt_{number:04}_{part}.json")), &text);
        }
    }
}

fn contents(data: &Path) -> String {
    let data = data.to_str().unwrap();
    let list = succeed(&["sessions", "list", "--data", data, "--json"]);
    let last = succeed(&["sessions", "export", "ses_0149", "--data", data, "--format", "events"]);
    list + &last
}

#[test]
fn a_killed_import_leaves_whole_sessions_and_is_finished_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (source_folder, clean, killed) =
        (folder.path().join("source"), folder.path().join("clean"), folder.path().join("killed"));
    source(&source_folder, 150);
    let import = |data: &Path| {
        let (source, data) = (source_folder.to_str().unwrap().to_owned(), data.to_str().unwrap().to_owned());
        logkeep(&["sessions", "import", &source, "--data", &data])
    };
    let started = Instant::now();
    assert!(import(&clean).output().unwrap().status.success());
    let whole = started.elapsed();
    for round in 1..=10 {
        let mut child = import(&killed).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(whole * round / 20);
        child.kill().unwrap();
        child.wait().unwrap();
        let list = succeed(&["sessions", "list", "--data", killed.to_str().unwrap(), "--json"]);
        for line in list.lines() {
            assert!(line.contains(r#""messages":1,"parts":5"#), "{line}");
        }
    }
    assert!(import(&killed).output().unwrap().status.success());
    assert_eq!(contents(&killed), contents(&clean));
}

#[test]
fn a_full_disk_stops_an_import_and_the_next_one_finishes() {
    let folder = tempfile::tempdir().unwrap();
    let (source_folder, data) = (folder.path().join("source"), folder.path().join("data"));
    source(&source_folder, 150);
    let arguments =
        ["sessions", "import", source_folder.to_str().unwrap(), "--data", data.to_str().unwrap(), "--json"];
    let failed = with_full_disk(200, "", &arguments);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(String::from_utf8_lossy(&failed.stderr).starts_with("error: "), "{failed:?}");
    let list = succeed(&["sessions", "list", "--data", data.to_str().unwrap(), "--json"]);
    assert!(list.lines().all(|line| line.contains(r#""messages":1,"parts":5"#)), "{list}");
    assert!(list.lines().count() < 150);
    succeed(&arguments);
    let clean = folder.path().join("clean");
    succeed(&["sessions", "import", source_folder.to_str().unwrap(), "--data", clean.to_str().unwrap()]);
    assert_eq!(contents(&data), contents(&clean));
}

#[test]
fn a_full_disk_leaves_a_document_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let document = folder.path().join("storage/note/one.json");
    write(&document, "{\n  \"old\": true\n}");
    let large = format!("{{\"text\": \"{}\"}}", "x".repeat(100_000));
    for command in ["write", "update"] {
        let failed = with_full_disk(16, &large, &["documents", command, "--root", root, "note", "one"]);
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        assert_eq!(fs::read_to_string(&document).unwrap(), "{\n  \"old\": true\n}");
    }
    assert_eq!(succeed(&["documents", "list", "--root", root]), "[\"note\",\"one\"]\n");
    assert!(!folder.path().join("storage/.logkeep").exists());
}

#[test]
fn a_killed_migration_is_finished_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let diffs =
        r#"{"diffs":[{"file":"a","additions":2,"deletions":1},{"file":"b","additions":3,"deletions":4}]}"#;
    let create = |root: &Path| {
        for number in 0..60 {
            let text = format!(r#"{{"id":"ses_{number}","projectID":"p","summary":{diffs}}}"#);
            write(&root.join(format!("storage/session/p/ses_{number}.json")), &text);
            let legacy = root.join("project/global/storage/session");
            write(
                &legacy.join(format!("info/ses_old{number}.json")),
                &format!(r#"{{"id":"ses_old{number}"}}"#),
            );
        }
    };
    let (clean, killed) = (folder.path().join("clean"), folder.path().join("killed"));
    create(&clean);
    create(&killed);
    let migrate =
        |root: &Path| logkeep(&["documents", "migrate", "--now", "7", "--root", root.to_str().unwrap()]);
    let started = Instant::now();
    assert!(migrate(&clean).output().unwrap().status.success());
    let whole = started.elapsed();
    for round in 1..=10 {
        let mut child = migrate(&killed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(whole * round / 20);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let last = migrate(&killed).output().unwrap();
    assert!(last.status.success(), "{last:?}");
    assert_eq!(documents(&killed), documents(&clean));
    assert_eq!(fs::read_to_string(killed.join("storage/migration")).unwrap(), "2");
}

fn documents(root: &Path) -> Vec<(String, String)> {
    let root = root.to_str().unwrap();
    let keys = succeed(&["documents", "list", "--root", root]);
    let read = |key: &str| {
        let elements: Vec<&str> =
            key.trim_matches(['[', ']']).split(',').map(|part| part.trim_matches('"')).collect();
        succeed(&[&["documents", "read", "--root", root], &elements[..]].concat())
    };
    keys.lines()
        .filter(|key| !key.contains("session_diff") || key.contains("9\""))
        .map(|key| (key.to_owned(), read(key)))
        .collect()
}

#[test]
fn two_imports_at_once_end_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let (source_folder, data) = (folder.path().join("source"), folder.path().join("data"));
    source(&source_folder, 150);
    let import = || {
        logkeep(&["sessions", "import", source_folder.to_str().unwrap(), "--data", data.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children = [import(), import()];
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let clean = folder.path().join("clean");
    succeed(&["sessions", "import", source_folder.to_str().unwrap(), "--data", clean.to_str().unwrap()]);
    assert_eq!(contents(&data), contents(&clean));
}
