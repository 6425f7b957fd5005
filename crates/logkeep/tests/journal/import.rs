//! Imports (EL-050…EL-062).

use std::collections::BTreeMap;
use std::convert::Infallible;

use crate::common::{Recorder, all, delivery, entry, journal, remote, write};
use logkeep::journal::{Anchored, Replay, Replayed, WriteError};
use logkeep::rusqlite::Connection;
use logkeep::{Entry, EntryId, Journal, RemoteEntry};
use proptest::prelude::*;

#[test]
fn a_delivery_is_sorted_out() {
    let mut journal = journal();
    let [a, b, c] = [1, 2, 3].map(|number| entry(number, "note", "n"));
    journal.store(remote(1), &delivery(0, &[b.clone()])).unwrap();
    let mut changed = a.clone();
    changed.payload = b"another copy".to_vec();
    let again = delivery(1, &[b.clone(), a.clone(), changed, b.clone(), c.clone()]);
    let mut seen = Recorder::default();
    let imported = journal.import(remote(1), &again, &mut seen).unwrap();
    assert_eq!(imported.duplicates, [&b, &b], "every occurrence, in order of delivery");
    assert_eq!(imported.stored, 2);
    assert_eq!(seen.0.iter().map(|(entry, _)| entry).collect::<Vec<_>>(), [&a, &c], "the first copy counts");
    assert_eq!(all(&journal), [a, b, c]);
}

#[test]
fn conflicts_are_stored_entries_of_the_same_subject_that_are_newer() {
    let mut journal = journal();
    let stored: Vec<Entry> = [
        entry(10, "note", "a"),
        entry(20, "note", "a"),
        entry(30, "note", "a"),
        entry(40, "note", "b"),
        entry(50, "other", "a"),
    ]
    .into();
    journal.store(remote(1), &delivery(0, &stored)).unwrap();
    let incoming = [entry(35, "note", "a"), entry(15, "note", "a"), entry(25, "note", "a")];
    let mut seen = Recorder::default();
    journal.import(remote(2), &delivery(0, &incoming), &mut seen).unwrap();
    let expected = [
        (incoming[1].clone(), vec![stored[1].clone(), stored[2].clone()]),
        (incoming[2].clone(), vec![stored[2].clone()]),
        (incoming[0].clone(), vec![]),
    ];
    assert_eq!(seen.0, expected);
}

struct Compact(Vec<Anchored>, Vec<EntryId>, Recorder);

impl Replay for Compact {
    type Error = Infallible;

    fn compact(&mut self, new: &[&RemoteEntry]) -> Result<Option<Vec<Anchored>>, Infallible> {
        self.1 = new.iter().map(|new| new.entry.id).collect();
        Ok(Some(self.0.clone()))
    }

    fn apply(&mut self, connection: &Connection, batch: &[Replayed<'_>]) -> Result<(), Infallible> {
        self.2.apply(connection, batch)
    }
}

#[test]
fn compaction_changes_what_is_replayed_and_not_what_is_stored() {
    let mut journal = journal();
    let newer = entry(90, "note", "a");
    journal.store(remote(1), &delivery(0, &[newer.clone()])).unwrap();
    let incoming = [entry(20, "note", "a"), entry(10, "note", "a"), entry(95, "note", "a")];
    // Two replacements at the place of the first, with ids that would sort elsewhere.
    let replacements = [entry(99, "note", "a"), entry(98, "note", "a"), entry(1, "note", "a")];
    let anchors = [20, 20, 10].map(|number| entry(number, "", "").id);
    let anchored =
        replacements.iter().cloned().zip(anchors).map(|(entry, anchor)| Anchored { entry, anchor });
    let mut replay = Compact(anchored.collect(), vec![], Recorder::default());
    journal.import(remote(1), &delivery(1, &incoming), &mut replay).unwrap();
    assert_eq!(replay.1, incoming.each_ref().map(|entry| entry.id), "in order of delivery");
    let order: Vec<&Entry> = replay.2.0.iter().map(|(entry, _)| entry).collect();
    assert_eq!(order, [&replacements[2], &replacements[0], &replacements[1]]);
    assert!(replay.2.0.iter().all(|(_, conflicts)| *conflicts == [newer.clone()]));
    let stored: Vec<EntryId> = all(&journal).iter().map(|entry| entry.id).collect();
    assert_eq!(stored, [10, 20, 90, 95].map(|number| entry(number, "", "").id));
}

#[test]
fn compaction_to_nothing_still_stores_and_moves_on() {
    let mut journal = journal();
    let mut replay = Compact(vec![], vec![], Recorder::default());
    journal.import(remote(1), &delivery(4, &[entry(1, "note", "a")]), &mut replay).unwrap();
    assert_eq!(replay.2.0, []);
    assert_eq!(all(&journal).len(), 1);
    assert_eq!(journal.next_sequence(remote(1)).unwrap(), 5);
    journal.import(remote(1), &delivery(4, &[entry(1, "note", "a")]), &mut replay).unwrap();
    assert_eq!(replay.1, [], "compaction runs with an empty list, too");
}

struct Failing;

impl Replay for Failing {
    type Error = &'static str;

