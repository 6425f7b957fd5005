//! Importing document trees: what the reference's own import promises, made whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;

use common::{fixture, tree, write};
use logkeep_sessions::import::{Counts, ImportError, ImportOptions, Report, import};
use logkeep_sessions::json::Json;
use logkeep_sessions::store::SessionStore;
use tempfile::TempDir;

/// A source with one project, and an empty store.
struct Place {
    source: TempDir,
    store: SessionStore,
    data: TempDir,
}

impl Place {
    fn empty() -> Self {
        let data = tempfile::tempdir().unwrap();
        let store = SessionStore::open(data.path()).unwrap();
        Self { source: tempfile::tempdir().unwrap(), store, data }
    }

    fn with_project() -> Self {
        let place = Self::empty();
        place.storage("project/proj_1.json", r#"{"id":"proj_1","worktree":"/test/path","sandboxes":[]}"#);
        place
    }

    fn with_session() -> Self {
        let place = Self::with_project();
        place.storage("session/proj_1/ses_1.json", SESSION);
        place
    }

    fn storage(&self, file: &str, text: &str) {
        write(&self.source.path().join("storage"), file, text);
    }

    fn import(&mut self) -> Report {
        run(self.source.path(), &mut self.store, self.data.path(), false)
    }

    fn session(&self, id: &str) -> Json {
        self.store.session(id).unwrap().unwrap()
    }
}

const SESSION: &str = r#"{"id":"ses_1","slug":"s","projectID":"proj_1","directory":"/d","title":"T","version":"1",
    "time":{"created":1700000000000,"updated":1700000001000}}"#;

fn run(source: &Path, store: &mut SessionStore, data: &Path, dry_run: bool) -> Report {
    let options = ImportOptions { dry_run, diffs: true, limit: 1 << 20, scratch: data.join("import") };
    import(source, store, &options, &mut |_| {}).unwrap()
}

fn found(report: &Report, place: &str) -> bool {
    report.findings.iter().any(|finding| finding.place.contains(place))
}

/// The whole content of a store: the lines of its list and every log.
fn everything(store: &SessionStore) -> Vec<String> {
    let mut lines = Vec::new();
    for session in store.list(None).unwrap() {
        lines.push(format!("{session:?}"));
        let log = |event: logkeep_sessions::store::LoggedEvent| {
            lines.push(event.to_json().to_string());
            Ok::<_, logkeep_sessions::store::StoreError>(())
        };
        store.each_event(&session.id, log).unwrap();
    }
    lines
}

