//! Devices that are killed at random moments of writing, uploading and importing.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use logkeep::ids::IdSource;
use logkeep::journal::{Inserted, Query};
use logkeep::rusqlite::Connection;
use logkeep::sync::link::{BoxFuture, Connector, Link, LinkError, link};
use logkeep::sync::{Found, RemoteStore, Server, Until};
use logkeep::{EntryId, Journal, NewEntry, RemoteId};
use logkeep_crypto::{OsRandom, Random as _};
use logkeep_protocol::Envelope;

use crate::device::{Device, identity};
use crate::liar::{Liar, Lie, ToLiar};
use crate::server::TestServer;

const REMOTE: RemoteId = RemoteId([1; 16]);

/// How often the device is killed.
const KILLS: usize = 50;

/// The device that is killed: writes entries one by one, tells each on stdout once it is stored,
/// and syncs all the time. Runs only as a child of the test below.
#[tokio::test(flavor = "multi_thread")]
async fn device_to_be_killed() {
    let (Ok(url), Ok(journal)) = (std::env::var("CRASH_URL"), std::env::var("CRASH_JOURNAL")) else { return };
    let device = Device::with(Journal::open(journal, IdSource::process()).unwrap(), identity(1));
    let _running = device.start(&url);
    loop {
        let new = NewEntry { event: "local", primary_key: "k", payload: &[7; 200] };
        device.replica.journal().write(&[new, new], |_, _| Ok::<_, Infallible>(())).unwrap();
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "\nstored").and_then(|()| stdout.flush()).unwrap();
        drop(stdout);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn spawn(url: &str, journal: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::device_to_be_killed", "--nocapture"])
        .env("CRASH_URL", url)
        .env("CRASH_JOURNAL", journal)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets the device work for a while after its first write, kills it, and counts its writes.
fn run_and_kill(url: &str, journal: &Path) -> u64 {
    let mut child = spawn(url, journal);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while stdout.read_line(&mut line).unwrap() > 0 && !line.contains("stored") {}
    let mut byte = [0];
    OsRandom.fill(&mut byte).unwrap();
    std::thread::sleep(Duration::from_millis(u64::from(byte[0])));
    child.kill().unwrap();
    child.wait().unwrap();
    stdout.read_to_string(&mut line).unwrap();
    line.matches("stored").count() as u64 * 2
}

/// Everything the server has, by sequence.
async fn everything(url: &str) -> HashMap<u64, EntryId> {
    let store = RemoteStore::new(Arc::new(Server::new(url, None).unwrap()), identity(1), "notes");
    let mut ids = HashMap::new();
    let mut take = |found| {
        let Found::Entry(found) = found else { panic!("{found:?}") };
        assert!(ids.insert(found.sequence, found.entry.id).is_none(), "one sequence, one entry");
        ControlFlow::Continue(())
    };
    store.read(0, false, &mut take).await.unwrap();
    ids
}

/// What must hold whenever the device was killed.
fn check(path: &Path, truth: &HashMap<u64, EntryId>, written: u64) {
    let connection = Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    drop(connection);
    let journal = Journal::open(path, IdSource::process()).unwrap();
    let mut local = 0;
    let count = |_, _| {
        local += 1;
        ControlFlow::Continue(())
    };
    journal.read_inserted(0, Inserted::Locally, count).unwrap();
    assert!(local >= written, "{local} entries where {written} were stored");
    let cursor = journal.next_sequence(REMOTE).unwrap();
    let seen: Vec<EntryId> = (1..cursor).filter_map(|sequence| truth.get(&sequence).copied()).collect();
    assert_eq!(seen.len() as u64, cursor.saturating_sub(1), "the cursor is within what the server has");
    assert!(journal.contains_all(&seen).unwrap(), "everything below the cursor is here");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_nothing_is_lost_doubled_or_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(&dir.path().join("server"), 1).await;
    let other = Device::new(1);
    let running = other.start(&server.url());
    let journal = dir.path().join("journal");
    let mut written = 0;
    for _ in 0..KILLS {
        other.write(20, 200);
        let (url, path) = (server.url(), journal.clone());
        written += tokio::task::spawn_blocking(move || run_and_kill(&url, &path)).await.unwrap();
        check(&journal, &everything(&server.url()).await, written);
    }
    let survivor = Device::with(Journal::open(&journal, IdSource::process()).unwrap(), identity(1));
    survivor.sync_once(&server.url()).await.unwrap();
    running.stop().await;
    other.sync_once(&server.url()).await.unwrap();
    survivor.sync_once(&server.url()).await.unwrap();
    assert_eq!(survivor.entries(), other.entries());
    let held = everything(&server.url()).await;
    let distinct: HashSet<EntryId> = held.values().copied().collect();
    assert_eq!(distinct.len(), held.len(), "nothing is doubled on the server");
    let stored: HashSet<EntryId> = survivor.entries().iter().map(|entry| entry.id).collect();
    assert_eq!(distinct, stored, "nothing is missing on the device");
    assert!(written > KILLS as u64 * 2 && survivor.count() >= written + KILLS as u64 * 20);
}

/// Looks at every message on its way to the server.
struct Watched<F> {
    server: ToLiar,
    look: Arc<F>,
}

impl<F: Fn(&[u8]) + Send + Sync + 'static> Connector for Watched<F> {
    fn connect(&self) -> BoxFuture<'_, Result<Link, LinkError>> {
        Box::pin(async {
            let inner = self.server.connect().await?;
            let (outer, mut end) = link();
            let look = self.look.clone();
            tokio::spawn(async move {
                while let Some(message) = end.outgoing.recv().await {
                    look(&message);
                    let _ = inner.outgoing.send(message).await;
                }
            });
            Ok(Link { incoming: inner.incoming, ..outer })
        })
    }

    fn address(&self) -> &str {
        self.server.address()
    }
}

/// A power cut may take back commits that were not forced to the disk, but nothing is uploaded
/// before it was.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_uploaded_before_it_is_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let device = Device::with(Journal::open(&path, IdSource::process()).unwrap(), identity(1));
    device.write(30, 100);
    let uploads = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let seen = uploads.clone();
    let look = move |message: &[u8]| {
        let mut frames = logkeep_protocol::FrameReader::new(usize::MAX);
        frames.push(message.to_vec().into());
        let frame = frames.next_frame().unwrap().unwrap();
        let Envelope::Request(request) = Envelope::read(&frame).unwrap() else { return };
        if request.tag != "EventLog.WriteSingle" {
            return;
        }
        seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let journal = Connection::open(&path).unwrap();
        let query = "SELECT value, (SELECT max(position) FROM entries) FROM meta WHERE name = 'synced'";
        let positions = journal.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (synced, latest): (i64, i64) = positions.unwrap();
        assert_eq!(synced, latest, "forced to the disk");
    };
    let server = ToLiar(Liar::new(Lie::Nothing, vec![]));
    let sync = device.sync(Arc::new(Watched { server, look: Arc::new(look) }));
    for _ in 0..3 {
        tokio::time::timeout(Duration::from_secs(20), sync.run(Until::CaughtUp)).await.unwrap().unwrap();
        device.write(5, 100);
    }
    assert_eq!(uploads.load(std::sync::atomic::Ordering::SeqCst), 3);
    assert_eq!(device.replica.journal().count(&Query::default()).unwrap(), 45);
}
