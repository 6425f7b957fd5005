//! Import and export of effect's SQLite journal (EL-100…EL-116). The fixtures were written by
//! effect 4.1.0: a journal in use, one of an earlier version, and what effect made of that.

use std::path::{Path, PathBuf};

use logkeep::journal::{EffectError, EffectImport, EffectTables, PendingLimits};
use logkeep::rusqlite::Connection;
use logkeep::rusqlite::types::Value;
use logkeep::{EntryId, Journal, RemoteId};

use crate::common::{all, delivery, entry, journal, remote, write};

const CURRENT: &str = include_str!("../fixtures/effect-journal.sql");
const LEGACY: &str = include_str!("../fixtures/effect-journal-legacy.sql");
const MIGRATED: &str = include_str!("../fixtures/effect-journal-migrated.sql");

const REMOTE: RemoteId = RemoteId(*b"\xF6\x2A\x93\xEF\xFB\x85\x49\x9A\xA7\xAC\xD8\x9A\xF1\x3D\x11\xD1");
const ALL: PendingLimits = PendingLimits { entries: usize::MAX, payload_bytes: usize::MAX };

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn database(&self, sql: &str) -> PathBuf {
        let path = self.path("effect.sqlite");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }
}

fn import(journal: &mut Journal, path: &Path) -> Result<EffectImport, EffectError> {
    journal.import_effect(path, &EffectTables::default(), &mut |_, _| ())
}

fn export(journal: &Journal, path: &Path) {
    journal.export_effect(path, &EffectTables::default(), &mut |_, _| ()).unwrap();
}

/// Every row of every table, and the columns of every table and index.
fn contents(path: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let connection = Connection::open(path).unwrap();
    let rows = |sql: &str| -> Vec<Vec<Value>> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
        rows.unwrap().map(Result::unwrap).collect()
    };
    let mut found = Vec::new();
    for schema in rows("SELECT type, name FROM sqlite_schema ORDER BY name") {
        let [Value::Text(kind), Value::Text(name)] = &schema[..] else { panic!("{schema:?}") };
        let pragma = if kind == "table" { "table_xinfo" } else { "index_xinfo" };
        found.push((format!("{kind} {name}"), rows(&format!("SELECT * FROM pragma_{pragma}('{name}')"))));
        if kind == "table" {
            found.push((format!("rows of {name}"), rows(&format!("SELECT * FROM \"{name}\" ORDER BY 1"))));
        }
    }
    found
}

#[test]
fn a_journal_comes_back_from_an_import_and_an_export_as_it_was() {
    for sql in [CURRENT, MIGRATED] {
        let folder = Folder::new();
        let original = folder.database(sql);
        let mut journal = journal();
        let done = import(&mut journal, &original).unwrap();
        assert_eq!((done.stored, done.duplicates), (6, 0));
        let copy = folder.path("copy.sqlite");
        export(&journal, &copy);
        assert_eq!(contents(&copy), contents(&original));
    }
}

#[test]
fn an_earlier_version_is_read_as_effect_migrates_it() {
    let folder = Folder::new();
    let mut journal = journal();
    import(&mut journal, &folder.database(LEGACY)).unwrap();
    let copy = folder.path("copy.sqlite");
    export(&journal, &copy);
    assert_eq!(contents(&copy), contents(&Folder::new().database(MIGRATED)));
}

#[test]
fn progress_is_taken_over() {
    let folder = Folder::new();
    let mut journal = journal();
    let mut steps = Vec::new();
    let file = folder.database(CURRENT);
    let done =
        journal.import_effect(&file, &EffectTables::default(), &mut |done, all| steps.push((done, all)));
    assert_eq!(done.unwrap().remotes, 1);
    assert_eq!(steps, [(6, 6)]);
    assert_eq!(journal.next_sequence(REMOTE).unwrap(), 5);
    let pending = journal.pending(REMOTE, ALL).unwrap().unwrap().entries;
    assert_eq!(pending.iter().map(|entry| entry.primary_key.as_str()).collect::<Vec<_>>(), ["n3"]);
    let local = write(&mut journal, "Note", "n4");
    assert!(local.id > pending[0].id);
}

#[test]
fn importing_again_changes_nothing() {
    let folder = Folder::new();
    let file = folder.database(CURRENT);
    let mut journal = journal();
    import(&mut journal, &file).unwrap();
    let before = all(&journal);
    let again = import(&mut journal, &file).unwrap();
    assert_eq!((again.stored, again.duplicates), (0, 6));
    assert_eq!(all(&journal), before);
    assert_eq!(journal.next_sequence(REMOTE).unwrap(), 5);
    assert_eq!(journal.pending_count(REMOTE).unwrap(), 1);
}

#[test]
fn an_import_into_a_used_journal_offers_too_much_rather_than_too_little() {
    let folder = Folder::new();
    let mut journal = journal();
    let local = write(&mut journal, "Note", "mine");
    journal.store(REMOTE, &delivery(90, &[entry(1, "Note", "older")])).unwrap();
    import(&mut journal, &folder.database(CURRENT)).unwrap();
    assert_eq!(all(&journal).len(), 8);
    assert_eq!(journal.next_sequence(REMOTE).unwrap(), 91, "both have everything below");
    let pending = journal.pending(REMOTE, ALL).unwrap().unwrap().entries;
    assert!(pending.contains(&local), "was never uploaded");
    assert_eq!(pending.len(), 5, "effect's local entries, too, since the checkpoint is not comparable");
}

