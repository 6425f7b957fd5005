//! Importing the agent's databases: any known schema, damaged, doubled, or in use.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{fixture, tree};
use logkeep_sessions::import::{ImportOptions, Report, import};
use logkeep_sessions::json::Json;
use logkeep_sessions::store::{MessageRow, PartRow, SessionLine, SessionStore, StoreError};
use rusqlite::{Connection, params};
use tempfile::TempDir;

/// The tables of the first migration.
const FIRST: &str = "
CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric, name text);
INSERT INTO __drizzle_migrations (hash, created_at, name) VALUES ('', 1769552633000, '20260127222353_familiar_lady_ursula');
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, icon_url text, icon_color text,
    time_created integer NOT NULL, time_updated integer NOT NULL, time_initialized integer, sandboxes text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer,
    summary_deletions integer, summary_files integer, summary_diffs text, revert text, permission text,
    time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE todo (session_id text NOT NULL, content text NOT NULL, status text NOT NULL, priority text NOT NULL,
    position integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, PRIMARY KEY (session_id, position));
CREATE TABLE permission (project_id text PRIMARY KEY, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE session_share (session_id text PRIMARY KEY, id text NOT NULL, secret text NOT NULL, url text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE INDEX message_session_idx ON message (session_id);
CREATE INDEX part_message_idx ON part (message_id);";

/// What the last known migration adds, and the accounts in between.
const LAST: &str = "
INSERT INTO __drizzle_migrations (hash, created_at, name) VALUES ('', 1774309702000, '20260323234822_events');
ALTER TABLE project ADD commands text;
ALTER TABLE session ADD workspace_id text;
CREATE TABLE workspace (id text PRIMARY KEY, branch text, project_id text NOT NULL, type text NOT NULL, name text,
    directory text, extra text);
CREATE TABLE account (id text PRIMARY KEY, email text NOT NULL, url text NOT NULL, access_token text NOT NULL,
    refresh_token text NOT NULL, token_expiry integer, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL);
CREATE TABLE event (id text PRIMARY KEY, aggregate_id text NOT NULL, seq integer NOT NULL, type text NOT NULL, data text NOT NULL);";

/// A source directory and a store.
struct Place {
    source: TempDir,
    data: TempDir,
    store: SessionStore,
}

impl Place {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let store = SessionStore::open(data.path()).unwrap();
        Self { source: tempfile::tempdir().unwrap(), data, store }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.source.path().join(name)
    }

    fn database(&self, name: &str) -> Connection {
        let connection = Connection::open(self.file(name)).unwrap();
        connection.execute_batch(FIRST).unwrap();
        connection
    }

    fn import(&mut self) -> Report {
        let before = tree(self.source.path());
        let scratch = self.data.path().join("import");
        let options = ImportOptions { dry_run: false, diffs: true, limit: 1 << 20, scratch: scratch.clone() };
        let report = import(self.source.path(), &mut self.store, &options, &mut |_| {}).unwrap();
        assert_eq!(tree(self.source.path()), before, "the source was changed");
        assert!(!scratch.exists());
        report
    }

    fn lines(&self) -> Vec<SessionLine> {
        self.store.list(None).unwrap()
    }
}

fn add_session(connection: &Connection, id: &str, title: &str, updated: i64) {
    connection
        .execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
             VALUES (?1, 'proj', 's', '/d', ?2, '1', 1700000000000, ?3)",
            params![id, title, updated],
        )
        .unwrap();
}

fn add_message(connection: &Connection, session: &str, id: &str, data: &str) {
    connection
        .execute("INSERT INTO message VALUES (?1, ?2, 1700000001000, 1700000001000, ?3)", [id, session, data])
        .unwrap();
}

fn add_part(connection: &Connection, session: &str, message: &str, id: &str, data: &str) {
    connection
        .execute(
            "INSERT INTO part VALUES (?1, ?2, ?3, 1700000001000, 1700000001000, ?4)",
            [id, message, session, data],
        )
        .unwrap();
}