#[test]
fn the_samples_are_imported_completely_and_once() {
    let expected = [
        (
            "legacy",
            Counts {
                projects: 2,
                sessions: 6,
                messages: 11,
                parts: 22,
                shares: 1,
                events: 39,
                ..Counts::default()
            },
        ),
        (
            "storage-marker-1",
            Counts { projects: 1, sessions: 5, messages: 8, parts: 22, events: 35, ..Counts::default() },
        ),
        (
            "storage-marker-2",
            Counts {
                projects: 2,
                sessions: 6,
                messages: 9,
                parts: 23,
                todos: 3,
                permissions: 1,
                shares: 1,
                diffs: 2,
                events: 38,
            },
        ),
    ];
    for (name, counts) in expected {
        let source = fixture(name);
        let before = tree(source.path());
        let (data, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut store = SessionStore::open(data.path()).unwrap();
        assert_eq!(run(source.path(), &mut store, data.path(), false).counts, counts, "{name}");
        let first = everything(&store);
        let again = run(source.path(), &mut store, data.path(), false);
        assert_eq!(again.counts, Counts { events: 0, ..counts }, "{name}");
        assert_eq!(everything(&store), first);
        assert_eq!(tree(source.path()), before, "the source was changed");
        // Another machine, another place: the same events, ids included.
        let mut other = SessionStore::open(elsewhere.path()).unwrap();
        run(fixture(name).path(), &mut other, elsewhere.path(), false);
        assert_eq!(everything(&other), first);
    }
}

#[test]
fn legacy_orphans_are_named() {
    let mut store = SessionStore::temporary().unwrap();
    let source = fixture("legacy");
    let report = run(source.path(), &mut store, source.path(), false);
    assert!(found(&report, "message/ses_752661dffffep50Pzp6KUtEoaA/msg_8ad99e200001FncOGyXc1xi4tL.json"));
    assert!(found(&report, "msg_8ad99e200001FncOGyXc1xi4tL/prt_8ad99e200001FCLbuCImfDN9FE.json"));
    assert_eq!(report.findings.len(), 3, "{report:?}");
}

#[test]
fn legacy_and_migrated_documents_together_are_one() {
    let source = fixture("legacy");
    let migrated = fixture("migrated-legacy");
    fs::rename(migrated.path().join("storage"), source.path().join("storage")).unwrap();
    // The migration of the original was cut off: this session's messages are in the old place only.
    fs::remove_dir_all(source.path().join("storage/message/ses_761d931ffffeZmJJiUtXtWCWWL")).unwrap();
    let mut store = SessionStore::temporary().unwrap();
    let report = run(source.path(), &mut store, source.path(), false);
    let Counts { sessions, messages, parts, .. } = report.counts;
    assert_eq!((sessions, messages, parts), (6, 11, 22), "{report:?}");
}

#[test]
fn ids_come_from_names_and_folders() {
    let mut place = Place::with_project();
    place.storage(
        "session/proj_1/ses_name.json",
        &SESSION.replace("ses_1", "ses_body").replace("proj_1", "stale"),
    );
    place.storage(
        "message/ses_name/msg_name.json",
        r#"{"id":"msg_body","sessionID":"ses_body","role":"user"}"#,
    );
    place.storage(
        "part/msg_name/prt_name.json",
        r#"{"id":"x","messageID":"y","sessionID":"z","type":"text"}"#,
    );
    let report = place.import();
    assert_eq!(report.counts.parts, 1, "{report:?}");
    let session = place.session("ses_name");
    assert_eq!(session.text(&["id"]).unwrap(), "ses_name");
    assert_eq!(session.text(&["projectID"]).unwrap(), "proj_1");
    let visit = |message: logkeep_sessions::store::MessageRow,
                 parts: Vec<logkeep_sessions::store::PartRow>| {
        assert_eq!(message.info.text(&["id"]).unwrap(), "msg_name");
        let part = &parts[0].part;
        assert_eq!(part.text(&["id"]).unwrap(), "prt_name");
        assert_eq!(part.text(&["messageID"]).unwrap(), "msg_name");
        assert_eq!(part.text(&["sessionID"]).unwrap(), "ses_name");
        Ok::<_, logkeep_sessions::store::StoreError>(())
    };
    place.store.each_message("ses_name", visit).unwrap();
}

#[test]
fn documents_without_ids_are_taken() {
    let mut place = Place::with_session();
    place.storage("message/ses_1/msg_1.json", r#"{"role":"user","time":{"created":1700000000000}}"#);
    place.storage("part/msg_1/part_ok.json", r#"{"type":"text","text":"Hello"}"#);
    let counts = place.import().counts;
    assert_eq!((counts.sessions, counts.messages, counts.parts), (1, 1, 1));
}

#[test]
fn a_session_without_its_project_is_taken() {
    let mut place = Place::empty();
    place.storage("session/proj_gone/ses_1.json", SESSION);
    assert_eq!(place.import().counts.sessions, 1);
    assert_eq!(place.session("ses_1").text(&["projectID"]).unwrap(), "proj_gone");
}

#[test]
fn missing_and_wrong_fields_do_not_stop_a_session() {
    let mut place = Place::with_project();
    place.storage(
        "session/proj_1/ses_1.json",
        r#"{"title":5,"time":"yesterday","share":{"x":1},"later":{"a":1}}"#,
    );
    place.storage(
        "message/ses_1/msg_1.json",
        r#"{"role":"assistant","time":{"created":1700000000000},"path":{"root":"/r"}}"#,
    );
    let report = place.import();
    let session = place.session("ses_1");
    assert_eq!(session.text(&["title"]).unwrap(), "");
    assert_eq!(session.text(&["directory"]).unwrap(), "/test/path");
    assert_eq!(session.integer(&["time", "created"]), Some(1_700_000_000_000));
    assert_eq!(session.get(&["later", "a"]), Some(&Json::from(1)), "unknown fields stay");
    assert!(session.get(&["share"]).is_none());
    let reasons: Vec<&str> = report.findings.iter().map(|finding| &*finding.reason).collect();
    assert_eq!(
        reasons,
        [
            "field title cannot be a number",
            "field share cannot be an object of this form",
            "field time cannot be a string"
        ]
    );
}

#[test]
fn todos_keep_their_places() {
    let mut place = Place::with_session();
    place.storage(
        "todo/ses_1.json",
        r#"[{"content":"a","status":"pending","priority":"high"},{"content":"b","priority":"low"},
            {"content":"c","status":"completed","priority":"high","id":"7"}]"#,
    );
    let report = place.import();
    assert_eq!(report.counts.todos, 2);
    assert!(report.findings[0].reason.starts_with("entry 1 lacks"));
    let todos = place.store.todos("ses_1").unwrap();
    assert_eq!(todos[1].text(&["id"]).unwrap(), "7");
}

#[test]
fn what_belongs_to_nothing_is_named() {
    let mut place = Place::with_session();
    let complete = r#"[{"content":"a","status":"pending","priority":"high"}]"#;
    let share = r#"{"id":"s","secret":"x","url":"https://share.example.test/s"}"#;
    for session in ["ses_1", "ses_missing"] {
        place.storage(&format!("todo/{session}.json"), complete);
        place.storage(&format!("session_share/{session}.json"), share);
    }
    for project in ["proj_1", "proj_missing"] {
        place.storage(&format!("permission/{project}.json"), "[]");
    }
    place.storage("part/msg_missing/prt_1.json", "{}");
    let report = place.import();
    let counts = report.counts;
    assert_eq!((counts.todos, counts.permissions, counts.shares, counts.parts), (1, 1, 1, 0));
    for place in
        ["todo/ses_missing", "session_share/ses_missing", "permission/proj_missing", "msg_missing/prt_1"]
    {
        assert!(found(&report, place), "{place}: {report:?}");
    }
    assert_eq!(report.findings.len(), 4);
}

#[test]
fn one_damaged_document_of_each_kind_hides_nothing() {
    let mut place = Place::with_session();
    place.storage("project/proj_broken.json", "{ nope");
    place.storage("session/proj_1/ses_2.json", SESSION);
    place.storage("session/proj_1/ses_broken.json", "{ nope");
    place.storage("message/ses_1/msg_ok.json", r#"{"role":"user","time":{"created":1700000000000}}"#);
    place.storage("message/ses_1/msg_broken.json", "{ nope");
    place.storage("part/msg_ok/prt_ok.json", r#"{"type":"text","text":"ok"}"#);
    place.storage("part/msg_ok/prt_broken.json", "{ nope");
    for folder in ["todo", "session_share", "session_diff"] {
        place.storage(&format!("{folder}/ses_1.json"), "{ nope");
    }
    place.storage("permission/proj_1.json", "{ nope");
    let report = place.import();
    let counts = report.counts;
    assert_eq!((counts.projects, counts.sessions, counts.messages, counts.parts), (1, 2, 1, 1));
    let broken =
        ["proj_broken", "ses_broken", "msg_broken", "prt_broken", "todo/", "share/", "diff/", "permission/"];
    for place in broken {
        assert!(found(&report, place), "{place}: {report:?}");
    }
}

#[test]
fn a_damaged_message_is_rebuilt_from_its_parts() {
    let mut place = Place::with_session();
    place.storage("message/ses_1/msg_1.json", "");
    place.storage("part/msg_1/prt_1.json", r#"{"type":"step-start"}"#);
    place.storage("part/msg_1/prt_2.json", r#"{"type":"text","text":"x"}"#);
    let report = place.import();
    assert_eq!((report.counts.messages, report.counts.parts), (1, 2));
    assert!(report.findings[0].reason.ends_with("rebuilt from its parts"), "{report:?}");
    // Once it is mended, the message changes and nothing is doubled.
    place.storage("message/ses_1/msg_1.json", r#"{"role":"assistant","cost":1}"#);
    let report = place.import();
    assert_eq!((report.counts.messages, report.counts.parts, report.counts.events), (1, 2, 1));
}

#[test]
fn a_session_is_rebuilt_where_messages_tell_its_directory() {
    let mut place = Place::with_project();
    place.storage("message/ses_1/msg_1.json", r#"{"role":"user","time":{"created":1700000000000}}"#);
    place.storage(
        "message/ses_1/msg_2.json",
        r#"{"role":"assistant","time":{"created":1700000001000},"path":{"root":"/","cwd":"/c"}}"#,
    );
    let report = place.import();
    assert_eq!((report.counts.sessions, report.counts.messages), (1, 2));
    assert!(found(&report, "ses_1"));
    let line = &place.store.list(Some("/c")).unwrap()[0];
    assert_eq!((line.created, line.updated), (1_700_000_000_000, 1_700_000_001_000));
}

#[test]
fn a_later_import_adds_what_is_new() {
    let mut place = Place::with_session();
    place.storage("message/ses_1/msg_1.json", r#"{"role":"user","time":{"created":1700000000000}}"#);
    assert_eq!(place.import().counts.events, 2);
    let renamed = SESSION.replace("\"T\"", "\"New\"").replace("1700000001000", "1700000002000");
    place.storage("session/proj_1/ses_1.json", &renamed);
    place.storage("message/ses_1/msg_2.json", r#"{"role":"user","time":{"created":1700000002000}}"#);
    assert_eq!(place.import().counts.events, 2);
    let line = &place.store.list(None).unwrap()[0];
    assert_eq!((&*line.title, line.messages, line.updated), ("New", 2, 1_700_000_002_000));
    let log = everything(&place.store);
    assert!(
        log[3].contains(
            r#""data":{"sessionID":"ses_1","info":{"title":"New","time":{"updated":1700000002000}}}"#
        ),
        "{log:#?}"
    );
    // What is gone from the source is kept.
    fs::remove_file(place.source.path().join("storage/message/ses_1/msg_1.json")).unwrap();
    assert_eq!(place.import().counts.events, 0);
    assert_eq!(place.store.list(None).unwrap()[0].messages, 2);
}

#[test]
fn what_was_imported_outlives_damage_in_the_source() {
    let mut place = Place::with_session();
    place.storage("message/ses_1/msg_1.json", r#"{"role":"user","time":{"created":5},"path":{"root":"/r"}}"#);
    place.storage("message/ses_1/msg_2.json", r#"{"role":"assistant","time":{"created":6}}"#);
    place.storage("part/msg_2/prt_1.json", r#"{"type":"text","text":"x"}"#);
    assert_eq!(place.import().counts.events, 4);
    let before = everything(&place.store);
    for file in ["session/proj_1/ses_1.json", "message/ses_1/msg_2.json", "part/msg_2/prt_1.json"] {
        place.storage(file, "");
        let report = place.import();
        assert!(found(&report, file), "{report:?}");
        assert_eq!(everything(&place.store), before);
    }
    fs::remove_dir_all(place.source.path().join("storage/session")).unwrap();
    place.import();
    assert_eq!(everything(&place.store), before);
}

#[test]
fn a_dry_run_tells_the_same_and_changes_nothing() {
    let source = fixture("storage-marker-2");
    let data = tempfile::tempdir().unwrap();
    let mut store = SessionStore::open(data.path()).unwrap();
    let dry = run(source.path(), &mut store, data.path(), true);
    assert!(everything(&store).is_empty());
    let real = run(source.path(), &mut store, data.path(), false);
    assert_eq!((dry.counts, dry.findings), (real.counts, real.findings));
}

#[test]
fn a_large_document_is_shortened_and_named() {
    let mut place = Place::with_session();
    let long = "x".repeat(3 << 20);
    place.storage("message/ses_1/msg_1.json", &format!(r#"{{"role":"user","long":"{long}","short":"s"}}"#));
    place.storage("part/msg_1/prt_1.json", &format!(r#"{{"type":"text","text":"{long}"}}"#));
    place.storage("session_diff/ses_1.json", &format!(r#"[{{"before":"{long}"}}]"#));
    let report = place.import();
    assert_eq!((report.counts.messages, report.counts.parts, report.counts.diffs), (1, 1, 0));
    for place in ["msg_1.json", "prt_1.json", "session_diff/ses_1.json"] {
        assert!(found(&report, place), "{place}: {report:?}");
    }
    assert_eq!(place.import().counts.events, 0);
}

#[test]
fn one_message_in_two_sessions_is_taken_once() {
    let mut place = Place::with_session();
    place.storage("session/proj_1/ses_0.json", &SESSION.replace("ses_1", "ses_0"));
    let message = r#"{"sessionID":"ses_1","role":"user","time":{"created":1700000000000}}"#;
    for session in ["ses_0", "ses_1"] {
        place.storage(&format!("message/{session}/msg_1.json"), message);
    }
    place.storage("part/msg_1/prt_1.json", r#"{"type":"text"}"#);
    place.storage("part/msg_2/prt_1.json", r#"{"type":"text"}"#);
    place.storage("message/ses_1/msg_2.json", r#"{"role":"user","time":{"created":1700000001000}}"#);
    let report = place.import();
    assert_eq!((report.counts.messages, report.counts.parts), (2, 1), "{report:?}");
    assert!(found(&report, "ses_0/msg_1.json") && found(&report, "msg_2/prt_1.json"), "{report:?}");
    let lines = place.store.list(None).unwrap();
    assert_eq!(lines.iter().map(|line| line.messages).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn a_source_may_be_empty_but_not_missing() {
    let mut place = Place::empty();
    let report = place.import();
    assert_eq!((report.counts, report.is_failure()), (Counts::default(), false));
    let options =
        ImportOptions { dry_run: false, diffs: true, limit: 1, scratch: place.data.path().join("x") };
    let missing = import(&place.source.path().join("nowhere"), &mut place.store, &options, &mut |_| {});
    assert!(matches!(missing, Err(ImportError::Source { .. })));
}

#[test]
fn the_folder_of_documents_stands_for_the_data_directory() {
    let mut place = Place::with_session();
    let storage = place.source.path().join("storage");
    let report = run(&storage, &mut place.store, place.data.path(), false);
    assert_eq!(report.counts.sessions, 1);
}

#[test]
fn messages_of_the_first_form_become_messages_and_parts() {
    let mut place = Place::empty();
    let session = |file: &str| format!("project/srv-old/storage/session/{file}");
    write(
        place.source.path(),
        &session("info/ses_1.json"),
        r#"{"id":"ses_1","title":"Old","time":{"created":1,"updated":2}}"#,
    );
    let message = r#"{"id":"msg_1","role":"assistant","parts":[{"type":"text","text":"hello"},
        {"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c1","toolName":"bash","args":{"x":1},"result":"out"}}],
        "metadata":{"time":{"created":1750000000000},"sessionID":"ses_1",
        "tool":{"c1":{"title":"Run","time":{"start":1,"end":2},"exit":0}},
        "assistant":{"modelID":"m","path":{"cwd":"/old/here","root":"/old"}}}}"#;
    write(place.source.path(), &session("message/ses_1/msg_1.json"), message);
    let second = r#"{"id":"msg_2","role":"user","time":{"created":1750000000001},
        "parts":[{"id":"prt_9","type":"text","text":"inside"},{"type":"file","mediaType":"text/plain","url":"u"}]}"#;
    write(place.source.path(), &session("message/ses_1/msg_2.json"), second);
    let report = place.import();
    assert_eq!((report.counts.messages, report.counts.parts, report.findings.len()), (2, 4, 0), "{report:?}");
    assert_eq!(place.import().counts.events, 0);
    let mut texts = Vec::new();
    let visit = |message: logkeep_sessions::store::MessageRow,
                 parts: Vec<logkeep_sessions::store::PartRow>| {
        texts.push(message.info.to_string());
        texts.extend(parts.iter().map(|part| part.part.to_string()));
        Ok::<_, logkeep_sessions::store::StoreError>(())
    };
    place.store.each_message("ses_1", visit).unwrap();
    for (text, wanted) in texts.iter().zip([
        r#""modelID":"m""#,
        r#""text":"hello""#,
        r#""tool":"bash","state":{"status":"completed","input":{"x":1},"output":"out","title":"Run","time":{"start":1,"end":2},"metadata":{"exit":0}}"#,
        r#""id":"msg_2""#,
        r#""text":"inside""#,
        r#""mime":"text/plain""#,
    ]) {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    assert_eq!(place.store.list(Some("/old")).unwrap().len(), 1);
}