#[test]
fn the_file_of_effect_is_not_touched() {
    let folder = Folder::new();
    let file = folder.database(CURRENT);
    let other = Connection::open(&file).unwrap();
    other.pragma_update(None, "journal_mode", "wal").unwrap();
    other.execute("DELETE FROM effect_event_journal_sources WHERE 0", []).unwrap();
    let listing = || {
        let files = std::fs::read_dir(folder.0.path()).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect::<Vec<_>>()
    };
    let mut open_elsewhere = journal();
    assert_eq!(import(&mut open_elsewhere, &file).unwrap().stored, 6);
    drop(other);
    let before = listing();
    assert_eq!(import(&mut journal(), &file).unwrap().stored, 6);
    assert!(listing() == before, "closed cleanly, write-ahead log gone");
}

#[test]
fn bad_rows_are_named_and_nothing_is_taken_over() {
    for (damage, problem) in [
        (
            "UPDATE effect_event_journal SET id = x'00' WHERE primary_key = 'n2'",
            "row 2: id is not a blob of 16 bytes",
        ),
        ("UPDATE effect_event_journal SET event = x'41' WHERE rowid = 1", "row 1: event is not a text"),
        (
            "UPDATE effect_event_journal SET primary_key = CAST(x'ff' AS TEXT) WHERE rowid = 3",
            "primary_key is not UTF-8",
        ),
        ("UPDATE effect_event_journal SET payload = 'text' WHERE rowid = 6", "row 6: payload is not a blob"),
        ("UPDATE effect_event_journal_sources SET remote_id = 'x'", "its source is not a blob of 16 bytes"),
        (
            "UPDATE effect_event_remotes_cursors SET next_sequence = -1",
            "the sequence is not a natural number",
        ),
        (
            "UPDATE effect_event_remotes_checkpoints SET remote_id = x'01'",
            "row 1: the remote id is not 16 bytes",
        ),
    ] {
        let folder = Folder::new();
        let file = folder.database(CURRENT);
        Connection::open(&file).unwrap().execute(damage, []).unwrap();
        let mut journal = journal();
        let error = import(&mut journal, &file).unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("effect.sqlite"), "{damage}: {error}");
        assert_eq!(all(&journal), [], "{damage}");
        write(&mut journal, "Note", "still works");
    }
}

#[test]
fn other_numbers_of_other_drivers_are_read() {
    let folder = Folder::new();
    let file = folder.database(CURRENT);
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch("DROP TABLE effect_event_remotes_cursors; CREATE TABLE effect_event_remotes_cursors (remote_id, next_sequence)").unwrap();
    for (number, value) in [("'12'", 12), ("13.0", 13)] {
        connection.execute("DELETE FROM effect_event_remotes_cursors", []).unwrap();
        let insert = format!("INSERT INTO effect_event_remotes_cursors VALUES (zeroblob(16), {number})");
        connection.execute(&insert, []).unwrap();
        let mut journal = journal();
        import(&mut journal, &file).unwrap();
        assert_eq!(journal.next_sequence(remote(0)).unwrap(), value);
    }
}

#[test]
fn other_table_names_work_both_ways() {
    let tables = EffectTables {
        entries: "my \"log\"".to_owned(),
        remotes: "servers".to_owned(),
        cursors: Some("progress".to_owned()),
    };
    let folder = Folder::new();
    let mut original = journal();
    let local = write(&mut original, "note", "a");
    original.store(remote(1), &delivery(7, &[entry(1, "note", "b")])).unwrap();
    let file = folder.path("named.sqlite");
    original.export_effect(&file, &tables, &mut |_, _| ()).unwrap();
    let mut copy = journal();
    copy.import_effect(&file, &tables, &mut |_, _| ()).unwrap();
    assert_eq!(all(&copy), all(&original));
    assert_eq!(copy.next_sequence(remote(1)).unwrap(), 8);
    assert_eq!(copy.pending(remote(1), ALL).unwrap().unwrap().entries, [local]);
}

#[test]
fn files_that_cannot_be_right_are_refused() {
    let folder = Folder::new();
    let mut journal = journal();
    let missing = import(&mut journal, &folder.path("missing")).unwrap_err().to_string();
    assert!(missing.contains("missing"), "{missing}");
    assert!(!folder.path("missing").exists());
    let other = folder.database("CREATE TABLE notes (id)");
    let error = import(&mut journal, &other).unwrap_err();
    assert!(matches!(error, EffectError::NoJournal(..)), "{error}");

    write(&mut journal, "note", "a");
    let before = std::fs::read(&other).unwrap();
    let exists = journal.export_effect(&other, &EffectTables::default(), &mut |_, _| ());
    assert!(matches!(exists, Err(EffectError::Exists(_))));
    assert_eq!(std::fs::read(&other).unwrap(), before);
    let nowhere = folder.path("no/such/folder");
    assert!(journal.export_effect(&nowhere, &EffectTables::default(), &mut |_, _| ()).is_err());
    let left: Vec<_> =
        std::fs::read_dir(folder.0.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["effect.sqlite"], "nothing half-written stays");
}

#[test]
fn ids_of_any_form_survive() {
    let mut source = journal();
    let strange = EntryId([0xff; 16]);
    let mut odd = entry(1, "", "");
    odd.id = strange;
    source.store(remote(1), &delivery(0, &[odd])).unwrap();
    let folder = Folder::new();
    export(&source, &folder.path("copy"));
    let mut copy = journal();
    import(&mut copy, &folder.path("copy")).unwrap();
    assert_eq!(all(&copy)[0].id, strange);
}
