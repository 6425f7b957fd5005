//! Migrations 1 and 2: exact on well-formed data, complete, and safe to repeat.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use common::{fixture, tree, write};
use logkeep_sessions::documents::migrate::{MigrationOptions, MigrationReport};
use logkeep_sessions::documents::{DocumentStore, Key, Order, Prefix};
use logkeep_sessions::json::{Json, parse};

const LANTERN: &str = "22269fdfc904bab1da285cfb441c0f79fed9435e";

fn no_repository(_: &Path) -> io::Result<Option<String>> {
    Ok(None)
}

fn options() -> MigrationOptions<'static> {
    MigrationOptions {
        worktrees: HashMap::new(),
        root_commits: HashMap::from([("/srv/demo/lantern".to_owned(), LANTERN.to_owned())]),
        root_commit: &no_repository,
        now: 1_757_592_000_000,
        again: false,
    }
}

fn migrate(folder: &Path) -> MigrationReport {
    DocumentStore::open(folder).unwrap().migrate(&options()).unwrap()
}

fn list(folder: &Path, prefix: &[&str]) -> Vec<String> {
    let prefix = Prefix::new(prefix.iter().copied()).unwrap();
    let listing = DocumentStore::open(folder).unwrap().list(&prefix, Order::Bytes).unwrap();
    listing.keys.iter().map(Key::joined).collect()
}

fn read(folder: &Path, key: &[&str]) -> Json {
    DocumentStore::open(folder).unwrap().read(&Key::new(key.iter().copied()).unwrap()).unwrap()
}

fn marker(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join("storage/migration")).ok()
}

#[test]
fn legacy_folders_become_the_documented_tree() {
    let legacy = fixture("legacy");
    let before = tree(&legacy.path().join("project"));
    let report = migrate(legacy.path());
    assert_eq!((report.from, report.to, report.written), (0, 2, 43));
    assert_eq!(
        tree(&legacy.path().join("storage")),
        tree(&fixture("migrated-legacy").path().join("storage"))
    );
    assert_eq!(tree(&legacy.path().join("project")), before, "the source stays");
    assert_eq!(report.left_behind.len(), 2, "{report:?}");
    assert!(report.left_behind[0].contains("ses_752661dffffep50Pzp6KUtEoaA"));
    let again = MigrationOptions { again: true, ..options() };
    let second = DocumentStore::open(legacy.path()).unwrap().migrate(&again).unwrap();
    assert_eq!((second.written, second.kept.len()), (0, 0));
    assert_eq!(
        tree(&legacy.path().join("storage")),
        tree(&fixture("migrated-legacy").path().join("storage"))
    );
}

#[test]
fn the_tree_of_a_folder_can_be_told() {
    let legacy = fixture("legacy");
    let moved = MigrationOptions {
        worktrees: HashMap::from([("srv-demo-gone".to_owned(), "/new/place".to_owned())]),
        root_commits: HashMap::from([("/new/place".to_owned(), "a".repeat(40))]),
        ..options()
    };
    DocumentStore::open(legacy.path()).unwrap().migrate(&moved).unwrap();
    let project = read(legacy.path(), &["project", &"a".repeat(40)]);
    assert_eq!(project.text(&["worktree"]).unwrap(), "/new/place");
    assert_eq!(project.text(&["vcs"]).unwrap(), "git");
    assert_eq!(list(legacy.path(), &["session", &"a".repeat(40)]).len(), 1);
}

#[test]
fn diffs_move_out_of_sessions_and_sessions_stay_where_they_lie() {
    let folder = fixture("storage-marker-1");
    let original = tree(&folder.path().join("storage"));
    let report = migrate(folder.path());
    assert_eq!((report.from, report.to, report.written), (1, 2, 4));
    let result = tree(&folder.path().join("storage"));
    let expected = tree(&fixture("storage-marker-2").path().join("storage"));
    let stale = "ses_6c7237797ffehBpuqW9DABRFtN.json";
    for (name, content) in &result {
        // The original writes this one to the folder of its stale project id.
        let name =
            name.replace(&format!("session/{LANTERN}/{stale}"), &format!("session/srv-demo-lantern/{stale}"));
        if !name.starts_with(".logkeep") {
            assert_eq!(Some(content), expected.get(&name), "{name}");
        }
    }
    assert!(!result.keys().any(|name| name.starts_with("session/srv-demo-lantern")));
    let store = DocumentStore::open(folder.path()).unwrap();
    for (name, content) in tree(&store.migration_backup()) {
        assert_eq!(original.get(&name), Some(&content));
    }
    store.confirm_migrations().unwrap();
    assert!(!folder.path().join("storage/.logkeep").exists());
}

