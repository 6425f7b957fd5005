//! Devices that exchange entries through a server.

use std::time::Duration;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use logkeep::ids::IdSource;
use logkeep::journal::{Replay, Replayed};
use logkeep::rusqlite::Connection;
use logkeep::sync::link::Connector as _;
use logkeep::sync::{Notice, Server, SyncError, Until};
use logkeep::{Identity, Journal, RemoteId};

use crate::device::{Device, eventually, identity};
use crate::server::{TestServer, fixture};

#[tokio::test(flavor = "multi_thread")]
async fn two_devices_end_with_the_same_entries() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), 1).await;
    let (one, two) = (Device::new(1), Device::new(1));
    one.write(1500, 100);
    two.write(700, 100);
    let first = one.sync_once(&server.url()).await.unwrap();
    assert_eq!((first.uploaded, first.received, first.pending), (1500, 0, 0));
    let second = two.sync_once(&format!("tcp://{}", server.tcp)).await.unwrap();
    assert_eq!((second.uploaded, second.received), (700, 1500));
    let third = one.sync_once(&server.url()).await.unwrap();
    assert_eq!((third.uploaded, third.received), (0, 700));
    assert_eq!(one.entries(), two.entries());
    assert_eq!(one.count(), 2200);
    assert!(third.notices.is_empty(), "{:?}", third.notices);
    assert_eq!(third.remote, Some(RemoteId([1; 16])));
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_arrive_live_and_imports_are_relayed() {
    let (dir, other_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = TestServer::start(dir.path(), 1).await;
    let other = TestServer::start(other_dir.path(), 2).await;
    let (one, two, relay) = (Device::new(1), Device::new(1), Device::new(1));
    let running = [
        one.start(&server.url()),
        relay.start(&server.url()),
        relay.start(&other.url()),
        two.start(&other.url()),
    ];
    for running in &running {
        running.until("a connection", |state| state.connected && state.caught_up).await;
    }
    one.write(3, 10);
    two.write(2, 10);
    eventually("the relay", || one.count() == 5 && two.count() == 5).await;
    assert_eq!(one.entries(), two.entries());
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_connection_trusts_only_whom_it_is_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), 1).await;
    let device = Device::new(1);
    device.write(10, 10);
    let url = format!("wss://localhost:{}", server.wss.port());
    let trusting = device.sync(Arc::new(Server::new(&url, Some(&fixture("ca.pem"))).unwrap()));
    trusting.run(Until::CaughtUp).await.unwrap();
    assert_eq!(trusting.state().borrow().uploaded, 10);

    let by_address = format!("wss://127.0.0.1:{}", server.wss.port());
    let another = tempfile::NamedTempFile::new().unwrap();
    std::fs::copy(fixture("server.pem"), another.path()).unwrap();
    for (url, ca) in [(&by_address, fixture("ca.pem")), (&url, another.path().to_owned())] {
        let refused = Server::new(url, Some(&ca)).unwrap().connect().await;
        let error = refused.map(drop).unwrap_err().to_string();
        assert!(error.contains("certificate"), "{error}");
    }
    let empty = tempfile::NamedTempFile::new().unwrap();
    let error = Server::new(&url, Some(empty.path())).unwrap_err().to_string();
    assert!(error.contains("no certificate in the file"), "{error}");
}

#[test]
fn only_three_kinds_of_addresses_make_sense() {
    for url in ["ws://h", "wss://h/path", "tcp://h:1", "ws://[::1]:7070", "ws://h:80/x?y"] {
        assert!(Server::new(url, Some(&fixture("ca.pem"))).is_ok(), "{url}");
    }
    for url in
        ["", "h", "http://h", "ws://", "tcp://h", "ws://h:99999", "ws:/h", "ws//h", "tcp://:1", "ws://user@h"]
    {
        let error = Server::new(url, None).unwrap_err().to_string();
        assert!(error.contains("expected ws://"), "{url}: {error}");
    }
}

/// Counts entries per primary key in a table beside the journal, and fails when it is told to.
struct Counts(Arc<AtomicBool>);

