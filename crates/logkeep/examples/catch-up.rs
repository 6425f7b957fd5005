//! How fast entries leave and enter a device: uploads ENTRIES to a server, then takes them all into
//! a fresh journal.
//!
//! ```sh
//! logkeep serve --listen 127.0.0.1:7070 --data :memory: &
//! cargo run --release -p logkeep --example catch-up -- ws://127.0.0.1:7070 1000000
//! ```
#![allow(clippy::unwrap_used)]

use std::convert::Infallible;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use logkeep::ids::IdSource;
use logkeep::sync::{Replica, Server, Sync, Until};
use logkeep::{Identity, Journal, NewEntry};
use logkeep_crypto::OsRandom;

const PAYLOAD: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: catch-up URL [ENTRIES]")?;
    let count: u64 = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let dir = tempfile::tempdir()?;
    let identity = Identity::generate(&OsRandom)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;

    let writer = dir.path().join("writer");
    fill(&mut Journal::open(&writer, IdSource::process())?, count);
    for (what, journal) in [("upload", writer), ("catch-up", dir.path().join("reader"))] {
        let identity = Identity::new(identity.public_key(), identity.root_secret());
        let start = Instant::now();
        runtime.block_on(exchange(&url, &journal, identity))?;
        let rate = count as f64 / start.elapsed().as_secs_f64();
        println!("{what}: {rate:.0} entries/s, peak memory {}", peak_memory());
    }
    Ok(())
}

async fn exchange(url: &str, journal: &Path, identity: Identity) -> Result<(), Box<dyn Error>> {
    let journal = Journal::open(journal, IdSource::process())?;
    let replica = Arc::new(Replica::new(journal, identity, "catch-up", Arc::new(OsRandom))?);
    Ok(Sync::new(replica, Arc::new(Server::new(url, None)?)).run(Until::CaughtUp).await?)
}

fn fill(journal: &mut Journal, count: u64) {
    let payload = [7; PAYLOAD];
    let mut left = count;
    while left > 0 {
        let keys: Vec<String> = (0..left.min(1000))
            .map(|at| format!("{:032x}", u128::from((left - at) % 50_000) << 64))
            .collect();
        let new = |primary_key| NewEntry { event: "note.changed", primary_key, payload: &payload };
        let entries: Vec<NewEntry<'_>> = keys.iter().map(|key| new(key)).collect();
        journal.write(&entries, |_, _| Ok::<_, Infallible>(())).unwrap();
        left -= entries.len() as u64;
    }
}

/// What the kernel counted, where it does.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown".to_owned(), |peak| peak.trim().to_owned())
}
