//! The database of sessions: its versions, exports, and relinking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;

use common::{fixture, write};
use logkeep_sessions::export::{ExportError, Format, export};
use logkeep_sessions::import::{ImportOptions, import};
use logkeep_sessions::json::parse;
use logkeep_sessions::store::{FILE_NAME, RelinkOptions, SessionStore, StoreError};
use rusqlite::Connection;

fn import_into(store: &mut SessionStore, source: &Path, data: &Path) {
    let options = ImportOptions { dry_run: false, diffs: true, limit: 1 << 20, scratch: data.join("import") };
    import(source, store, &options, &mut |_| {}).unwrap();
}

/// A store with the sessions of a sample.
fn filled() -> (tempfile::TempDir, SessionStore) {
    let data = tempfile::tempdir().unwrap();
    let mut store = SessionStore::open(data.path()).unwrap();
    import_into(&mut store, fixture("storage-marker-2").path(), data.path());
    (data, store)
}

fn exported(store: &SessionStore, id: &str, format: Format) -> String {
    let mut out = Vec::new();
    export(store, id, format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let data = tempfile::tempdir().unwrap();
    drop(SessionStore::open(data.path()).unwrap());
    let file = data.path().join(FILE_NAME);
    let connection = Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = std::fs::read(&file).unwrap();
    let refused = SessionStore::open(data.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 99, .. }));
    assert!(
        refused.to_string().ends_with("has schema version 99; this program understands versions up to 1")
    );
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let data = tempfile::tempdir().unwrap();
    Connection::open(data.path().join(FILE_NAME)).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    assert!(matches!(SessionStore::open(data.path()), Err(StoreError::Foreign { .. })));
    std::fs::write(data.path().join(FILE_NAME), "text").unwrap();
    assert!(matches!(SessionStore::open(data.path()), Err(StoreError::Sqlite(_))));
}

#[test]
fn a_session_is_exported_whole() {
    let (_data, store) = filled();
    let id = "ses_6c7237b7fffeHxHBntqvkZaXyE";
    let json = parse(exported(&store, id, Format::Json).as_bytes()).unwrap();
    assert_eq!(json.text(&["info", "title"]).unwrap(), "Raise the limit");
    let messages = json.array(&["messages"]).unwrap();
    let parts: usize = messages.iter().map(|message| message.array(&["parts"]).unwrap().len()).sum();
    assert_eq!((messages.len(), parts), (2, 8));
    assert_eq!(json.array(&["todos"]).unwrap().len(), 3);
    assert!(!json.array(&["diff"]).unwrap().is_empty());
    // Parts are what the documents held, ids included.
    let source = fixture("storage-marker-2");
    let part = "part/msg_938dc8548001hWZ9XI9VsMAhR4/prt_938dc8548001U3JNALnuh503wo.json";
    let part = parse(&std::fs::read(source.path().join("storage").join(part)).unwrap()).unwrap();
    assert_eq!(messages[0].array(&["parts"]).unwrap()[0].sorted(), part.sorted());
}

#[test]
fn a_log_is_exported_in_order() {
    let (_data, store) = filled();
    let log = exported(&store, "ses_6c7237b7fffeHxHBntqvkZaXyE", Format::Events);
    let events: Vec<_> = log.lines().map(|line| parse(line.as_bytes()).unwrap()).collect();
    let numbers: Vec<_> = events.iter().map(|event| event.integer(&["seq"]).unwrap()).collect();
    assert_eq!(numbers, (0..11).collect::<Vec<_>>());
    assert_eq!(events[0].text(&["type"]).unwrap(), "session.created.1");
    assert_eq!(events[1].text(&["type"]).unwrap(), "message.updated.1");
    assert_eq!(events[2].text(&["type"]).unwrap(), "message.part.updated.1");
    assert!(events.iter().all(|event| event.text(&["id"]).unwrap().len() == 30));
}

#[test]
fn markdown_reads_from_top_to_bottom() {
    let (_data, store) = filled();
    let text = exported(&store, "ses_6c7237b7fffeHxHBntqvkZaXyE", Format::Markdown);
    let places: Vec<usize> =
        ["# Raise the limit", "## User, 2025-09-11", "## Assistant, ", "Tool `", "- [x] Change the constant"]
            .iter()
            .map(|wanted| text.find(wanted).unwrap_or_else(|| panic!("{wanted} is not in\n{text}")))
            .collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn an_unknown_session_is_an_error_before_anything_is_written() {
    let (_data, store) = filled();
    let mut out = Vec::new();
    let unknown = export(&store, "ses_none", Format::Json, &mut out).unwrap_err();
    assert!(matches!(unknown, ExportError::Unknown(id) if id == "ses_none"));
    assert!(out.is_empty());
}

#[test]
fn sessions_join_the_project_of_their_directory() {
    let (source, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = source.path().join("storage");
    let file = |name: &str, text: &str| drop(write(&storage, name, text));
    file("project/old.json", r#"{"worktree":"/srv/a"}"#);
    file("project/new.json", r#"{"worktree":"/srv/a"}"#);
    file("project/inner.json", r#"{"worktree":"/srv/a/inner"}"#);
    file("project/boxed.json", r#"{"worktree":"/srv/b","sandboxes":["/var/box"]}"#);
    for (id, project, directory, updated) in [
        ("ses_1", "old", "/srv/a", 1),
        ("ses_2", "new", "/srv/a", 9),
        ("ses_3", "global", "/srv/a/sub", 3),
        ("ses_4", "old", "/srv/a/inner/x", 4),
        ("ses_5", "global", "/var/box", 5),
        ("ses_6", "gone_1", "/elsewhere", 6),
        ("ses_7", "gone_2", "/elsewhere", 7),
        ("ses_8", "global", "", 8),
    ] {
        let text = format!(r#"{{"directory":"{directory}","time":{{"created":1,"updated":{updated}}}}}"#);
        file(&format!("session/{project}/{id}.json"), &text);
    }
    let mut store = SessionStore::open(data.path()).unwrap();
    import_into(&mut store, source.path(), data.path());
    let dry = store.relink(&RelinkOptions { dry_run: true, ..Default::default() }).unwrap();
    let mut moves: Vec<_> = dry.iter().map(|moved| (&*moved.session, &*moved.from, &*moved.to)).collect();
    moves.sort_unstable();
    assert_eq!(
        moves,
        [
            ("ses_1", "old", "new"),
            ("ses_3", "global", "new"),
            ("ses_4", "old", "inner"),
            ("ses_5", "global", "boxed"),
            ("ses_6", "gone_1", "gone_2"),
        ]
    );
    assert_eq!(store.relink(&RelinkOptions::default()).unwrap(), dry);
    assert_eq!(store.relink(&RelinkOptions::default()).unwrap(), []);
    // The source still says otherwise, but it said so before.
    import_into(&mut store, source.path(), data.path());
    assert_eq!(store.relink(&RelinkOptions::default()).unwrap(), []);
    let log = exported(&store, "ses_1", Format::Events);
    assert!(log.ends_with("\"data\":{\"sessionID\":\"ses_1\",\"info\":{\"projectID\":\"new\"}}}\n"), "{log}");
    let told =
        RelinkOptions { directory: Some("/elsewhere".into()), project: Some("x".into()), dry_run: false };
    assert_eq!(store.relink(&told).unwrap().len(), 2);
}
