//! Local writes.

use rusqlite::{Connection, TransactionBehavior};

use super::Journal;
use super::error::{Failure, WriteError};
use super::rows::{self, Tags};
use crate::{Entry, NewEntry};

impl Journal {
    /// Writes entries of this device, all or none.
    ///
    /// The entries get ascending ids that sort after everything stored so far. `action` then runs
    /// once with all of them, inside the transaction that stores them; what it writes through the
    /// connection commits together with the entries. It must not end the transaction.
    ///
    /// # Errors
    /// The action's own error, unchanged, or the journal's. Either way nothing was stored.
    pub fn write<T, E>(
        &mut self,
        entries: &[NewEntry<'_>],
        action: impl FnOnce(&Connection, &[Entry]) -> Result<T, E>,
    ) -> Result<T, WriteError<E>> {
        self.write_all(entries, action).map_err(|failure| {
            self.tags = Tags::default();
            failure.during("writing entries")
        })
    }

    fn write_all<T, E>(
        &mut self,
        entries: &[NewEntry<'_>],
        action: impl FnOnce(&Connection, &[Entry]) -> Result<T, E>,
    ) -> Result<T, Failure<E>> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let ids = self.ids.draw(entries.len(), rows::greatest_id(&transaction)?)?;
        let entries: Vec<Entry> = entries
            .iter()
            .zip(ids)
            .map(|(new, id)| Entry {
                id,
                event: new.event.to_owned(),
                primary_key: new.primary_key.to_owned(),
                payload: new.payload.to_owned(),
            })
            .collect();
        let result = action(&transaction, &entries).map_err(Failure::Action)?;
        for entry in &entries {
            rows::insert(&transaction, &mut self.tags, entry, None)?;
        }
        let position = rows::latest_position(&transaction)?;
        transaction.commit()?;
        self.commits.send_replace(position);
        Ok(result)
    }
}
