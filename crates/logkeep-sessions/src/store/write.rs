//! Appending events to the log of one session.

use rusqlite::{Connection, OptionalExtension, params};

use super::events::imported_event_id;
use super::project::{project, stored_session};
use super::{SessionEvent, StoreError};
use crate::json::Json;

/// Appends to one session inside a transaction of the caller.
#[derive(Debug)]
pub(crate) struct SessionWriter<'a> {
    connection: &'a Connection,
    session: String,
    next: i64,
    appended: usize,
}

impl<'a> SessionWriter<'a> {
    pub(crate) fn new(connection: &'a Connection, session: &str) -> Result<Self, StoreError> {
        let mut select =
            connection.prepare_cached("SELECT seq FROM event_sequence WHERE aggregate_id = ?1")?;
        let last: Option<i64> = select.query_row([session], |row| row.get(0)).optional()?;
        Ok(Self { connection, session: session.to_owned(), next: last.map_or(0, |seq| seq + 1), appended: 0 })
    }

    /// Whether the session has a log but is gone.
    pub(crate) fn is_deleted(&self) -> Result<bool, StoreError> {
        Ok(self.next > 0 && self.current()?.is_none())
    }

    /// The session as its row has it now.
    pub(crate) fn current(&self) -> Result<Option<Json>, StoreError> {
        stored_session(self.connection, &self.session)
    }

    /// Applies an event to the rows and adds it to the log. `time` goes into its id.
    pub(crate) fn append(&mut self, event: &SessionEvent, time: i64) -> Result<(), StoreError> {
        project(self.connection, &self.session, event)?;
        let data = event.data(&self.session);
        let id = imported_event_id(&self.session, self.next, event.type_name(), &data, time);
        self.connection
            .prepare_cached(
                "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, ?2)
                 ON CONFLICT (aggregate_id) DO UPDATE SET seq = excluded.seq",
            )?
            .execute(params![self.session, self.next])?;
        self.connection
            .prepare_cached(
                "INSERT INTO event (id, aggregate_id, seq, type, data) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![id, self.session, self.next, event.type_name(), data])?;
        self.next += 1;
        self.appended += 1;
        Ok(())
    }

    /// Brings the figures in the session's row up to date. Returns how many events were appended.
    pub(crate) fn finish(self) -> Result<usize, StoreError> {
        if self.appended > 0 {
            self.connection
                .prepare_cached(
                    "UPDATE session SET
                     messages = (SELECT count(*) FROM message WHERE session_id = ?1),
                     parts = (SELECT count(*) FROM part WHERE session_id = ?1)
                     WHERE id = ?1",
                )?
                .execute([&self.session])?;
        }
        Ok(self.appended)
    }
}