#[test]
fn an_invalid_marker_counts_as_nothing_done() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "storage/migration", "wat");
    let session = r#"{"id":"ses_test","projectID":"proj_test","title":"legacy",
        "summary":{"diffs":[{"additions":2,"deletions":1},{"additions":3,"deletions":4}]}}"#;
    write(folder.path(), "storage/session/proj_test/ses_test.json", session);
    migrate(folder.path());
    assert_eq!(list(folder.path(), &["session_diff"]), ["session_diff/ses_test"]);
    let diffs = r#"[{"additions":2,"deletions":1},{"additions":3,"deletions":4}]"#;
    assert_eq!(read(folder.path(), &["session_diff", "ses_test"]).to_string(), diffs);
    assert_eq!(
        read(folder.path(), &["session", "proj_test", "ses_test"]).to_string(),
        r#"{"id":"ses_test","projectID":"proj_test","title":"legacy","summary":{"additions":5,"deletions":5}}"#
    );
    assert_eq!(marker(folder.path()).as_deref(), Some("2"));
}

#[test]
fn malformed_legacy_records_are_tolerated() {
    let folder = tempfile::tempdir().unwrap();
    let legacy = |file: &str| format!("project/legacy/storage/session/{file}");
    write(folder.path(), &legacy("message/probe/0.json"), "[]");
    write(folder.path(), &legacy("message/probe/1.json"), r#"{"path":{"root":"/srv/demo/lantern"}}"#);
    write(folder.path(), &legacy("info/ses_legacy.json"), r#"{"id":"ses_legacy","title":"legacy"}"#);
    write(folder.path(), &legacy("message/ses_legacy/msg_legacy.json"), r#"{"role":"user","text":"hello"}"#);
    write(folder.path(), &legacy("info/ses_no_id.json"), "null");
    migrate(folder.path());
    assert_eq!(list(folder.path(), &["project"]), [format!("project/{LANTERN}")]);
    let session = read(folder.path(), &["session", LANTERN, "ses_legacy"]);
    assert_eq!(session.to_string(), r#"{"id":"ses_legacy","title":"legacy"}"#);
    let message = read(folder.path(), &["message", "ses_legacy", "msg_legacy"]);
    assert_eq!(message.to_string(), r#"{"role":"user","text":"hello"}"#);
    assert_eq!(read(folder.path(), &["session", LANTERN, "ses_no_id"]), Json::Null);
    assert_eq!(marker(folder.path()).as_deref(), Some("2"));
}

#[test]
fn a_failed_migration_does_not_advance_the_marker() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "project/legacy/storage/session/message/probe/0.json", "{");
    let report = migrate(folder.path());
    assert_eq!((report.from, report.to), (0, 0));
    assert!(report.failures[0].contains("probe/0.json: expected a field name at byte 1"), "{report:?}");
    assert!(list(folder.path(), &["project"]).is_empty());
    assert_eq!(marker(folder.path()), None);
}

#[test]
fn a_failure_stops_nothing_else_and_the_next_run_finishes() {
    let legacy = fixture("legacy");
    let damaged = "project/global/storage/session/info/ses_74d3fc1ffffeKKpJbRHEDUulNp.json";
    let intact = fs::read_to_string(legacy.path().join(damaged)).unwrap();
    write(legacy.path(), damaged, "");
    let report = migrate(legacy.path());
    assert_eq!((report.to, report.failures.len()), (0, 1));
    assert_eq!(list(legacy.path(), &["session", LANTERN]).len(), 3);
    // Meanwhile the user renames a session that was migrated (DS-058).
    let store = DocumentStore::open(legacy.path()).unwrap();
    let renamed = Key::new(["session", LANTERN, "ses_761d931ffffeZmJJiUtXtWCWWL"]).unwrap();
    let rename = |session: &mut Json| -> io::Result<()> {
        session.set("title", Json::from("Renamed"));
        Ok(())
    };
    store.update(&renamed, rename).unwrap();
    write(legacy.path(), damaged, &intact);
    let second = migrate(legacy.path());
    assert_eq!((second.to, second.kept.as_slice()), (2, &[renamed.joined()][..]));
    assert_eq!(store.read(&renamed).unwrap().text(&["title"]).unwrap(), "Renamed");
    assert_eq!(list(legacy.path(), &["session", "global"]).len(), 1);
}

#[test]
fn a_half_written_target_is_written_again() {
    let legacy = fixture("legacy");
    let half = format!("storage/session/{LANTERN}/ses_761d931ffffeZmJJiUtXtWCWWL.json");
    write(legacy.path(), &half, "{\"id\": \"ses_761d");
    migrate(legacy.path());
    let expected = fixture("migrated-legacy");
    assert_eq!(fs::read(legacy.path().join(&half)).unwrap(), fs::read(expected.path().join(&half)).unwrap());
    assert!(legacy.path().join("storage/.logkeep/quarantine/1/document").is_file());
}

#[test]
fn two_projects_with_one_root_commit_merge() {
    let legacy = fixture("legacy");
    fs::rename(legacy.path().join("project/srv-demo-gone"), legacy.path().join("project/other-clone"))
        .unwrap();
    let clone = MigrationOptions {
        worktrees: HashMap::from([("other-clone".to_owned(), "/srv/demo/lantern".to_owned())]),
        ..options()
    };
    DocumentStore::open(legacy.path()).unwrap().migrate(&clone).unwrap();
    assert_eq!(list(legacy.path(), &["session", LANTERN]).len(), 4);
}

#[test]
fn an_unreachable_git_is_a_failure_and_no_guess() {
    let legacy = fixture("legacy");
    let tree = tempfile::tempdir().unwrap();
    let fails: &dyn Fn(&Path) -> io::Result<Option<String>> = &|_| Err(io::Error::other("no git here"));
    let broken = MigrationOptions {
        worktrees: HashMap::from([("srv-demo-gone".to_owned(), tree.path().to_string_lossy().into_owned())]),
        root_commit: fails,
        ..options()
    };
    let report = DocumentStore::open(legacy.path()).unwrap().migrate(&broken).unwrap();
    assert_eq!((report.to, report.failures.len()), (0, 1));
    assert!(report.failures[0].starts_with("project/srv-demo-gone"), "{report:?}");
    assert!(report.failures[0].ends_with("no git here"), "{report:?}");
}

#[test]
fn sessions_of_another_form_are_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let other = [
        ("no_project", r#"{"id":"a","summary":{"diffs":[]}}"#),
        ("no_numbers", r#"{"id":"a","projectID":"p","summary":{"diffs":[{"additions":"2","deletions":1}]}}"#),
        ("no_diffs", r#"{"id":"a","projectID":"p","summary":{"additions":1}}"#),
    ];
    for (name, text) in other {
        write(folder.path(), &format!("storage/session/p/{name}.json"), text);
    }
    let empty = r#"{"id":"e","projectID":"p","summary":{"diffs":[],"files":3},"title":"t"}"#;
    write(folder.path(), "storage/session/p/e.json", empty);
    migrate(folder.path());
    for (name, text) in other {
        let stored = fs::read(folder.path().join(format!("storage/session/p/{name}.json"))).unwrap();
        assert_eq!(stored, text.as_bytes());
    }
    assert_eq!(read(folder.path(), &["session_diff", "e"]), parse(b"[]").unwrap());
    let expected = r#"{"id":"e","projectID":"p","summary":{"additions":0,"deletions":0},"title":"t"}"#;
    assert_eq!(read(folder.path(), &["session", "p", "e"]).to_string(), expected);
}

#[test]
fn an_empty_data_directory_is_marked_as_done() {
    let folder = tempfile::tempdir().unwrap();
    migrate(folder.path());
    assert_eq!(marker(folder.path()).as_deref(), Some("2"));
    write(folder.path(), "storage/migration", "99");
    let report = migrate(folder.path());
    assert_eq!((report.from, report.to), (99, 99));
    assert_eq!(marker(folder.path()).as_deref(), Some("99"));
}