    fn apply(&mut self, connection: &Connection, _: &[Replayed<'_>]) -> Result<(), &'static str> {
        connection.execute_batch("CREATE TABLE projection (a)").unwrap();
        Err("no")
    }
}

#[test]
fn a_failing_replay_stores_nothing_and_keeps_the_cursor() {
    let mut journal = journal();
    let incoming = delivery(3, &[entry(1, "note", "a")]);
    let failed = journal.import(remote(1), &incoming, &mut Failing);
    assert!(matches!(failed, Err(WriteError::Action("no"))));
    assert_eq!(all(&journal), []);
    assert_eq!(journal.next_sequence(remote(1)).unwrap(), 0);
    journal.import(remote(1), &incoming, &mut Recorder::default()).unwrap();
    assert_eq!(all(&journal).len(), 1);
}

#[test]
fn the_cursor_follows_the_greatest_sequence_delivered() {
    let mut journal = journal();
    let one = [entry(1, "note", "a")];
    for (sequence, cursor) in [(7, 8), (3, 8), (100, 101)] {
        journal.store(remote(1), &delivery(sequence, &one)).unwrap();
        assert_eq!(journal.next_sequence(remote(1)).unwrap(), cursor, "gaps and duplicates included");
    }
    journal.store(remote(1), &[]).unwrap();
    assert_eq!(journal.next_sequence(remote(1)).unwrap(), 101);
    assert_eq!(journal.next_sequence(remote(2)).unwrap(), 0);
}

#[test]
fn a_sequence_beyond_the_database_is_an_error_without_effect() {
    let mut journal = journal();
    let far = delivery(u64::MAX - 1, &[entry(1, "note", "a")]);
    let failed = journal.store(remote(1), &far);
    assert!(failed.unwrap_err().to_string().contains("too large"));
    assert_eq!(all(&journal), []);
}

#[test]
fn an_imported_entry_can_be_written_after_locally() {
    let mut journal = journal();
    let local = write(&mut journal, "note", "a");
    let mut seen = Recorder::default();
    journal.import(remote(1), &delivery(0, &[entry(1, "note", "a")]), &mut seen).unwrap();
    assert_eq!(seen.0[0].1, [local]);
}

/// The state of a simple application: per primary key, the last entry wins.
#[derive(Default)]
struct LastWins(BTreeMap<String, Entry>);

impl Replay for LastWins {
    type Error = Infallible;

    fn apply(&mut self, _: &Connection, batch: &[Replayed<'_>]) -> Result<(), Infallible> {
        for element in batch.iter().filter(|element| element.conflicts.is_empty()) {
            self.0.insert(element.entry.primary_key.clone(), element.entry.clone());
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn any_order_and_any_cut_of_deliveries_leads_to_the_same_state(
        entries in prop::collection::btree_map(0u64..200, 0u8..4, 1..40).prop_map(|keys| {
            keys.into_iter().map(|(number, key)| entry(number, "note", &key.to_string())).collect::<Vec<_>>()
        }).prop_shuffle(),
        cuts in prop::collection::vec(1usize..8, 40),
    ) {
        let mut journal: Journal = journal();
        let mut state = LastWins::default();
        let (mut rest, mut sequence) = (entries.as_slice(), 0);
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            journal.import(remote(1), &delivery(sequence, now), &mut state).unwrap();
            sequence += now.len() as u64;
            rest = later;
        }
        prop_assert!(rest.is_empty());
        let mut expected = LastWins::default();
        let mut sorted = entries.clone();
        sorted.sort_by_key(|entry| entry.id);
        for entry in &sorted {
            expected.0.insert(entry.primary_key.clone(), entry.clone());
        }
        prop_assert_eq!(state.0, expected.0);
        prop_assert_eq!(all(&journal), sorted);
    }
}
