//! A device: a journal, an identity, and syncs in the background.
#![allow(unreachable_pub)]

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use logkeep::ids::IdSource;
use logkeep::journal::Query;
use logkeep::sync::link::Connector;
use logkeep::sync::{BoxReplay, Replica, Server, Sync, SyncError, SyncState, Until};
use logkeep::{Entry, Identity, Journal, NewEntry};
use logkeep_crypto::OsRandom;
use tokio::task::JoinHandle;

pub struct Device {
    pub replica: Arc<Replica>,
}

/// A sync that runs in the background.
pub struct Running {
    pub sync: Arc<Sync>,
    task: JoinHandle<Result<(), SyncError>>,
}

pub fn identity(number: u8) -> Identity {
    Identity::new(format!("identity-{number}"), &[number; 32])
}

impl Device {
    /// A device in memory with an identity by its number.
    pub fn new(number: u8) -> Self {
        Self::with(Journal::in_memory(IdSource::process()).unwrap(), identity(number))
    }

    pub fn with(journal: Journal, identity: Identity) -> Self {
        Self { replica: Arc::new(Replica::new(journal, identity, "notes", Arc::new(OsRandom)).unwrap()) }
    }

    pub fn replaying(self, replay: BoxReplay) -> Self {
        Self { replica: Arc::new(Arc::into_inner(self.replica).unwrap().replaying(replay)) }
    }

    pub fn write(&self, count: usize, size: usize) {
        let payload = vec![7; size];
        let keys: Vec<String> = (0..count).map(|key| format!("key-{}", key % 100)).collect();
        for keys in keys.chunks(1000) {
            let new = |primary_key| NewEntry { event: "note", primary_key, payload: &payload };
            let entries: Vec<NewEntry<'_>> = keys.iter().map(|key| new(key)).collect();
            self.replica.journal().write(&entries, |_, _| Ok::<_, Infallible>(())).unwrap();
        }
    }

    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let collect = |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        };
        self.replica.journal().read(&Query::default(), collect).unwrap();
        entries
    }

    pub fn count(&self) -> u64 {
        self.replica.journal().count(&Query::default()).unwrap()
    }

    pub fn sync(&self, connector: Arc<dyn Connector>) -> Sync {
        Sync::new(self.replica.clone(), connector)
    }

    pub fn sync_with(&self, url: &str) -> Sync {
        self.sync(Arc::new(Server::new(url, None).unwrap()))
    }

    /// Exchanges everything once.
    pub async fn sync_once(&self, url: &str) -> Result<SyncState, SyncError> {
        let sync = self.sync_with(url);
        tokio::time::timeout(Duration::from_secs(60), sync.run(Until::CaughtUp))
            .await
            .expect("a sync that ends")?;
        let state = sync.state().borrow().clone();
        Ok(state)
    }

    /// Exchanges in the background until stopped.
    pub fn start(&self, url: &str) -> Running {
        Running::new(self.sync_with(url))
    }
}

impl Running {
    pub fn new(sync: Sync) -> Self {
        let sync = Arc::new(sync);
        let running = sync.clone();
        Self { sync, task: tokio::spawn(async move { running.run(Until::Stopped).await }) }
    }

    /// Waits for a state.
    pub async fn until(&self, what: &str, wanted: impl FnMut(&SyncState) -> bool) -> SyncState {
        let mut state = self.sync.state();
        let waited = tokio::time::timeout(Duration::from_secs(30), state.wait_for(wanted)).await;
        match waited {
            Ok(state) => state.unwrap().clone(),
            Err(_) => panic!("{what} did not happen: {:?}", self.sync.state().borrow()),
        }
    }

    pub async fn stop(self) {
        self.sync.stop();
        self.task.await.unwrap().unwrap();
    }
}

/// Waits until `condition` holds.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..1500 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} did not happen");
}
