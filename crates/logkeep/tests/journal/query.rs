//! Queries (EL-030, EL-031 and beyond).

use std::ops::ControlFlow;

use crate::common::{delivery, entry, journal, remote, select, write};
use logkeep::journal::{Inserted, Order, Query};
use logkeep::{Entry, Journal};

/// Entries 1…9 with tags t0, t1, t2 and keys k0, k1 in turn, imported in mixed order.
fn filled() -> (Journal, Vec<Entry>) {
    let mut journal = journal();
    let entries: Vec<Entry> = (1..10)
        .map(|number| entry(number, &format!("t{}", number % 3), &format!("k{}", number % 2)))
        .collect();
    let mut mixed = entries.clone();
    mixed.rotate_left(4);
    journal.store(remote(1), &delivery(0, &mixed)).unwrap();
    (journal, entries)
}

fn matching(entries: &[Entry], keep: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    entries.iter().filter(|entry| keep(entry)).cloned().collect()
}

#[test]
fn entries_come_by_id_and_can_be_narrowed() {
    let (journal, entries) = filled();
    let check = |query: Query<'_>, expected: Vec<Entry>| {
        assert_eq!(select(&journal, &query), expected, "{query:?}");
        assert_eq!(journal.count(&query).unwrap(), expected.len() as u64, "{query:?}");
        let reversed = select(&journal, &Query { order: Order::Newest, ..query });
        assert_eq!(reversed, expected.into_iter().rev().collect::<Vec<_>>());
    };
    check(Query::default(), entries.clone());
    check(Query { event: Some("t1"), ..Query::default() }, matching(&entries, |e| e.event == "t1"));
    check(
        Query { primary_key: Some("k0"), ..Query::default() },
        matching(&entries, |e| e.primary_key == "k0"),
    );
    check(
        Query { event: Some("t2"), primary_key: Some("k0"), ..Query::default() },
        matching(&entries, |e| e.event == "t2" && e.primary_key == "k0"),
    );
    check(
        Query { from: Some(entries[2].id), until: Some(entries[6].id), ..Query::default() },
        entries[2..6].to_vec(),
    );
    check(Query { event: Some("never"), ..Query::default() }, vec![]);
    check(Query { primary_key: Some("never"), ..Query::default() }, vec![]);
}

#[test]
fn a_limit_and_a_break_end_a_query() {
    let (journal, entries) = filled();
    let query = Query { limit: Some(3), ..Query::default() };
    assert_eq!(select(&journal, &query), entries[..3]);
    assert_eq!(journal.count(&query).unwrap(), 3);
    let mut seen = 0;
    journal
        .read(&Query::default(), |_| {
            seen += 1;
            if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn the_tail_is_the_newest_in_ascending_order() {
    let (journal, entries) = filled();
    let tail = |query: &Query<'_>, count| {
        let mut found = Vec::new();
        journal
            .tail(query, count, |entry| {
                found.push(entry);
                ControlFlow::Continue(())
            })
            .unwrap();
        found
    };
    assert_eq!(tail(&Query::default(), 3), entries[6..]);
    assert_eq!(tail(&Query::default(), 100), entries);
    assert_eq!(tail(&Query::default(), 0), []);
    let odd = Query { primary_key: Some("k1"), ..Query::default() };
    assert_eq!(tail(&odd, 2), [entries[6].clone(), entries[8].clone()]);
}

#[test]
fn entries_by_id_are_aligned_with_the_request() {
    let (journal, entries) = filled();
    let unknown = entry(77, "", "").id;
    let found = journal.entries_by_id(&[entries[4].id, unknown, entries[0].id, entries[4].id]).unwrap();
    let expected = [Some(&entries[4]), None, Some(&entries[0]), Some(&entries[4])];
    assert_eq!(found.iter().map(Option::as_ref).collect::<Vec<_>>(), expected);
}

#[test]
fn a_journal_can_be_followed_by_position() {
    let (mut journal, _) = filled();
    let start = journal.position().unwrap();
    let local = write(&mut journal, "note", "a");
    let imported = entry(0, "note", "a");
    journal.store(remote(1), &delivery(50, std::slice::from_ref(&imported))).unwrap();
    let after = |inserted| {
        let mut found = Vec::new();
        journal
            .read_inserted(start, inserted, |position, entry| {
                found.push((position - start, entry));
                ControlFlow::Continue(())
            })
            .unwrap();
        found
    };
    assert_eq!(after(Inserted::Any), [(1, local.clone()), (2, imported)]);
    assert_eq!(after(Inserted::Locally), [(1, local)]);
}
