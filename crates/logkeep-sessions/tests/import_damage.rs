//! Every kind of damage to every document, and random damage to a database: the
//! rest is imported, what was damaged is named, and nothing panics or hangs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{fixture, tree};
use logkeep_sessions::import::{ImportOptions, Report, import};
use logkeep_sessions::store::SessionStore;
use proptest::prelude::*;
use rusqlite::Connection;

fn run(source: &Path) -> (Report, BTreeMap<String, (i64, i64)>) {
    let scratch = tempfile::tempdir().unwrap();
    let mut store = SessionStore::temporary().unwrap();
    let options =
        ImportOptions { dry_run: false, diffs: true, limit: 1 << 20, scratch: scratch.path().join("import") };
    let report = import(source, &mut store, &options, &mut |_| {}).unwrap();
    let lines = store.list(None).unwrap();
    (report, lines.into_iter().map(|line| (line.id, (line.messages, line.parts))).collect())
}

fn damaged(content: &[u8], kind: usize) -> Vec<u8> {
    match kind {
        0 => Vec::new(),
        1 => vec![0; content.len()],
        2 => content[..content.len() / 2].to_vec(),
        _ => [content, b"\xff}"].concat(),
    }
}

#[test]
fn one_damaged_document_is_named_and_takes_nothing_else_along() {
    for sample in ["legacy", "storage-marker-1", "storage-marker-2"] {
        let source = fixture(sample);
        let (_, intact) = run(source.path());
        for (name, content) in tree(source.path()) {
            // Other files are no documents of a session.
            if !name.ends_with(".json") || name.ends_with("app.json") {
                continue;
            }
            let path = source.path().join(&name);
            for kind in 0..4 {
                fs::write(&path, damaged(&content, kind)).unwrap();
                let (report, sessions) = run(source.path());
                let stem = path.file_stem().unwrap().to_str().unwrap();
                let told = report.findings.iter().any(|finding| finding.place.contains(stem));
                assert!(told, "{sample}/{name}, damage {kind}: {report:?}");
                for (id, (messages, parts)) in &intact {
                    let now = sessions.get(id).copied();
                    // A session without any message to rebuild it from may be gone, one with them not.
                    if name.contains(id.as_str()) && *messages < 2 && now.is_none() {
                        continue;
                    }
                    let (m, p) =
                        now.unwrap_or_else(|| panic!("{sample}/{name}, damage {kind}: {id} is gone"));
                    let fewer = i64::from(name.contains("/message/"));
                    assert!(m >= messages - fewer, "{sample}/{name}, damage {kind}: {id}");
                    assert!(p >= parts - 1, "{sample}/{name}, damage {kind}: {id}");
                }
            }
            fs::write(&path, &content).unwrap();
        }
    }
}

fn small_database() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("opencode.db");
    let connection = Connection::open(&file).unwrap();
    connection
        .execute_batch(
            r#"PRAGMA page_size = 512;
            CREATE TABLE session (id text PRIMARY KEY, project_id text, directory text, title text, time_created int, time_updated int);
            CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created int, data text);
            CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created int, data text);
            CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq int);
            CREATE TABLE event (id text PRIMARY KEY, aggregate_id text, seq int, type text, data text);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO session SELECT 'ses_' || i, 'p', '/d', 'T', i, i FROM n;
            INSERT INTO message SELECT 'msg_' || id, id, 1, '{"role":"user"}' FROM session;
            INSERT INTO part SELECT 'prt_' || id, id, session_id, 1, '{"type":"text","text":"some words"}' FROM message;
            INSERT INTO event SELECT 'evt_' || id, id, 0, 'session.created.1', '{"sessionID":"x","info":{}}' FROM session;"#,
        )
        .unwrap();
    drop(connection);
    fs::read(file).unwrap()
}

#[test]
fn a_database_cut_anywhere_ends_in_a_report() {
    let content = small_database();
    let folder = tempfile::tempdir().unwrap();
    for length in (0..content.len()).step_by(509) {
        fs::write(folder.path().join("opencode.db"), &content[..length]).unwrap();
        let (report, _) = run(folder.path());
        assert!(report.findings.iter().any(|finding| finding.place.starts_with("opencode.db")), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_damage_to_a_database_never_panics(
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let mut content = small_database();
        for (place, byte) in places {
            let index = place.index(content.len());
            content[index] = byte;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("opencode.db"), &content).unwrap();
        let (report, sessions) = run(folder.path());
        prop_assert!(sessions.len() == 20 || !report.findings.is_empty());
        prop_assert_eq!(fs::read(folder.path().join("opencode.db")).unwrap(), content);
    }
}