impl Replay for Counts {
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn apply(&mut self, connection: &Connection, batch: &[Replayed<'_>]) -> Result<(), Self::Error> {
        connection.execute_batch("CREATE TABLE IF NOT EXISTS counts (key TEXT PRIMARY KEY, count)")?;
        for element in batch {
            let count = "INSERT INTO counts VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1";
            connection.execute(count, [&element.entry.primary_key])?;
        }
        if self.0.load(Ordering::SeqCst) { Err("not now".into()) } else { Ok(()) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projection_commits_with_what_it_is_made_of() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), 1).await;
    let writer = Device::new(1);
    writer.write(1000, 10);
    writer.sync_once(&server.url()).await.unwrap();

    let failing = Arc::new(AtomicBool::new(true));
    let path = dir.path().join("journal");
    let journal = Journal::open(&path, IdSource::process()).unwrap();
    let device = Device::with(journal, identity(1)).replaying(Box::new(Counts(failing.clone())));
    let error = device.sync_once(&server.url()).await.unwrap_err();
    assert_eq!(error.to_string(), "replay of received entries failed: not now");
    assert_eq!(device.count(), 0, "nothing was stored without its projection");
    failing.store(false, Ordering::SeqCst);
    assert_eq!(device.sync_once(&server.url()).await.unwrap().received, 1000);
    let connection = Connection::open(&path).unwrap();
    let sum = "SELECT count(*), sum(count) FROM counts";
    let counted: (i64, i64) = connection.query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(counted, (100, 1000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_entry_travels_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), 1).await;
    let (one, two) = (Device::new(1), Device::new(1));
    one.write(1, 3_000_000);
    one.write(1, 10);
    one.sync_once(&server.url()).await.unwrap();
    two.sync_once(&server.url()).await.unwrap();
    assert_eq!(one.entries(), two.entries());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_server_is_survived() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = TestServer::start(dir.path(), 1).await;
    let (one, two) = (Device::new(1), Device::new(1));
    let (up, down) = (one.start(&server.url()), two.start(&server.url()));
    one.write(5, 10);
    eventually("the first entries", || two.count() == 5).await;
    server.restart(dir.path(), 1).await;
    one.write(5, 10);
    eventually("the other entries", || two.count() == 10).await;
    let state = up.until("a new connection", |state| state.connected).await;
    assert!(state.notices.is_empty(), "{:?}", state.notices);
    up.stop().await;
    down.stop().await;
    assert_eq!(one.entries(), two.entries());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_uploads_what_is_pending() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), 1).await;
    let (one, two) = (Device::new(1), Device::new(1));
    let running = one.start(&server.url());
    running.until("a connection", |state| state.connected).await;
    one.write(4000, 100);
    running.stop().await;
    assert_eq!(two.sync_once(&server.url()).await.unwrap().received, 4000);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_at_the_same_address_is_noticed_and_filled() {
    let (dir, other_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut server = TestServer::start(dir.path(), 1).await;
    let one = Device::new(1);
    one.write(10, 10);
    one.sync_once(&server.url()).await.unwrap();
    server.restart(other_dir.path(), 2).await;
    let state = one.sync_once(&server.url()).await.unwrap();
    let (before, now) = (RemoteId([1; 16]), RemoteId([2; 16]));
    assert_eq!(state.notices, [Notice::ServerChanged { before, now }]);
    assert_eq!(state.uploaded, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_the_identitys_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start(dir.path(), 1).await;
    let one = Device::new(1);
    one.write(1, 10);
    one.sync_once(&server.url()).await.unwrap();
    let journal = logkeep::Journal::in_memory(logkeep::ids::IdSource::process()).unwrap();
    let thief = Device::with(journal, Identity::new("identity-1", &[9; 32]));
    thief.write(1, 10);
    let error = thief.sync_once(&server.url()).await.unwrap_err();
    assert!(matches!(error, SyncError::Refused { .. }), "{error}");
    assert!(error.is_lasting());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_tried_again() {
    let one = Device::new(1);
    let running = one.start("ws://127.0.0.1:1");
    let state = running.until("an error", |state| state.last_error.is_some()).await;
    assert!(!state.connected);
    tokio::time::sleep(Duration::from_millis(300)).await;
    running.stop().await;
    let error = one.sync_once("ws://127.0.0.1:1").await.unwrap_err().to_string();
    assert!(error.contains("refused"), "{error}");
}