fn fill(connection: &Connection) {
    connection
        .execute_batch(
            r#"INSERT INTO project VALUES ('proj', '/d', 'git', NULL, NULL, NULL, 1, 2, NULL, '[]');
            INSERT INTO permission VALUES ('proj', 1, 1, '[{"permission":"bash"}]');
            INSERT INTO todo VALUES ('ses_1', 'a', 'pending', 'high', 2, 1, 1);
            INSERT INTO session_share VALUES ('ses_1', 's', 'hidden', 'https://share.example.test/s', 1, 1);"#,
        )
        .unwrap();
    add_session(connection, "ses_1", "One", 1_700_000_002_000);
    add_message(connection, "ses_1", "msg_1", r#"{"role":"user","time":{"created":1700000001000}}"#);
    add_part(connection, "ses_1", "msg_1", "prt_1", r#"{"type":"text","text":"hello"}"#);
}

fn found(report: &Report, place: &str, reason: &str) -> bool {
    report.findings.iter().any(|finding| finding.place.contains(place) && finding.reason.contains(reason))
}

#[test]
fn every_known_schema_gives_the_same() {
    let mut logs = Vec::new();
    for more in ["", LAST] {
        let mut place = Place::new();
        let connection = place.database("opencode.db");
        fill(&connection);
        connection.execute_batch(more).unwrap();
        drop(connection);
        let counts = place.import().counts;
        assert_eq!((counts.projects, counts.sessions, counts.messages, counts.parts), (1, 1, 1, 1));
        assert_eq!((counts.todos, counts.permissions, counts.shares), (1, 1, 1));
        assert_eq!(place.import().counts.events, 0);
        let mut log = Vec::new();
        let collect = |event: logkeep_sessions::store::LoggedEvent| {
            log.push(event.to_json().to_string());
            Ok::<_, StoreError>(())
        };
        place.store.each_event("ses_1", collect).unwrap();
        logs.push(log);
    }
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0].len(), 3);
}

#[test]
fn a_row_gives_the_session_it_was_made_from() {
    let mut place = Place::new();
    let connection = place.database("opencode.db");
    fill(&connection);
    connection.execute_batch(LAST).unwrap();
    connection
        .execute_batch(
            r#"UPDATE session SET parent_id = 'ses_0', share_url = 'u', summary_files = 3, workspace_id = 'wrk_1',
            summary_diffs = '[{"file":"a"}]', revert = '{"messageID":"m"}', permission = '[]', time_archived = 9"#,
        )
        .unwrap();
    drop(connection);
    place.import();
    let expected = r#"{"slug":"s","workspaceID":"wrk_1","directory":"/d","parentID":"ses_0","title":"One","version":"1","#
        .to_owned()
        + r#""summary":{"files":3,"additions":0,"deletions":0,"diffs":[{"file":"a"}]},"share":{"url":"u"},"#
        + r#""revert":{"messageID":"m"},"permission":[],"#
        + r#""time":{"created":1700000000000,"updated":1700000002000,"archived":9},"id":"ses_1","projectID":"proj"}"#;
    assert_eq!(place.store.session("ses_1").unwrap().unwrap().to_string(), expected);
    assert_eq!(place.lines()[0].archived, Some(9));
}

