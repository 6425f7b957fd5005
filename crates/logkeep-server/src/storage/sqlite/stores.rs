//! What the writer knows of a store.

use logkeep_protocol::Scope;
use rusqlite::{Connection, OptionalExtension};

use super::ids::{Id, IdIndex};
use super::rows::{self, BlobIds, Parts};
use crate::storage::{Batch, FIRST_SEQUENCE, Millis, Placed, StorageError};

/// A store as it is after everything planned so far.
pub(super) struct Store {
    /// What stands for the scope in all other tables.
    pub(super) number: i64,
    /// The sequence the next entry gets.
    pub(super) next: u64,
    /// When the store was last written to.
    pub(super) written_at: Millis,
    /// The ids it has seen.
    pub(super) ids: IdIndex,
}

impl Store {
    /// Reads the store of a scope.
    pub(super) fn load(db: &Connection, scope: &Scope) -> Result<Option<Self>, StorageError> {
        let mut select = db.prepare_cached(
            "SELECT number, next_sequence, written_at, indexed_through FROM store
             WHERE public_key = ?1 AND name = ?2",
        )?;
        let found: Option<(i64, u64, Millis, u64)> = select
            .query_row((&scope.public_key, &scope.store), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let Some((number, next, written_at, indexed_through)) = found else { return Ok(None) };
        check_next(number, next)?;
        let ids = IdIndex::load(db, number, indexed_through)?;
        Ok(Some(Self { number, next, written_at, ids }))
    }

    /// Creates the store of a scope that has none.
    pub(super) fn create(db: &Connection, scope: &Scope, now: Millis) -> Result<Self, StorageError> {
        db.prepare_cached(
            "INSERT INTO store (public_key, name, next_sequence, indexed_through, written_at)
             VALUES (?1, ?2, ?3, 0, ?4)",
        )?
        .execute((&scope.public_key, &scope.store, FIRST_SEQUENCE, now))?;
        let number = db.last_insert_rowid();
        Ok(Self { number, next: FIRST_SEQUENCE, written_at: now, ids: IdIndex::empty(number) })
    }

    /// Places a batch with the given ids behind what is there, unless all of them are known (SV-042). Of a
    /// large batch the parts remain to be written.
    pub(super) fn place(
        &mut self,
        db: &Connection,
        blobs: &mut BlobIds,
        batch: &Batch,
        ids: &[Id],
    ) -> Result<(Placed, Option<Parts>), StorageError> {
        if let Some(sequences) = self.known(db, ids)? {
            return Ok((Placed::Known { sequences }, None));
        }
        let first = self.next;
        self.next += ids.len() as u64;
        self.ids.insert_all(ids, first);
        let parts = rows::insert(db, blobs, self.number, self.next - 1, batch)?;
        Ok((Placed::Stored { first }, parts))
    }

    /// Where the ids were first stored, if all of them were.
    fn known(&self, db: &Connection, ids: &[Id]) -> Result<Option<Vec<Option<u64>>>, StorageError> {
        let mut sequences = Vec::new();
        for &id in ids {
            let Some(sequence) = self.ids.first_sequence(db, id)? else { return Ok(None) };
            sequences.push(Some(sequence));
        }
        Ok(Some(sequences))
    }

    /// Notes that the store was written to, behind the sequence `head`. The first write of a new second
    /// leaves a mark of what was stored until the end of the one before; the latest second is in the row.
    pub(super) fn touch(&mut self, db: &Connection, head: u64, now: Millis) -> Result<(), StorageError> {
        let (last_second, second) = (self.written_at / 1_000, now / 1_000);
        if second > last_second && head >= FIRST_SEQUENCE {
            db.prepare_cached("INSERT INTO time_mark (store, second, last) VALUES (?1, ?2, ?3)")?
                .execute((self.number, last_second, head))?;
        }
        self.written_at = self.written_at.max(now);
        Ok(())
    }

    /// Writes the store's row: what was placed becomes visible.
    pub(super) fn save(&self, db: &Connection) -> Result<(), StorageError> {
        db.prepare_cached(
            "UPDATE store SET next_sequence = ?2, written_at = ?3, indexed_through = ?4 WHERE number = ?1",
        )?
        .execute((self.number, self.next, self.written_at, self.ids.indexed_through()))?;
        Ok(())
    }

    /// Lets the id index write what it has too much of in memory.
    pub(super) fn fold(&mut self, db: &Connection) -> Result<(), StorageError> {
        let before = self.ids.indexed_through();
        self.ids.fold(db, self.next - 1)?;
        if self.ids.indexed_through() > before {
            db.prepare_cached("UPDATE store SET indexed_through = ?2 WHERE number = ?1")?
                .execute((self.number, self.ids.indexed_through()))?;
        }
        Ok(())
    }
}

/// Refuses a next sequence that no store can have.
pub(super) fn check_next(store: i64, next: u64) -> Result<(), StorageError> {
    if next < FIRST_SEQUENCE {
        return Err(StorageError::Damaged(format!("next sequence of store {store}")));
    }
    Ok(())
}

/// The number of the store of a scope.
pub(super) fn number(db: &Connection, scope: &Scope) -> Result<Option<i64>, StorageError> {
    let mut select = db.prepare_cached("SELECT number FROM store WHERE public_key = ?1 AND name = ?2")?;
    Ok(select.query_row((&scope.public_key, &scope.store), |row| row.get(0)).optional()?)
}
