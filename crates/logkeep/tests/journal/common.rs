//! What the tests of a device share.
#![allow(unreachable_pub)]

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use logkeep::ids::IdSource;
use logkeep::journal::{Query, Replay, Replayed};
use logkeep::rusqlite::Connection;
use logkeep::{Clock, Entry, EntryId, Journal, NewEntry, RemoteEntry, RemoteId};
use logkeep_crypto::OsRandom;

/// A clock that shows what it is set to.
#[derive(Default)]
pub struct TestClock(pub AtomicU64);

impl TestClock {
    pub fn set(&self, millis: u64) {
        self.0.store(millis, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now_millis(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Ids on a clock that stands at `millis`.
pub fn ids_at(millis: u64) -> (Arc<IdSource>, Arc<TestClock>) {
    let clock = Arc::new(TestClock(millis.into()));
    (Arc::new(IdSource::new(clock.clone(), Arc::new(OsRandom))), clock)
}

pub fn journal() -> Journal {
    Journal::in_memory(ids_at(1_000_000).0).unwrap()
}

/// A remote by a number of its own.
pub fn remote(number: u8) -> RemoteId {
    RemoteId([number; 16])
}

/// An entry whose id is ordered by `number`.
pub fn entry(number: u64, event: &str, primary_key: &str) -> Entry {
    let mut id = [0; 16];
    id[..6].copy_from_slice(&number.to_be_bytes()[2..]);
    id[6] = 0x70;
    id[8] = 0x80;
    Entry {
        id: EntryId(id),
        event: event.to_owned(),
        primary_key: primary_key.to_owned(),
        payload: number.to_be_bytes().to_vec(),
    }
}

pub fn delivery(sequence: u64, entries: &[Entry]) -> Vec<RemoteEntry> {
    (sequence..)
        .zip(entries)
        .map(|(sequence, entry)| RemoteEntry { sequence, entry: entry.clone() })
        .collect()
}

/// Writes one entry without an action.
pub fn write(journal: &mut Journal, event: &str, primary_key: &str) -> Entry {
    let new = NewEntry { event, primary_key, payload: b"payload" };
    let written = journal.write(&[new], |_, entries| Ok::<_, Infallible>(entries[0].clone()));
    written.unwrap()
}

pub fn all(journal: &Journal) -> Vec<Entry> {
    select(journal, &Query::default())
}

pub fn select(journal: &Journal, query: &Query<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    journal
        .read(query, |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        })
        .unwrap();
    entries
}

/// Records what it was shown: (entry, its conflicts).
#[derive(Default)]
pub struct Recorder(pub Vec<(Entry, Vec<Entry>)>);

impl Replay for Recorder {
    type Error = Infallible;

    fn apply(&mut self, _: &Connection, batch: &[Replayed<'_>]) -> Result<(), Infallible> {
        self.0.extend(batch.iter().map(|element| (element.entry.clone(), element.conflicts.to_vec())));
        Ok(())
    }
}
