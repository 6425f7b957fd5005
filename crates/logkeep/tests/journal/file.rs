//! A journal as a file: kept, versioned, bound, refused.

use crate::common::{all, delivery, entry, ids_at, remote, write};
use logkeep::journal::{Cause, PendingLimits, SCHEMA_VERSION};
use logkeep::rusqlite::Connection;
use logkeep::{Journal, JournalError, Scope};

fn open(path: &std::path::Path) -> Result<Journal, JournalError> {
    Journal::open(path, ids_at(1_000_000).0)
}

#[test]
fn a_journal_survives_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let mut journal = open(&path).unwrap();
    let local = write(&mut journal, "note", "a");
    let imported = entry(1, "note", "b");
    journal.store(remote(1), &delivery(8, std::slice::from_ref(&imported))).unwrap();
    journal.sync_to_disk().unwrap();
    drop(journal);

    let mut journal = open(&path).unwrap();
    assert_eq!(all(&journal), [imported, local.clone()]);
    assert_eq!(journal.next_sequence(remote(1)).unwrap(), 9);
    let limits = PendingLimits { entries: 10, payload_bytes: 1000 };
    assert_eq!(journal.pending(remote(1), limits).unwrap().unwrap().entries, [local]);
}

#[test]
fn two_processes_share_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let (mut one, mut other) = (open(&path).unwrap(), open(&path).unwrap());
    for round in 0..20 {
        let key = round.to_string();
        let written = write(if round % 2 == 0 { &mut one } else { &mut other }, "note", &key);
        assert_eq!(all(&one).last(), Some(&written), "ids ascend over processes, too");
    }
    assert_eq!(all(&one), all(&other));
}

#[test]
fn a_newer_version_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    drop(open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    connection.pragma_update(None, "journal_mode", "delete").unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error.cause, Cause::NewerVersion(..)), "{error}");
    assert!(error.to_string().contains(&path.display().to_string()) && error.to_string().contains("update"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let foreign = dir.path().join("foreign");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE effect_event_journal (id)").unwrap();
    let before = std::fs::read(&foreign).unwrap();
    assert!(matches!(open(&foreign).unwrap_err().cause, Cause::NotAJournal));
    assert_eq!(std::fs::read(&foreign).unwrap(), before);

    let text = dir.path().join("text");
    std::fs::write(&text, "no database at all, but long enough to have a header ".repeat(20)).unwrap();
    let error = open(&text).unwrap_err().to_string();
    assert!(error.contains("not a database"), "{error}");
    assert!(open(&dir.path().join("missing/journal")).is_err());
}

#[test]
fn a_journal_belongs_to_one_store_of_one_identity() {
    let mut journal = crate::common::journal();
    assert_eq!(journal.scope().unwrap(), None);
    let mine = Scope::new("me", "notes");
    journal.bind(&mine).unwrap();
    journal.bind(&mine).unwrap();
    for other in [Scope::new("me", "other"), Scope::new("you", "notes")] {
        let error = journal.bind(&other).unwrap_err();
        assert!(matches!(error.cause, Cause::OtherScope { .. }), "{error}");
    }
    assert_eq!(journal.scope().unwrap(), Some(mine));
}

#[test]
fn destroy_leaves_an_empty_journal() {
    let mut journal = crate::common::journal();
    journal.bind(&Scope::new("me", "notes")).unwrap();
    write(&mut journal, "note", "a");
    journal.store(remote(1), &delivery(8, &[entry(1, "note", "b")])).unwrap();
    journal.destroy().unwrap();
    assert_eq!(all(&journal), []);
    assert_eq!(journal.next_sequence(remote(1)).unwrap(), 0);
    assert_eq!(journal.scope().unwrap(), None);
    write(&mut journal, "note", "a");
    assert_eq!(all(&journal).len(), 1);
}
