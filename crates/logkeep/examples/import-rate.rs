//! How fast a journal takes in entries, beside SQLite storing the same rows without a journal
//! around them: `cargo run --release -p logkeep --example import-rate -- [ENTRIES]`.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use logkeep::ids::IdSource;
use logkeep::rusqlite::{Connection, params};
use logkeep::{Clock, Entry, Journal, RemoteEntry, RemoteId};
use logkeep_crypto::OsRandom;

const BATCH: u64 = 1000;
const PAYLOAD: usize = 100;

fn main() {
    let count: u64 = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let batches = || (0..count / BATCH).map(|batch| batch_of(batch * BATCH));

    let path = dir.path().join("journal");
    let mut journal = Journal::open(&path, IdSource::process()).unwrap();
    report("journal", count, &path, || {
        for batch in batches() {
            journal.store(RemoteId([1; 16]), &batch).unwrap();
        }
    });

    let raw = dir.path().join("raw");
    let mut connection = raw_copy_of(&path, &raw);
    report("raw SQLite", count, &raw, || {
        for batch in batches() {
            insert(&mut connection, &batch);
        }
    });
}

fn report(name: &str, count: u64, path: &Path, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    let seconds = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(path).unwrap().len();
    let per_entry = bytes as f64 / count as f64;
    println!("{name}: {:.0} entries/s, {per_entry:.0} bytes an entry", count as f64 / seconds);
}

/// A database with the same tables and settings.
fn raw_copy_of(journal: &Path, path: &Path) -> Connection {
    let tables: Vec<String> = Connection::open(journal)
        .unwrap()
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let connection = Connection::open(path).unwrap();
    let settings = "PRAGMA page_size = 8192; PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA cache_size = -32768;";
    connection.execute_batch(settings).unwrap();
    connection.execute_batch(&tables.join(";")).unwrap();
    connection
}

fn insert(connection: &mut Connection, batch: &[RemoteEntry]) {
    let transaction = connection.transaction().unwrap();
    for RemoteEntry { entry, .. } in batch {
        transaction
            .prepare_cached(
                "INSERT INTO entries (id, tag, primary_key, payload, source) VALUES (?, 1, ?, ?, 1)",
            )
            .unwrap()
            .execute(params![entry.id.0, entry.primary_key, entry.payload])
            .unwrap();
    }
    transaction.commit().unwrap();
}

/// Entries as a real log has them: ascending ids, keys that come back.
fn batch_of(first: u64) -> Vec<RemoteEntry> {
    struct Fixed(u64);
    impl Clock for Fixed {
        fn now_millis(&self) -> u64 {
            self.0
        }
    }
    let clock = Arc::new(Fixed(1_700_000_000_000 + first));
    let ids = IdSource::new(clock, Arc::new(OsRandom)).draw(BATCH as usize, None).unwrap();
    let entry = |(sequence, id): (u64, _)| RemoteEntry {
        sequence,
        entry: Entry {
            id,
            event: "note.changed".to_owned(),
            primary_key: format!(
                "{:032x}",
                u128::from(sequence % 50_000).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ),
            payload: vec![7; PAYLOAD],
        },
    };
    (first..).zip(ids).map(entry).collect()
}
