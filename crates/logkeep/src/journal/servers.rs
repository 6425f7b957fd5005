//! What a journal remembers about servers beside its progress with them.

use rusqlite::{Connection, TransactionBehavior, params};

use super::error::{Cause, JournalError};
use super::{Journal, rows, schema};
use crate::{EntryId, RemoteId};

/// A batch that does not open or makes no sense, kept as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unopened {
    /// The sequence of its first entry.
    pub sequence: u64,
    /// The ids of its entries, as far as the server is to be believed.
    pub entry_ids: Vec<EntryId>,
    /// The nonce.
    pub iv: Vec<u8>,
    /// The encrypted entries.
    pub encrypted: Vec<u8>,
    /// Why it is here.
    pub reason: String,
}

impl Journal {
    /// Remembers which server answers at an address. Returns the one that did before, if it was
    /// another.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn remember_server(&mut self, address: &str, id: RemoteId) -> Result<Option<RemoteId>, JournalError> {
        let name = format!("server {address}");
        let remember = || {
            let before: Option<[u8; 16]> = schema::meta(&self.connection, &name)?;
            if before != Some(id.0) {
                schema::set_meta(&self.connection, &name, id.0)?;
            }
            Ok(before.map(RemoteId).filter(|before| *before != id))
        };
        remember().map_err(JournalError::during("remembering a server"))
    }

    /// Whether anything in the store of `remote` was ever seen, be it only what was uploaded.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn has_seen(&self, remote: RemoteId) -> Result<bool, JournalError> {
        let known = |id| Ok(rows::remote(&self.connection, id)?.is_some_and(|known| known.cursor > 0));
        known(remote).map_err(JournalError::during("looking up a remote"))
    }

    /// Whether all of these entries are stored.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn contains_all(&self, ids: &[EntryId]) -> Result<bool, JournalError> {
        let mut all = ids.iter().map(|id| rows::contains(&self.connection, *id));
        let missing = all.find(|known| !matches!(known, Ok(true)));
        missing.unwrap_or(Ok(true)).map_err(JournalError::during("looking up entries"))
    }

    /// Moves the cursor to `next` if it is not beyond: everything before was seen.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn seen(&mut self, remote: RemoteId, next: u64) -> Result<(), JournalError> {
        let advance = |_| Ok((rows::column(next)?, 0));
        self.advance(remote, advance).map_err(JournalError::during("moving the cursor"))
    }

    /// Forgets all progress with a remote, so that everything is exchanged with it again. For a
    /// server that has lost what it had.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn forget_progress(&mut self, remote: RemoteId) -> Result<(), JournalError> {
        let forget = "UPDATE remotes SET cursor = 0, checkpoint = 0, attempt = 0 WHERE id = ?";
        let forgotten = self.connection.execute(forget, [remote.0]).map(drop).map_err(Cause::from);
        forgotten.map_err(JournalError::during("forgetting progress"))
    }

    /// Keeps batches that do not open, so that they are not lost.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn set_aside(&mut self, remote: RemoteId, batches: &[Unopened]) -> Result<(), JournalError> {
        set_aside(&mut self.connection, remote, batches)
            .map_err(JournalError::during("setting batches aside"))
    }

    /// The batches of `remote` that were set aside, by sequence.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn unopened(&self, remote: RemoteId) -> Result<Vec<Unopened>, JournalError> {
        unopened(&self.connection, remote).map_err(JournalError::during("reading batches set aside"))
    }

    /// Adds to the count of batches sealed with a key, on disk before it returns, and gives the
    /// count before. `key` names the key.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn reserve_seals(&mut self, key: &str, seals: u64) -> Result<u64, JournalError> {
        let name = format!("seals {key}");
        let reserve = || {
            let before: i64 = schema::meta(&self.connection, &name)?.unwrap_or(0);
            schema::set_meta(&self.connection, &name, before.saturating_add(rows::column(seals)?))?;
            schema::sync_to_disk(&self.connection)?;
            Ok(before.unsigned_abs())
        };
        reserve().map_err(JournalError::during("counting seals"))
    }
}

fn set_aside(connection: &mut Connection, remote: RemoteId, batches: &[Unopened]) -> Result<(), Cause> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = rows::ensure_remote(&transaction, remote)?;
    for batch in batches {
        let ids: Vec<u8> = batch.entry_ids.iter().flat_map(|id| id.0).collect();
        let sequence = rows::column(batch.sequence)?;
        transaction
            .prepare_cached("INSERT OR REPLACE INTO unopened VALUES (?, ?, ?, ?, ?, ?)")?
            .execute(params![known.number, sequence, ids, batch.iv, batch.encrypted, batch.reason])?;
    }
    Ok(transaction.commit()?)
}

fn unopened(connection: &Connection, remote: RemoteId) -> Result<Vec<Unopened>, Cause> {
    let Some(known) = rows::remote(connection, remote)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT sequence, entry_ids, iv, encrypted, reason FROM unopened WHERE remote = ? ORDER BY sequence",
    )?;
    let batches = statement.query_map([known.number], |row| {
        let ids: Vec<u8> = row.get(1)?;
        Ok(Unopened {
            sequence: row.get::<_, i64>(0)?.unsigned_abs(),
            entry_ids: ids.as_chunks().0.iter().map(|id| EntryId(*id)).collect(),
            iv: row.get(2)?,
            encrypted: row.get(3)?,
            reason: row.get(4)?,
        })
    })?;
    Ok(batches.collect::<Result<_, _>>()?)
}
