//! Local writes (EL-040…EL-044, EL-011).

use std::convert::Infallible;

use crate::common::{all, delivery, entry, ids_at, journal, remote, write};
use logkeep::journal::{Cause, WriteError};
use logkeep::{Journal, NewEntry};

const NEW: NewEntry<'static> = NewEntry { event: "note", primary_key: "n1", payload: b"text" };

#[test]
fn entries_of_one_write_ascend_in_input_order() {
    let mut journal = journal();
    let keys = ["c", "a", "b"];
    let new = keys.map(|primary_key| NewEntry { primary_key, ..NEW });
    let seen = journal.write(&new, |_, entries| Ok::<_, Infallible>(entries.to_vec())).unwrap();
    assert!(seen.is_sorted_by(|a, b| a.id < b.id));
    assert_eq!(seen.iter().map(|entry| entry.primary_key.as_str()).collect::<Vec<_>>(), keys);
    assert_eq!(all(&journal), seen);
}

#[test]
fn what_the_action_writes_commits_with_the_entries() {
    let mut journal = journal();
    journal
        .write(&[NEW], |connection, entries| {
            connection.execute_batch("CREATE TABLE titles (id BLOB)")?;
            connection.execute("INSERT INTO titles VALUES (?)", [entries[0].id.0])
        })
        .unwrap();
    let titles = |connection: &logkeep::rusqlite::Connection| {
        connection.query_row("SELECT count(*) FROM titles", [], |row| row.get::<_, i64>(0))
    };
    let count = journal.write(&[NEW], |connection, _| titles(connection)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_failing_action_leaves_nothing_behind() {
    let mut journal = journal();
    let commits = journal.commits();
    let failed = journal.write(&[NEW], |connection, _| {
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        Err::<(), _>("no")
    });
    assert!(matches!(failed, Err(WriteError::Action("no"))));
    assert_eq!(all(&journal), []);
    assert!(!commits.has_changed().unwrap());
    let other = NewEntry { event: "other", ..NEW };
    journal.write(&[NEW, other], |_, _| Ok::<_, Infallible>(())).unwrap();
    let events: Vec<String> = all(&journal).into_iter().map(|entry| entry.event).collect();
    assert_eq!(events, ["note", "other"], "tags assigned by a write that failed are assigned anew");
}

#[test]
fn commits_are_told() {
    let mut journal = journal();
    let mut commits = journal.commits();
    write(&mut journal, "note", "n1");
    assert!(commits.has_changed().unwrap());
    assert_eq!(*commits.borrow_and_update(), 1);
    journal.store(remote(1), &delivery(0, &[entry(5, "note", "n1")])).unwrap();
    assert_eq!(*commits.borrow_and_update(), 2);
}

#[test]
fn local_ids_sort_after_everything_imported() {
    let (ids, _) = ids_at(1000);
    let mut journal = Journal::in_memory(ids.clone()).unwrap();
    let ahead = entry(5_000_000, "note", "n1");
    journal.store(remote(1), &delivery(0, std::slice::from_ref(&ahead))).unwrap();
    let local = write(&mut journal, "note", "n1");
    assert_eq!(local.id.millis(), 5_000_000);
    assert!(local.id > ahead.id);
    assert_eq!(ids.draw(1, None).unwrap()[0].millis(), 1000);
}

#[test]
fn exhausted_ids_are_an_error_of_the_write() {
    let (ids, _) = ids_at(u64::MAX);
    let mut journal = Journal::in_memory(ids).unwrap();
    let failed = journal.write(&[NEW], |_, _| Ok::<_, Infallible>(())).unwrap_err();
    let WriteError::Journal(error) = failed;
    assert!(matches!(error.cause, Cause::Ids(_)));
    assert_eq!(error.operation, "writing entries");
}
