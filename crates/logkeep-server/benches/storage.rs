//! What the SQLite storage can do, beside raw SQLite doing the same work in the same run.
//!
//! `cargo bench -p logkeep-server --bench storage -- [NAME…]` runs the named measurements, or all short ones:
//! `ingest`, `single`, `read`, `random`, `stores`, `growth` (long: 10 million entries). The directory is `TMPDIR`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::time::{Duration, Instant};

use logkeep_protocol::{RemoteId, Scope};
use logkeep_server::storage::sqlite::{Options, SqliteStorage};
use logkeep_server::storage::{Batch, Reader, Storage, Write, Writer};
use rusqlite::Connection;

const ENTRY_BYTES: usize = 256;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` starts benches, too, without this flag.
    if !names.iter().any(|name| name == "--bench") {
        return;
    }
    let asked = |name: &str| names.iter().any(|asked| asked == name);
    let none = names.iter().all(|name| name.starts_with("--"));
    let measurements: [(&str, bool, fn()); 6] = [
        ("ingest", true, ingest),
        ("single", true, single),
        ("read", true, read),
        ("random", true, random),
        ("stores", true, stores),
        ("growth", false, growth),
    ];
    for (name, short, measure) in measurements {
        if asked(name) || (none && short) {
            measure();
        }
    }
}

/// Groups of 8 writes of 8 stores, a batch of 100 entries each.
fn ingest() {
    let groups = 400;
    let ours = run_groups("ingest, batches of 100", groups, 8, 100);
    let raw = run_raw("the same blobs in raw SQLite", groups, 8, 100);
    println!("  share of raw SQLite: {:.0} %", 100.0 * raw.as_secs_f64() / ours.as_secs_f64());
}

/// Groups of 32 writes of 32 stores, one entry each.
fn single() {
    let groups = 2_000;
    let ours = run_groups("ingest, single entries", groups, 32, 1);
    let raw = run_raw("the same blobs in raw SQLite", groups, 32, 1);
    println!("  share of raw SQLite: {:.0} %", 100.0 * raw.as_secs_f64() / ours.as_secs_f64());
    run_groups("one writer, one entry at a time", groups, 1, 1);
    run_raw("the same blobs in raw SQLite", groups, 1, 1);
}

fn run_groups(name: &str, groups: u64, stores: u64, entries: u64) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let storage = open(dir.path());
    let mut writer = storage.writer().unwrap();
    let mut ids = Ids::in_time_order();
    let (mut times, mut uploaded) = (Vec::new(), 0);
    for _ in 0..groups {
        let group: Vec<Write> = (0..stores).map(|n| ids.write(&store(n), entries)).collect();
        uploaded += group.iter().map(|write| uploaded_bytes(&write.batches[0])).sum::<usize>();
        let start = Instant::now();
        for answer in writer.write(group, 1_000) {
            answer.unwrap();
        }
        times.push(start.elapsed());
    }
    let total = report(name, &mut times, groups * stores * entries);
    drop((writer, storage));
    println!("  {:.3} bytes on disk per byte uploaded", bytes_on_disk(dir.path()) / uploaded as f64);
    total
}

fn run_raw(name: &str, groups: u64, stores: u64, entries: u64) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let mut db = Connection::open(dir.path().join("raw.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE batch (store INTEGER, sequence INTEGER, ids BLOB, sealed BLOB,
                             PRIMARY KEY (store, sequence)) WITHOUT ROWID",
    )
    .unwrap();
    let mut ids = Ids::in_time_order();
    let mut times = Vec::new();
    for n in 0..groups {
        let group: Vec<Batch> = (0..stores).map(|_| ids.batch(entries)).collect();
        let start = Instant::now();
        let tx = db.transaction().unwrap();
        for (store, batch) in group.iter().enumerate() {
            tx.prepare_cached("INSERT INTO batch VALUES (?1, ?2, ?3, ?4)")
                .unwrap()
                .execute((store, n, &batch.entry_ids[..], &batch.sealed[..]))
                .unwrap();
        }
        tx.commit().unwrap();
        times.push(start.elapsed());
    }
    report(name, &mut times, groups * stores * entries)
}

/// Reading everything in pages of 256 KiB.
fn read() {
    for (name, entries, batches) in
        [("read, batches of 100", 100, 5_000), ("read, single entries", 1, 200_000)]
    {
        let dir = tempfile::tempdir().unwrap();
        let storage = open(dir.path());
        let mut writer = storage.writer().unwrap();
        let mut ids = Ids::in_time_order();
        for _ in 0..batches / 500 {
            let batches = (0..500).map(|_| ids.batch(entries)).collect();
            writer.write(vec![Write { scope: store(0), batches }], 1_000).remove(0).unwrap();
        }
        let mut reader = storage.reader().unwrap();
        for budget in [32 << 10, 256 << 10, 4 << 20] {
            let mut times = Vec::new();
            let mut from = 1;
            loop {
                let start = Instant::now();
                let page = reader.page(&store(0), from, budget).unwrap();
                times.push(start.elapsed());
                from = page.next;
                if page.end {
                    break;
                }
            }
            report(&format!("{name}, {} KiB a page", budget >> 10), &mut times, from - 1);
        }
    }
}

/// Batches of 100 ids in random order, one store.
fn random() {
    let dir = tempfile::tempdir().unwrap();
    let storage = open(dir.path());
    let mut writer = storage.writer().unwrap();
    let mut ids = Ids { clock: None, ..Ids::in_time_order() };
    for part in 1..=5 {
        let mut times = append(&mut *writer, &mut ids, 2_000, 100);
        report(&format!("random ids, batches of 100, up to {}00 k ids", 2 * part), &mut times, 200_000);
    }
    drop((writer, storage));
    print_index_size(dir.path());
}

/// Single entries for 10,000 stores in turns, 64 in a group.
fn stores() {
    let dir = tempfile::tempdir().unwrap();
    let storage = open(dir.path());
    let mut writer = storage.writer().unwrap();
    let mut ids = Ids::in_time_order();
    for round in 1..=10 {
        let mut times = Vec::new();
        for n in 0..10_000 / 64 {
            let group = (0..64).map(|k| ids.write(&store(64 * n + k), 1)).collect();
            let start = Instant::now();
            writer.write(group, 1_000 * round).into_iter().for_each(|answer| drop(answer.unwrap()));
            times.push(start.elapsed());
        }
        report(&format!("10,000 stores, round {round}"), &mut times, 10_000);
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("  {line}"));
    }
}

/// The same appends to a store with 10 thousand and to one with 10 million entries, in turns.
fn growth() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut ids = Ids::in_time_order();
    for (dir, entries) in dirs.iter().zip([10_000, 10_000_000]) {
        let mut writer = open(dir.path()).writer().unwrap();
        for _ in 0..entries / 10_000 {
            let batches = (0..100).map(|_| ids.batch(100)).collect();
            writer.write(vec![Write { scope: store(0), batches }], 1_000).remove(0).unwrap();
        }
    }
    let open_again = |dir: &tempfile::TempDir| {
        let start = Instant::now();
        let storage = open(dir.path());
        let mut writer = storage.writer().unwrap();
        let opened = start.elapsed();
        writer.write(vec![Ids::in_time_order().write(&store(0), 1)], 1_000).remove(0).unwrap();
        println!("open {opened:?}, with the first write {:?}", start.elapsed());
        first_page(&mut *storage.reader().unwrap());
        writer
    };
    let mut writers = dirs.each_ref().map(open_again);
    for (entries, blocks) in [(1, 200), (100, 100)] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..blocks {
            for (writer, times) in writers.iter_mut().zip(&mut times) {
                times.extend(append(&mut **writer, &mut ids, 20, entries));
            }
        }
        for (name, times) in ["10 k", "10 M"].iter().zip(&mut times) {
            report(&format!("batches of {entries} at {name} entries"), times, 20 * blocks * entries);
        }
        let median = |times: &[Duration]| times[times.len() / 2].as_secs_f64();
        println!("  10 M against 10 k, medians: {:.2}", median(&times[1]) / median(&times[0]));
    }
    drop(writers);
    print_index_size(dirs[1].path());
}

fn print_index_size(dir: &Path) {
    let db = Connection::open(dir.join("logkeep.db")).unwrap();
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, f64>(0)).unwrap();
    let ids = number("SELECT indexed_through FROM store");
    let bytes = number("SELECT sum(length(entries)) FROM id_chunk");
    let pages = number("SELECT sum(pgsize) FROM dbstat WHERE name = 'id_chunk'");
    println!("id index: {:.2} bytes an id, {:.2} with the pages around them", bytes / ids, pages / ids);
}

fn first_page(reader: &mut dyn Reader) {
    let start = Instant::now();
    let page = reader.page(&store(0), 1, 32 << 10).unwrap();
    println!("first page: {:?}, {} rows", start.elapsed(), page.rows.len());
}

fn append(writer: &mut dyn Writer, ids: &mut Ids, batches: u64, entries: u64) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..batches {
        let write = ids.write(&store(0), entries);
        let start = Instant::now();
        writer.write(vec![write], 1_000).remove(0).unwrap();
        times.push(start.elapsed());
    }
    times
}

fn report(name: &str, times: &mut [Duration], entries: u64) -> Duration {
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    println!(
        "{name}: {:.1} k entries/s, p50 {:?}, p99 {:?}, max {:?}",
        entries as f64 / total.as_secs_f64() / 1_000.0,
        at(50),
        at(99),
        times[times.len() - 1]
    );
    total
}

fn open(dir: &Path) -> SqliteStorage {
    SqliteStorage::open(dir, Options::default(), RemoteId([1; 16])).unwrap()
}

fn store(n: u64) -> Scope {
    Scope::new(format!("00000000-0000-4000-8000-{n:012}"), "default")
}

/// What counts as uploaded: ids, nonce and ciphertext.
fn uploaded_bytes(batch: &Batch) -> usize {
    16 * batch.count as usize + batch.sealed.len()
}

fn bytes_on_disk(dir: &Path) -> f64 {
    std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().metadata().unwrap().len() as f64).sum()
}

/// Makes entry ids: UUIDs of version 7, some 50 a second, or random ones.
struct Ids {
    clock: Option<u64>,
    random: u64,
}

impl Ids {
    fn in_time_order() -> Self {
        Self { clock: Some(1_700_000_000_000), random: 1 }
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn next(&mut self) -> u128 {
        let random = u128::from(self.random()) << 64 | u128::from(self.random());
        let step = self.random() % 40;
        let Some(clock) = &mut self.clock else { return random };
        *clock += step;
        let fields = (random >> 64 & 0xfff) << 64 | random & ((1 << 62) - 1);
        u128::from(*clock) << 80 | 7 << 76 | 2 << 62 | fields
    }

    fn batch(&mut self, entries: u64) -> Batch {
        let mut entry_ids = Vec::new();
        schema_binary::wire::put_uvarint(&mut entry_ids, entries);
        for _ in 0..entries {
            entry_ids.push(16);
            entry_ids.extend(self.next().to_be_bytes());
        }
        let mut sealed = vec![0; entries as usize * ENTRY_BYTES + 30];
        sealed
            .chunks_mut(8)
            .for_each(|chunk| chunk.copy_from_slice(&self.random().to_le_bytes()[..chunk.len()]));
        Batch { count: entries as u32, entry_ids: entry_ids.into(), sealed: sealed.into() }
    }

    fn write(&mut self, scope: &Scope, entries: u64) -> Write {
        Write { scope: scope.clone(), batches: vec![self.batch(entries)] }
    }
}
