//! Reading sessions for people and programs.

use rusqlite::{OptionalExtension, Row};

use super::project::stored_session;
use super::{LoggedEvent, SessionStore, StoreError};
use crate::json::{Json, parse};

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// Id of the session.
    pub id: String,
    /// Title, possibly empty.
    pub title: String,
    /// Directory it worked in, possibly empty.
    pub directory: String,
    /// Project it is filed under.
    pub project: String,
    /// The session it was forked or delegated from.
    pub parent: Option<String>,
    /// Number of messages.
    pub messages: i64,
    /// Number of parts of all messages.
    pub parts: i64,
    /// When it began, in milliseconds since 1970.
    pub created: i64,
    /// When it last changed, in milliseconds since 1970.
    pub updated: i64,
    /// When it was archived.
    pub archived: Option<i64>,
}

/// A message with its id and session.
#[derive(Debug, Clone)]
pub struct MessageRow {
    /// Id of the message.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// The message as the agent knows it, ids included.
    pub info: Json,
}

/// A part with its ids.
#[derive(Debug, Clone)]
pub struct PartRow {
    /// Id of the part.
    pub id: String,
    /// The part as the agent knows it, ids included.
    pub part: Json,
}

impl SessionStore {
    /// All sessions, the one that changed last first. `directory` keeps those of
    /// one directory, whatever project they are filed under.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn list(&self, directory: Option<&str>) -> Result<Vec<SessionLine>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id, title, directory, project_id, parent_id, messages, parts, time_created, time_updated,
             time_archived FROM session WHERE ?1 IS NULL OR directory = ?1 ORDER BY time_updated DESC, id",
        )?;
        let lines = select.query_map([directory], session_line)?.collect::<Result<_, _>>()?;
        Ok(lines)
    }

    /// A session as a whole, or `None` if there is none of this id.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn session(&self, id: &str) -> Result<Option<Json>, StoreError> {
        stored_session(&self.connection, id)
    }

    /// Hands the messages of a session to `visit`, by time, then id, each with
    /// its parts in the same order. Only one message is in memory at a time.
    ///
    /// # Errors
    /// The first error of `visit`, and what SQLite reports.
    pub fn each_message<E: From<StoreError>>(
        &self,
        session: &str,
        mut visit: impl FnMut(MessageRow, Vec<PartRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut select = self
            .connection
            .prepare_cached(
                "SELECT id, time_created, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
            )
            .map_err(StoreError::from)?;
        let mut rows = select.query([session]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let message = message_row(session, row)?;
            let parts = self.parts(session, &message.id)?;
            visit(message, parts)?;
        }
        Ok(())
    }

    /// Hands the log of a session to `visit`, in order.
    ///
    /// # Errors
    /// The first error of `visit`, and what SQLite reports.
    pub fn each_event<E: From<StoreError>>(
        &self,
        session: &str,
        mut visit: impl FnMut(LoggedEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id, seq, type, data FROM event WHERE aggregate_id = ?1 ORDER BY seq")
            .map_err(StoreError::from)?;
        let mut rows = select.query([session]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            visit(logged_event(session, row)?)?;
        }
        Ok(())
    }

    fn parts(&self, session: &str, message: &str) -> Result<Vec<PartRow>, StoreError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY time_created, id")?;
        let mut rows = select.query([message])?;
        let mut parts = Vec::new();
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let ids = [("id", &*id), ("sessionID", session), ("messageID", message)];
            parts.push(PartRow { part: with_ids("part", &ids, &row.get::<_, String>(1)?)?, id });
        }
        Ok(parts)
    }

    /// The todo list of a session.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn todos(&self, session: &str) -> Result<Vec<Json>, StoreError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT data FROM todo WHERE session_id = ?1 ORDER BY position")?;
        let mut rows = select.query([session])?;
        let mut todos = Vec::new();
        while let Some(row) = rows.next()? {
            todos.push(with_ids("todo", &[], &row.get::<_, String>(0)?)?);
        }
        Ok(todos)
    }

    /// The stored diff of a session.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn diff(&self, session: &str) -> Result<Option<Json>, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT data FROM session_diff WHERE session_id = ?1")?;
        let data: Option<String> = select.query_row([session], |row| row.get(0)).optional()?;
        data.map(|data| {
            parse(data.as_bytes()).map_err(|_| StoreError::Damaged { what: format!("diff of {session}") })
        })
        .transpose()
    }
}

fn session_line(row: &Row<'_>) -> rusqlite::Result<SessionLine> {
    Ok(SessionLine {
        id: row.get(0)?,
        title: row.get(1)?,
        directory: row.get(2)?,
        project: row.get(3)?,
        parent: row.get(4)?,
        messages: row.get(5)?,
        parts: row.get(6)?,
        created: row.get(7)?,
        updated: row.get(8)?,
        archived: row.get(9)?,
    })
}

fn message_row(session: &str, row: &Row<'_>) -> Result<MessageRow, StoreError> {
    let id: String = row.get(0)?;
    let info = with_ids("message", &[("id", &id), ("sessionID", session)], &row.get::<_, String>(2)?)?;
    Ok(MessageRow { id, created: row.get(1)?, info })
}

fn logged_event(session: &str, row: &Row<'_>) -> Result<LoggedEvent, StoreError> {
    let id: String = row.get(0)?;
    let data: String = row.get(3)?;
    let data = parse(data.as_bytes()).map_err(|_| StoreError::Damaged { what: format!("event {id}") })?;
    Ok(LoggedEvent { id, seq: row.get(1)?, type_name: row.get(2)?, session: session.to_owned(), data })
}

/// A stored object with the ids that its columns hold in front.
fn with_ids(what: &str, ids: &[(&str, &str)], data: &str) -> Result<Json, StoreError> {
    let first = ids.first().map_or("", |(_, id)| *id);
    let damaged = |_| StoreError::Damaged { what: format!("{what} {first}") };
    let stored = parse(data.as_bytes()).map_err(damaged)?;
    let mut fields: Vec<_> = ids.iter().map(|(name, id)| ((*name).into(), Json::from(*id))).collect();
    fields.extend(stored.fields().iter().cloned());
    Ok(Json::Object(fields))
}
