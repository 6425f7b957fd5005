//! Checkpoints, acknowledgements and cursors (EL-061, EL-070…EL-083).

use crate::common::{delivery, entry, journal, remote, write};
use logkeep::journal::PendingLimits;
use logkeep::{Entry, Journal, RemoteId};

const ALL: PendingLimits = PendingLimits { entries: usize::MAX, payload_bytes: usize::MAX };

fn pending(journal: &mut Journal, remote: RemoteId) -> Vec<Entry> {
    journal.pending(remote, ALL).unwrap().map(|pending| pending.entries).unwrap_or_default()
}

fn upload(journal: &mut Journal, remote: RemoteId) -> Vec<Entry> {
    let Some(pending) = journal.pending(remote, ALL).unwrap() else { return Vec::new() };
    journal.uploaded(remote, pending.through).unwrap();
    pending.entries
}

#[test]
fn everything_is_pending_for_a_new_remote() {
    let mut journal = journal();
    let local = write(&mut journal, "note", "a");
    let imported = entry(1, "note", "a");
    journal.store(remote(1), &delivery(0, &[imported.clone()])).unwrap();
    assert_eq!(
        pending(&mut journal, remote(2)),
        [imported, local.clone()],
        "in id order, relayed ones included"
    );
    assert_eq!(pending(&mut journal, remote(1)), [local], "but not back to where they came from");
    assert_eq!(journal.pending_count(remote(2)).unwrap(), 2);
    assert_eq!(journal.pending_count(remote(1)).unwrap(), 1);
}

#[test]
fn what_was_not_reported_uploaded_is_offered_again() {
    let mut journal = journal();
    let first = write(&mut journal, "note", "a");
    assert_eq!(pending(&mut journal, remote(1)), [first.clone()]);
    assert_eq!(upload(&mut journal, remote(1)), [first]);
    assert_eq!(journal.pending(remote(1), ALL).unwrap(), None);
    assert_eq!(journal.pending_count(remote(1)).unwrap(), 0);
}

#[test]
fn an_upload_that_was_begun_is_repeated_as_it_was() {
    let mut journal = journal();
    let first = write(&mut journal, "note", "a");
    let begun = journal.pending(remote(1), ALL).unwrap().unwrap();
    let second = write(&mut journal, "note", "b");
    let tight = PendingLimits { entries: 0, payload_bytes: 0 };
    assert_eq!(journal.pending(remote(1), tight).unwrap().unwrap(), begun);
    assert_eq!(journal.pending(remote(2), ALL).unwrap().unwrap().entries, [first, second.clone()]);
    journal.uploaded(remote(1), begun.through).unwrap();
    assert_eq!(upload(&mut journal, remote(1)), [second]);
}

#[test]
fn what_is_committed_during_an_upload_stays_pending_whatever_its_id() {
    let mut journal = journal();
    write(&mut journal, "note", "a");
    let uploading = journal.pending(remote(1), ALL).unwrap().unwrap();
    let older = entry(1, "note", "b");
    journal.store(remote(2), &delivery(0, &[older.clone()])).unwrap();
    let newer = write(&mut journal, "note", "c");
    journal.uploaded(remote(1), uploading.through).unwrap();
    assert_eq!(pending(&mut journal, remote(1)), [older, newer]);
}

#[test]
fn checkpoints_never_move_back() {
    let mut journal = journal();
    write(&mut journal, "note", "a");
    let first = journal.pending(remote(1), ALL).unwrap().unwrap();
    upload(&mut journal, remote(1));
    write(&mut journal, "note", "b");
    upload(&mut journal, remote(1));
    journal.uploaded(remote(1), first.through).unwrap();
    assert_eq!(pending(&mut journal, remote(1)), []);
}

#[test]
fn a_duplicate_gains_no_second_source() {
    let mut journal = journal();
    let local = write(&mut journal, "note", "a");
    journal.store(remote(1), &delivery(0, &[local.clone()])).unwrap();
    assert_eq!(journal.pending_count(remote(1)).unwrap(), 1);
    let imported = entry(1, "note", "a");
    journal.store(remote(2), &delivery(0, &[imported.clone()])).unwrap();
    journal.store(remote(1), &delivery(1, &[imported.clone()])).unwrap();
    assert_eq!(pending(&mut journal, remote(1)), [imported, local]);
}

#[test]
fn uploads_are_taken_in_slices_of_the_insertion_order() {
    let mut journal = journal();
    let written: Vec<Entry> = ["a", "b", "c", "d", "e"].map(|key| write(&mut journal, "note", key)).into();
    let slice = |journal: &mut Journal, entries, payload_bytes| {
        let pending = journal.pending(remote(1), PendingLimits { entries, payload_bytes }).unwrap().unwrap();
        journal.uploaded(remote(1), pending.through).unwrap();
        pending.entries
    };
    assert_eq!(slice(&mut journal, 2, usize::MAX), written[..2]);
    assert_eq!(slice(&mut journal, 0, 0), written[2..3], "one entry at least");
    assert_eq!(slice(&mut journal, 100, 2 * b"payload".len()), written[3..]);
    assert_eq!(journal.pending(remote(1), ALL).unwrap(), None);
}

#[test]
fn a_remotes_own_entries_are_never_looked_at_twice() {
    let mut journal = journal();
    journal.store(remote(1), &delivery(0, &[entry(1, "note", "a"), entry(2, "note", "a")])).unwrap();
    assert_eq!(journal.pending_count(remote(1)).unwrap(), 0);
    let local = write(&mut journal, "note", "a");
    journal.store(remote(1), &delivery(2, &[entry(3, "note", "a")])).unwrap();
    assert_eq!(pending(&mut journal, remote(1)), [local], "an import never hides what was pending");
}

#[test]
fn acknowledgements_move_the_cursor_without_gaps() {
    let mut journal = journal();
    let id = entry(1, "", "").id;
    let mut acknowledge = |remote: RemoteId, acks: &[u64], first| {
        let acks: Vec<_> = acks.iter().map(|sequence| (id, *sequence)).collect();
        journal.acknowledge(remote, &acks, first).unwrap();
        journal.next_sequence(remote).unwrap()
    };
    assert_eq!(acknowledge(remote(1), &[3, 1, 2, 5], 1), 4);
    assert_eq!(acknowledge(remote(1), &[3, 1, 2, 5], 1), 4, "repeated");
    assert_eq!(acknowledge(remote(1), &[4, 4, 5], 1), 6);
    assert_eq!(acknowledge(remote(2), &[], 1), 0);
    assert_eq!(acknowledge(remote(3), &[1], 0), 0, "0 was not seen");
    assert_eq!(acknowledge(remote(4), &[9], 1), 1, "nothing exists below the first sequence");
    let failed = journal.acknowledge(remote(5), &[(id, u64::MAX)], u64::MAX);
    assert!(failed.unwrap_err().to_string().contains("too large"));
}
