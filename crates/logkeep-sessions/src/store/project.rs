//! What each event does to the rows (SY-096).

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension, params};

use super::{SessionEvent, StoreError};
use crate::json::{Json, parse};

/// Applies an event inside the caller's transaction.
pub(super) fn project(
    connection: &Connection,
    session: &str,
    event: &SessionEvent,
) -> Result<(), StoreError> {
    match event {
        SessionEvent::Created { info } => insert_session(connection, session, info),
        SessionEvent::Updated { info } => update_session(connection, session, info),
        SessionEvent::Deleted { .. } => {
            connection.prepare_cached("DELETE FROM session WHERE id = ?1")?.execute([session])?;
            Ok(())
        }
        SessionEvent::MessageUpdated { info } => put_message(connection, session, info),
        SessionEvent::MessageRemoved { message } => {
            let mut delete =
                connection.prepare_cached("DELETE FROM message WHERE id = ?1 AND session_id = ?2")?;
            delete.execute([message, session])?;
            Ok(())
        }
        SessionEvent::PartUpdated { part, time } => put_part(connection, session, part, *time),
        SessionEvent::PartRemoved { part, .. } => {
            let mut delete =
                connection.prepare_cached("DELETE FROM part WHERE id = ?1 AND session_id = ?2")?;
            delete.execute([part, session])?;
            Ok(())
        }
    }
}

fn insert_session(connection: &Connection, session: &str, info: &Json) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO session (id, project_id, directory, title, time_created, time_updated, data)
             VALUES (?1, '', '', '', 0, 0, '')",
        )?
        .execute([session])?;
    write_session(connection, session, info)
}

fn update_session(connection: &Connection, session: &str, patch: &Json) -> Result<(), StoreError> {
    let Some(mut info) = stored_session(connection, session)? else {
        return Err(StoreError::Damaged {
            what: format!("log: session {session} is updated before it exists"),
        });
    };
    info.merge_patch(patch.clone());
    write_session(connection, session, &info)
}

/// The session as a whole, from its row.
pub(super) fn stored_session(connection: &Connection, session: &str) -> Result<Option<Json>, StoreError> {
    let mut select = connection.prepare_cached("SELECT data FROM session WHERE id = ?1")?;
    let data: Option<String> = select.query_row([session], |row| row.get(0)).optional()?;
    let damaged = |_| StoreError::Damaged { what: format!("session {session}") };
    data.map(|data| parse(data.as_bytes()).map_err(damaged)).transpose()
}

fn write_session(connection: &Connection, session: &str, info: &Json) -> Result<(), StoreError> {
    let text = |path: &[&str]| info.text(path).unwrap_or_default().into_owned();
    let created = info.integer(&["time", "created"]).unwrap_or(0);
    connection
        .prepare_cached(
            "UPDATE session SET project_id = ?2, parent_id = ?3, directory = ?4, title = ?5, time_created = ?6,
             time_updated = ?7, time_archived = ?8, data = ?9 WHERE id = ?1",
        )?
        .execute(params![
            session,
            text(&["projectID"]),
            info.text(&["parentID"]),
            text(&["directory"]),
            text(&["title"]),
            created,
            info.integer(&["time", "updated"]).unwrap_or(created),
            info.integer(&["time", "archived"]),
            info.to_string(),
        ])?;
    Ok(())
}

fn put_message(connection: &Connection, session: &str, info: &Json) -> Result<(), StoreError> {
    let id = info.text(&["id"]).unwrap_or_default();
    let created = info.integer(&["time", "created"]).unwrap_or(0);
    let data = without(info, &["id", "sessionID"]);
    connection
        .prepare_cached(
            "INSERT INTO message (id, session_id, time_created, data) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET data = excluded.data",
        )?
        .execute(params![id, session, created, data])?;
    Ok(())
}

fn put_part(connection: &Connection, session: &str, part: &Json, time: i64) -> Result<(), StoreError> {
    let id = part.text(&["id"]).unwrap_or_default();
    let message = part.text(&["messageID"]).unwrap_or_default();
    let data = without(part, &["id", "sessionID", "messageID"]);
    connection
        .prepare_cached(
            "INSERT INTO part (id, message_id, session_id, time_created, data) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET data = excluded.data",
        )?
        .execute(params![id, message, session, time, data])?;
    Ok(())
}

/// An object as text, without the fields that have columns of their own.
fn without(document: &Json, names: &[&str]) -> String {
    let mut text = String::from("{");
    for (name, value) in
        document.fields().iter().filter(|(name, _)| !names.iter().any(|other| name == *other))
    {
        let comma = if text.len() == 1 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}\"{}\":{value}", name.escaped());
    }
    text.push('}');
    text
}
