//! The writing half.

use std::collections::{BTreeSet, HashMap};

use logkeep_protocol::Scope;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::Handle;
use super::checkpoint::{Checkpoints, Poison};
use super::group::{Cache, Group, Stored};
use super::rows::BlobIds;
use super::space;
use super::stores::{self, Store};
use super::upload::{Running, discard_some, unfinished};
use crate::storage::{Millis, StorageError, Upload, Write, Writer, Written};

/// The one connection that writes.
pub(super) struct SqliteWriter {
    db: Handle,
    state: State,
    upload: Option<Running>,
    /// The stores that hold rows of an upload that did not come to its end.
    leftovers: BTreeSet<i64>,
    poison: Poison,
    /// A storage in memory has no write-ahead log.
    checkpoints: Option<Checkpoints>,
}

/// What the writer remembers between transactions.
struct State {
    cache: Cache,
    blobs: BlobIds,
}

/// The write's own result, inside that of its group.
type Planned = Result<Stored, StorageError>;

impl SqliteWriter {
    pub(super) fn new(
        db: Handle,
        checkpoints: Option<Checkpoints>,
        poison: Poison,
    ) -> Result<Self, StorageError> {
        let (blobs, leftovers) = {
            let db = db.lock();
            (BlobIds::load(&db)?, unfinished(&db)?)
        };
        let state = State { cache: Cache::new(), blobs };
        let leftovers = leftovers.into_iter().collect();
        Ok(Self { db, state, upload: None, leftovers, poison, checkpoints })
    }

    /// Runs `work` in a transaction of its own. Once a sync has failed nothing is run any more.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut State) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        if let Some(reason) = self.poison.get() {
            return Err(StorageError::Poisoned(reason.clone()));
        }
        let result = self.transact_unless_poisoned(work);
        if let Err(StorageError::Poisoned(reason)) = &result {
            let _ = self.poison.set(reason.clone());
        }
        result
    }

    fn transact_unless_poisoned<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut State) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let mut db = self.db.lock();
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.before_transaction(&db)?;
        }
        let tx = Transaction::new(&mut db, TransactionBehavior::Immediate)?;
        let value = work(&tx, &mut self.state)?;
        tx.commit()?;
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.after_commit();
        }
        Ok(value)
    }

    fn write_group(&mut self, group: &[Write], now: Millis) -> Result<Vec<Planned>, StorageError> {
        for write in group {
            self.discard_leftovers_of(&write.scope)?;
        }
        let uploading = self.upload.as_ref().map(|upload| upload.scope.clone());
        let (planned, touched) = self.transact(|db, state| {
            let mut group_state = Group::new(db, &mut state.cache, &mut state.blobs, now);
            let plan = |write: &Write| match &uploading {
                Some(scope) if *scope == write.scope => Ok(Err(StorageError::Uploading)),
                _ => group_state.add(write),
            };
            let planned = group.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
            Ok((planned, group_state.finish()?))
        })?;
        self.keep(touched);
        Ok(planned)
    }

    fn keep(&mut self, touched: HashMap<Scope, Store>) {
        for (scope, store) in touched {
            self.state.cache.put(scope, store);
        }
    }

    /// Before anything is written to a store, what an upload left there has to be gone.
    fn discard_leftovers_of(&mut self, scope: &Scope) -> Result<(), StorageError> {
        if self.leftovers.is_empty() {
            return Ok(());
        }
        let number = stores::number(&self.db.lock(), scope)?;
        while let Some(store) = number.filter(|number| self.leftovers.contains(number)) {
            self.discard_some(store)?;
        }
        Ok(())
    }

    fn discard_some(&mut self, store: i64) -> Result<(), StorageError> {
        if self.transact(|db, _| discard_some(db, store))? {
            self.leftovers.remove(&store);
        }
        Ok(())
    }

    fn step(&mut self, upload: &mut Running, now: Millis) -> Result<bool, StorageError> {
        self.discard_leftovers_of(&upload.scope)?;
        self.transact(|db, state| upload.step(db, &mut state.cache, &mut state.blobs, now))
    }
}