#[test]
fn of_two_databases_the_later_row_counts() {
    let mut place = Place::new();
    let (plain, channel) = (place.database("opencode.db"), place.database("opencode-dev.db"));
    fill(&plain);
    add_session(&plain, "ses_2", "Two", 5);
    fill(&channel);
    channel.execute("UPDATE session SET title = 'Later', time_updated = time_updated + 1", []).unwrap();
    add_session(&channel, "ses_2", "Two in the channel", 5);
    add_message(&plain, "ses_1", "msg_only_here", r#"{"role":"user"}"#);
    drop((plain, channel));
    let report = place.import();
    let titles: Vec<String> = place.lines().into_iter().map(|line| line.title).collect();
    assert_eq!(titles, ["Later", "Two"]);
    assert!(found(&report, "opencode.db: session ses_1", "is taken from opencode-dev.db"), "{report:?}");
    assert!(found(&report, "opencode.db: message msg_only_here", "lacks this"), "{report:?}");
    assert!(!found(&report, "message msg_1", ""), "{report:?}");
    assert_eq!(place.import().counts.events, 0);
}

#[test]
fn a_newer_database_is_named_and_documents_beside_it_are_taken() {
    let mut place = Place::new();
    let connection = place.database("opencode.db");
    fill(&connection);
    connection
        .execute_batch("INSERT INTO __drizzle_migrations (hash, created_at, name) VALUES ('', 1861920000000, '2029_far')")
        .unwrap();
    drop(connection);
    let report = place.import();
    assert!(report.is_failure());
    assert!(found(&report, "opencode.db", "is newer than this program understands: its migration 2029_far"));
    assert!(place.lines().is_empty());
    fs::rename(fixture("storage-marker-2").path().join("storage"), place.file("storage")).unwrap();
    let report = place.import();
    assert!(!report.is_failure());
    assert_eq!((report.counts.sessions, place.lines().len()), (6, 6));
}

#[test]
fn what_is_no_database_is_named() {
    for content in [&b""[..], b"not a database", &[0; 4096]] {
        let mut place = Place::new();
        fs::write(place.file("opencode.db"), content).unwrap();
        let report = place.import();
        assert!(report.is_failure() && found(&report, "opencode.db", "is no SQLite database"), "{report:?}");
    }
}

#[test]
fn a_database_damaged_in_the_middle_ends_in_a_report() {
    let mut place = Place::new();
    let connection = place.database("opencode.db");
    fill(&connection);
    for number in 0..200 {
        let session = format!("ses_x{number}");
        add_session(&connection, &session, "X", 1);
        add_message(
            &connection,
            &session,
            &format!("msg_x{number}"),
            &format!(r#"{{"role":"{}"}}"#, "r".repeat(900)),
        );
    }
    drop(connection);
    let mut content = fs::read(place.file("opencode.db")).unwrap();
    let (from, to) = (content.len() / 2, content.len() / 2 + 3 * 4096);
    content[from..to].fill(0xaa);
    fs::write(place.file("opencode.db"), content).unwrap();
    let report = place.import();
    assert!(!report.findings.is_empty());
    assert!(report.findings.iter().all(|finding| !finding.reason.is_empty()));
    assert_eq!(place.import().counts.events, 0);
}

#[test]
fn a_damaged_row_is_named_and_hides_nothing() {
    let mut place = Place::new();
    let connection = place.database("opencode.db");
    fill(&connection);
    add_message(&connection, "ses_1", "msg_cut", "{\"role\":");
    add_part(&connection, "ses_1", "msg_cut", "prt_of_cut", r#"{"type":"tool"}"#);
    add_message(&connection, "ses_1", "msg_empty", "");
    add_part(&connection, "ses_1", "msg_1", "prt_list", "[1]");
    add_message(&connection, "ses_gone", "msg_orphan", "{}");
    add_part(&connection, "ses_gone", "msg_orphan", "prt_orphan", "{}");
    add_part(&connection, "ses_1", "msg_nowhere", "prt_nowhere", "{}");
    drop(connection);
    let report = place.import();
    assert_eq!((report.counts.messages, report.counts.parts), (2, 2), "{report:?}");
    for (place, reason) in [
        ("message msg_cut", "rebuilt from its parts"),
        ("message msg_empty", "empty document"),
        ("part prt_list", "is no object"),
        ("message msg_orphan", "session ses_gone is missing"),
        ("part prt_orphan", "missing"),
        ("part prt_nowhere", "message msg_nowhere is missing"),
    ] {
        assert!(found(&report, place, reason), "{place}: {report:?}");
    }
    assert_eq!(report.findings.len(), 6);
}

#[test]
fn a_large_row_is_shortened_and_named() {
    let mut place = Place::new();
    let connection = place.database("opencode.db");
    fill(&connection);
    let long = "y".repeat(3 << 20);
    add_part(&connection, "ses_1", "msg_1", "prt_large", &format!(r#"{{"type":"text","text":"{long}"}}"#));
    drop(connection);
    let report = place.import();
    assert_eq!(report.counts.parts, 2);
    assert!(found(&report, "part prt_large", "long strings shortened"), "{report:?}");
    let mut kept = 0;
    let visit = |_: MessageRow, parts: Vec<PartRow>| {
        kept = parts.iter().map(|part| part.part.text(&["text"]).unwrap().len()).max().unwrap();
        Ok::<_, StoreError>(())
    };
    place.store.each_message("ses_1", visit).unwrap();
    assert_eq!(kept, 4096);
}

#[test]
fn a_database_in_use_is_read_with_its_log() {
    let mut place = Place::new();
    let writer = place.database("opencode.db");
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    fill(&writer);
    assert!(fs::metadata(place.file("opencode.db-wal")).unwrap().len() > 0);
    assert_eq!(place.import().counts.sessions, 1);
    writer.execute("UPDATE session SET title = 'Renamed', time_updated = time_updated + 1", []).unwrap();
    assert_eq!(place.import().counts.events, 1);
    assert_eq!(place.lines()[0].title, "Renamed");
    drop(writer);
    assert!(!place.file("opencode.db-wal").exists());
    assert_eq!(place.import().counts.events, 0);
}

#[test]
fn a_transaction_that_was_cut_off_is_rolled_back_in_a_copy() {
    let mut place = Place::new();
    let writer = place.database("whole.db");
    fill(&writer);
    writer.execute_batch("PRAGMA cache_size = 1; BEGIN").unwrap();
    writer.execute("UPDATE session SET title = 'Half'", []).unwrap();
    for number in 0..500 {
        add_session(&writer, &format!("ses_half{number}"), &"h".repeat(500), 1);
    }
    let (database, journal) = (place.file("whole.db"), place.file("whole.db-journal"));
    assert!(fs::metadata(&journal).unwrap().len() > 0);
    fs::copy(&database, place.file("opencode.db")).unwrap();
    fs::copy(&journal, place.file("opencode.db-journal")).unwrap();
    drop(writer);
    fs::remove_file(database).unwrap();
    place.import();
    let titles: Vec<String> = place.lines().into_iter().map(|line| line.title).collect();
    assert_eq!(titles, ["One"]);
}

#[test]
fn credentials_stay_where_they_are() {
    let mut place = Place::new();
    let connection = place.database("opencode.db");
    fill(&connection);
    connection.execute_batch(LAST).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection
        .execute("INSERT INTO account VALUES ('a', 'e', 'u', 'token-canary', 'token-canary', 1, 1, 1)", [])
        .unwrap();
    fs::write(place.file("auth.json"), r#"{"key":"token-canary"}"#).unwrap();
    assert_eq!(place.import().counts.sessions, 1);
    drop(connection);
    for (name, content) in tree(place.data.path()) {
        let holds = content.windows(12).any(|window| window == b"token-canary");
        assert!(!holds, "{name} holds a credential");
    }
}

fn log_event(connection: &Connection, seq: i64, type_name: &str, data: &str) {
    connection
        .execute(
            "INSERT INTO event VALUES (?1, 'ses_1', ?2, ?3, ?4)",
            params![format!("evt_{seq}"), seq, type_name, data],
        )
        .unwrap();
}

/// A database whose log tells exactly its rows.
fn with_log(place: &Place) -> Connection {
    let connection = place.database("opencode.db");
    fill(&connection);
    connection.execute_batch(LAST).unwrap();
    connection.execute("INSERT INTO event_sequence VALUES ('ses_1', 2)", []).unwrap();
    log_event(
        &connection,
        0,
        "session.created.1",
        r#"{"sessionID":"ses_1","info":{"title":"One","directory":"/d"}}"#,
    );
    let message =
        r#"{"sessionID":"ses_1","info":{"id":"msg_1","time":{"created":1700000001000},"role":"user"}}"#;
    log_event(&connection, 1, "message.updated.1", message);
    let part = r#"{"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","type":"text","text":"hello"},"time":1}"#;
    log_event(&connection, 2, "message.part.updated.1", part);
    connection
}

#[test]
fn a_log_that_tells_its_rows_is_not_mentioned() {
    let mut place = Place::new();
    drop(with_log(&place));
    assert_eq!(place.import().findings, []);
}

#[test]
fn every_fault_of_a_log_is_told_and_rows_count() {
    for (change, reason) in [
        ("DELETE FROM event WHERE seq = 1", "sequence numbers 1 are missing"),
        ("DELETE FROM event WHERE seq = 0", "it begins at sequence number 1"),
        ("DELETE FROM event", "keeps no log"),
        ("UPDATE event SET seq = 0", "all of its 3 events carry sequence number 0"),
        ("UPDATE event SET seq = 1 WHERE seq = 2", "sequence numbers 1 occur twice"),
        (
            "UPDATE event SET type = 'session.mood.1' WHERE seq = 2",
            "types that are not understood: session.mood.1",
        ),
        ("UPDATE event SET type = 'message.updated.1' WHERE seq = 0", "it begins with message.updated.1"),
        ("UPDATE event_sequence SET seq = 9", "its last sequence number is 2, but 9 is recorded"),
        ("UPDATE event SET data = replace(data, 'hello', 'other') WHERE seq = 2", "disagree about prt_1"),
        ("UPDATE event SET data = replace(data, 'One', 'Uno') WHERE seq = 0", "disagree about title"),
        ("UPDATE event SET data = '{' WHERE seq = 2", "damaged at event evt_2"),
        ("DELETE FROM part", "disagree about prt_1"),
    ] {
        let mut place = Place::new();
        let connection = with_log(&place);
        connection.execute_batch(change).unwrap();
        drop(connection);
        let report = place.import();
        assert!(found(&report, "opencode.db", reason), "{change}: {report:?}");
        let line = &place.lines()[0];
        let parts = i64::from(change != "DELETE FROM part");
        assert_eq!((&*line.title, line.messages, line.parts), ("One", 1, parts), "{change}");
    }
}

#[test]
fn a_session_that_is_only_in_the_log_stays_away() {
    let mut place = Place::new();
    let connection = with_log(&place);
    connection
        .execute_batch(
            "DELETE FROM session; DELETE FROM message; DELETE FROM part; DELETE FROM todo;
        DELETE FROM session_share",
        )
        .unwrap();
    drop(connection);
    let report = place.import();
    assert!(found(&report, "session ses_1", "only in the log (3 events)"), "{report:?}");
    assert!(place.lines().is_empty() && !report.is_failure());
}

#[test]
fn one_database_can_be_imported_alone() {
    let mut place = Place::new();
    fill(&place.database("opencode.db"));
    add_session(&place.database("other.db"), "ses_2", "Two", 5);
    let options = ImportOptions {
        dry_run: false,
        diffs: true,
        limit: 1 << 20,
        scratch: place.data.path().join("import"),
    };
    import(&place.file("other.db"), &mut place.store, &options, &mut |_| {}).unwrap();
    assert_eq!(place.lines().len(), 1);
}

#[test]
fn diffs_are_documents_even_beside_a_database() {
    let mut place = Place::new();
    fill(&place.database("opencode.db"));
    let storage = place.file("storage");
    common::write(&storage, "session_diff/ses_1.json", r#"[{"file":"a"}]"#);
    let report = place.import();
    assert_eq!((report.counts.diffs, report.findings.len()), (1, 0), "{report:?}");
    common::write(&storage, "todo/ses_1.json", "[]");
    common::write(&storage, "message/ses_1/msg_1.json", "{}");
    common::write(&storage, "message/ses_1/msg_extra.json", "{}");
    let report = place.import();
    assert_eq!(
        place.store.diff("ses_1").unwrap(),
        Some(Json::Array(vec![Json::object([("file", Json::from("a"))])]))
    );
    for file in ["todo/ses_1.json", "message/ses_1/msg_extra.json"] {
        assert!(found(&report, file, "set aside"), "{file}: {report:?}");
    }
    let _: &Path = place.source.path();
}
