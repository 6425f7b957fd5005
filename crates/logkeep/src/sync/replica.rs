//! The journal and the keys that a sync works with.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use logkeep_crypto::cut::BatchCutter;
use logkeep_crypto::seals::SealError;
use logkeep_crypto::{BatchKey, Random, SealCounter, Sealer};
use logkeep_protocol::{ScopeRef, SealedEntries, write_entries, write_entries_plaintext};
use tokio::task::spawn_blocking;

use super::error::SyncError;
use super::open::{Delivery, Opened, open_and_store};
use crate::journal::Replay;
use crate::{Entry, Identity, Journal, JournalError, Scope};

/// Sees what a sync imports, in the transaction that stores it.
pub type BoxReplay = Box<dyn Replay<Error = Box<dyn Error + Send + Sync>> + Send>;

/// A store of an identity on this device. Several syncs may share it, one for each remote.
pub struct Replica {
    journal: Arc<Mutex<Journal>>,
    identity: Identity,
    scope: Scope,
    key: Arc<BatchKey>,
    replay: Arc<Mutex<Option<BoxReplay>>>,
    sealer: Arc<Mutex<Sealer>>,
    random: Arc<dyn Random>,
}

impl Replica {
    /// Binds `journal` to the store and identity. Nonces are drawn from `random`.
    ///
    /// # Errors
    /// If the journal belongs to another store or identity, or fails.
    pub fn new(
        mut journal: Journal,
        identity: Identity,
        store: &str,
        random: Arc<dyn Random>,
    ) -> Result<Self, JournalError> {
        let scope = Scope::new(identity.public_key(), store);
        journal.bind(&scope)?;
        let journal = Arc::new(Mutex::new(journal));
        let counter = Counter { journal: journal.clone(), key: identity.public_key().to_owned() };
        let sealer = Sealer::new(identity.batch_key(), random.clone(), Box::new(counter));
        Ok(Self {
            key: Arc::new(identity.batch_key()),
            replay: Arc::default(),
            sealer: Arc::new(Mutex::new(sealer)),
            journal,
            identity,
            scope,
            random,
        })
    }

    /// Lets `replay` see everything that syncs import from now on, so that what it derives commits
    /// together with the entries and the cursor. An import that it fails is tried again later.
    #[must_use]
    pub fn replaying(self, replay: BoxReplay) -> Self {
        *lock(&self.replay) = Some(replay);
        self
    }

    /// The journal, to write to and read from. Syncs wait while the guard lives.
    pub fn journal(&self) -> MutexGuard<'_, Journal> {
        lock(&self.journal)
    }

    /// Whose store this is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(super) fn random(&self) -> &dyn Random {
        &*self.random
    }

    pub(super) fn store(&self) -> &str {
        &self.scope.store
    }

    pub(super) fn key(&self) -> Arc<BatchKey> {
        self.key.clone()
    }

    /// Opens and stores what a remote delivered.
    pub(super) async fn take(&self, delivery: Delivery) -> Result<Opened, SyncError> {
        let (journal, replay) = (self.journal.clone(), self.replay.clone());
        let take = move || open_and_store(&mut lock(&journal), lock(&replay).as_mut(), &delivery);
        spawn_blocking(take).await?
    }

    /// Works on the journal without holding up other tasks.
    pub(super) async fn with_journal<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Journal) -> T + Send + 'static,
    ) -> Result<T, SyncError> {
        let journal = self.journal.clone();
        Ok(spawn_blocking(move || work(&mut lock(&journal))).await?)
    }

    /// The frame of an upload of `entries`, and whether the key nears its limit.
    pub(super) async fn seal(&self, entries: Vec<Entry>) -> Result<(Vec<u8>, bool), SyncError> {
        let (sealer, scope) = (self.sealer.clone(), self.scope.clone());
        spawn_blocking(move || {
            let mut sealer = lock(&sealer);
            let batches = cut(&entries)
                .map(|batch| seal(&mut sealer, &scope.store, batch))
                .collect::<Result<Vec<_>, _>>()?;
            let scope = ScopeRef { public_key: &scope.public_key, store_id: &scope.store };
            Ok((write_entries(scope, &batches), sealer.nears_limit()))
        })
        .await?
    }
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica").field("scope", &self.scope).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The batches of a run of entries (WIRE-135).
fn cut(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    let mut cutter = BatchCutter::default();
    entries.chunk_by(move |previous, next| {
        // The first comparison is of the first and the second entry.
        if cutter.is_empty() {
            cutter.starts_batch(previous.payload.len());
        }
        !cutter.starts_batch(next.payload.len())
    })
}

fn seal(sealer: &mut Sealer, store: &str, batch: &[Entry]) -> Result<SealedEntries, SealError> {
    let ids: Vec<[u8; 16]> = batch.iter().map(|entry| entry.id.0).collect();
    let sealed = sealer.seal(store, &ids, write_entries_plaintext(batch))?;
    let entry_ids = batch.iter().map(|entry| entry.id).collect();
    Ok(SealedEntries { entry_ids, iv: sealed.iv, encrypted: sealed.ciphertext })
}

/// Counts seals in the journal.
struct Counter {
    journal: Arc<Mutex<Journal>>,
    key: String,
}

impl SealCounter for Counter {
    fn reserve(&mut self, seals: u64) -> Result<u64, Box<dyn Error + Send + Sync>> {
        Ok(lock(&self.journal).reserve_seals(&self.key, seals)?)
    }
}