impl Writer for SqliteWriter {
    fn write(&mut self, group: Vec<Write>, now: Millis) -> Vec<Result<Written, StorageError>> {
        match self.write_group(&group, now) {
            Ok(planned) => {
                group.into_iter().zip(planned).map(|(write, planned)| answer(write, planned)).collect()
            }
            // One store's damage must not keep the others from writing.
            Err(StorageError::Damaged(_)) if group.len() > 1 => {
                group.into_iter().flat_map(|write| self.write(vec![write], now)).collect()
            }
            Err(error) => group.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    fn bind(&mut self, public_key: &str, signing_key: [u8; 32]) -> Result<[u8; 32], StorageError> {
        self.transact(|db, _| {
            db.prepare_cached(
                "INSERT INTO binding (public_key, signing_key) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute((public_key, signing_key))?;
            let mut select = db.prepare_cached("SELECT signing_key FROM binding WHERE public_key = ?1")?;
            Ok(select.query_row([public_key], |row| row.get(0))?)
        })
    }

    fn upload(&mut self, upload: Upload) -> Result<(), StorageError> {
        if self.upload.is_some() {
            return Err(StorageError::Uploading);
        }
        self.upload = Some(Running::new(upload));
        Ok(())
    }

    fn upload_step(&mut self, now: Millis) -> Result<Option<Written>, StorageError> {
        let Some(mut upload) = self.upload.take() else { return Ok(None) };
        match self.step(&mut upload, now) {
            Ok(false) => {
                self.upload = Some(upload);
                Ok(None)
            }
            Ok(true) => Ok(upload.done().map(|(scope, store, written)| {
                self.state.cache.put(scope, store);
                written
            })),
            Err(error) => {
                self.leftovers.extend(upload.store());
                Err(error)
            }
        }
    }

    fn upload_abandon(&mut self) {
        self.leftovers.extend(self.upload.take().and_then(|upload| upload.store()));
    }

    fn tidy(&mut self) -> Result<bool, StorageError> {
        if let Some(&store) = self.leftovers.first() {
            self.discard_some(store)?;
            return Ok(true);
        }
        if !space::is_left_over(&self.db.lock())? {
            return Ok(false);
        }
        self.transact(|db, _| space::give_back(db))?;
        Ok(true)
    }
}

fn answer(write: Write, planned: Planned) -> Result<Written, StorageError> {
    planned.map(|Stored { placed, head }| Written { placed, head, batches: write.batches })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Batch;
    use crate::storage::sqlite::{Options, open};
    use logkeep_protocol::RemoteId;

    #[test]
    fn after_a_failed_sync_nothing_is_acknowledged() {
        let mut db = Connection::open_in_memory().unwrap();
        open::configure_writer(&db, &Options::default()).unwrap();
        open::create_or_migrate(&mut db, 0, RemoteId([1; 16])).unwrap();
        let poison = Poison::default();
        let mut writer = SqliteWriter::new(Handle::new(db, None), None, poison.clone()).unwrap();
        let mut entry_ids = vec![1, 16];
        entry_ids.extend([7; 16]);
        let batch = Batch { count: 1, entry_ids: entry_ids.into(), sealed: vec![0, 0].into() };
        let scope = Scope::new("P", "s");
        let group = || vec![Write { scope: scope.clone(), batches: vec![batch.clone()] }];
        assert!(writer.write(group(), 1)[0].is_ok());

        poison.set("disk on fire".into()).unwrap();
        let poisoned =
            |error| matches!(error, Some(StorageError::Poisoned(reason)) if reason == "disk on fire");
        assert!(poisoned(writer.write(group(), 1).remove(0).err()));
        assert!(poisoned(writer.bind("P", [1; 32]).err()));
        let batches = Box::new([Ok(batch)].into_iter());
        writer.upload(Upload { scope, batches, answered_ids: 1 }).unwrap();
        assert!(poisoned(writer.upload_step(1).err()));
    }
}
