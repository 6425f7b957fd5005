//! `kill -9` at random moments: what was acknowledged is there, and no sequence was given twice.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::Duration;

use logkeep_server::storage::{Batch, Placed, Upload, Write, Writer};

use crate::material::*;
use crate::{OnDisk, Place};

const DIRECTORY: &str = "STORAGE_CRASH_DIRECTORY";
const SEED: &str = "STORAGE_CRASH_SEED";
const STORES: u64 = 4;
const ROUNDS: u64 = 20;

/// A batch that can be made again from three numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Made {
    seed: u64,
    count: u64,
    size: usize,
}

impl Made {
    fn ids(self) -> Vec<u128> {
        (0..self.count).map(|n| scrambled(self.seed + n)).collect()
    }

    fn batch(self) -> Batch {
        batch(&self.ids(), &vec![self.seed as u8; self.size])
    }
}

/// Writes until it is killed; prints a line for each batch that was acknowledged as stored.
#[test]
#[ignore = "the process that `acknowledged_writes_survive_a_kill` kills"]
fn child() {
    let directory = std::env::var(DIRECTORY).unwrap();
    let mut seed = std::env::var(SEED).unwrap().parse::<u64>().unwrap() << 32;
    let storage = OnDisk::open_at(Path::new(&directory));
    let mut writer = storage.writer().unwrap();
    for n in 0.. {
        let random = scrambled(seed);
        let mut made = |size: usize| {
            let made = Made { seed, count: 1 + seed % 150, size };
            seed += made.count;
            made
        };
        if n % 10 == 9 {
            let store = random as u64 % STORES;
            let all: Vec<_> = (0..4).map(|_| made(2_500_000)).collect();
            print_upload(&mut *writer, store, &all);
        } else {
            let sizes = [20, 300, 40_000, 2_000, 100];
            let all: Vec<_> =
                (0..8).map(|k| ((random >> k) as u64 % STORES, made(sizes[k as usize % 5]))).collect();
            print_group(&mut *writer, &all);
        }
    }
}

fn print_group(writer: &mut dyn Writer, all: &[(u64, Made)]) {
    let group = all.iter().map(|(store, made)| Write { scope: name(*store), batches: vec![made.batch()] });
    for ((store, made), answer) in all.iter().zip(writer.write(group.collect(), 1)) {
        print(*store, *made, &answer.unwrap().placed[0]);
    }
}

fn print_upload(writer: &mut dyn Writer, store: u64, all: &[Made]) {
    let made = all.to_owned();
    let batches = Box::new(made.into_iter().map(|made| Ok(made.batch())));
    writer.upload(Upload { scope: name(store), batches, answered_ids: usize::MAX }).unwrap();
    let written = loop {
        if let Some(written) = writer.upload_step(1).unwrap() {
            break written;
        }
    };
    for (made, placed) in all.iter().zip(&written.placed) {
        print(store, *made, placed);
    }
}

fn print(store: u64, made: Made, placed: &Placed) {
    let Placed::Stored { first } = placed else { panic!("{made:?} is new") };
    let mut out = std::io::stdout().lock();
    writeln!(out, "ack {store} {} {} {} {first}", made.seed, made.count, made.size).unwrap();
    out.flush().unwrap();
}

fn name(store: u64) -> logkeep_protocol::Scope {
    scope("P", &store.to_string())
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let place = OnDisk(tempfile::tempdir().unwrap());
    let mut acknowledged = HashMap::new();
    for round in 0..ROUNDS {
        let before = acknowledged.len();
        run_and_kill(&place, round, &mut acknowledged);
        assert!(acknowledged.len() > before, "round {round}: nothing was acknowledged");
        check(&place, &acknowledged);
    }
}

fn run_and_kill(place: &OnDisk, round: u64, acknowledged: &mut HashMap<(u64, u64), Made>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--ignored", "--nocapture"])
        .env(DIRECTORY, place.0.path())
        .env(SEED, (round + 1).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let (send, received) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || read_acknowledgements(lines, &send));
    acknowledged.extend(received.recv());
    std::thread::sleep(Duration::from_millis(scrambled(round) as u64 % 250));
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap();
    acknowledged.extend(received);
}

fn read_acknowledgements(mut lines: impl BufRead, send: &Sender<((u64, u64), Made)>) {
    let mut line = String::new();
    // The kill may cut off the last line.
    while lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        if let Some(acknowledged) = parse(&line) {
            send.send(acknowledged).unwrap()
        }
        line.clear();
    }
}

/// Reads `ack STORE SEED COUNT SIZE FIRST`.
fn parse(line: &str) -> Option<((u64, u64), Made)> {
    let numbers = line.trim_end().strip_prefix("ack ")?.split(' ').map(|word| word.parse().unwrap());
    let [store, seed, count, size, first] = numbers.collect::<Vec<u64>>()[..] else { return None };
    Some(((store, first), Made { seed, count, size: size as usize }))
}

fn check(place: &OnDisk, acknowledged: &HashMap<(u64, u64), Made>) {
    let storage = place.open();
    assert_eq!(storage.remote_id().0, [7; 16]);
    let mut reader = storage.reader().unwrap();
    for store in 0..STORES {
        let rows = read_all(&mut *reader, &name(store), 0, 1 << 20);
        let mut next = 1;
        for (first, last, _) in &rows {
            assert_eq!(*first, next, "sequences are dense");
            next = last + 1;
        }
        let rows: HashMap<u64, &Vec<u8>> = rows.iter().map(|(first, _, row)| (*first, row)).collect();
        for ((_, first), made) in acknowledged.iter().filter(|((acked, _), _)| *acked == store) {
            assert!(rows[first] == &wire_row(*first, &made.batch()), "store {store}, {first}: {made:?}");
        }
    }
    let mut writer = storage.writer().unwrap();
    for ((store, first), made) in acknowledged.iter().take(50) {
        let sequences: Vec<_> = (*first..first + made.count).collect();
        assert_eq!(write(&mut *writer, &name(*store), &[made.batch()]).placed, [known(&sequences)]);
    }
}
