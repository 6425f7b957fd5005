//! Whether replaying a log gives the rows that are there.

use std::collections::BTreeMap;

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::json::{Json, parse};

/// Above this many bytes log and rows are not compared: logs grow to many gigabytes, and rows count anyway.
const MOST_BYTES: i64 = 64 << 20;

/// Fields of a session that both sides must agree on. The time of the last change is none: a clock sets it.
const COMPARED: [&[&str]; 5] =
    [&["title"], &["directory"], &["parentID"], &["share", "url"], &["time", "archived"]];

type Hash = [u8; 32];

/// The state a log leads to, by hashes.
#[derive(Default)]
struct Replayed {
    info: Option<Json>,
    messages: BTreeMap<String, Hash>,
    /// With the message each belongs to.
    parts: BTreeMap<String, (String, Hash)>,
}

/// What a faultless log says otherwise than the rows of its session.
pub(super) fn with_rows(connection: &Connection, session: &str) -> rusqlite::Result<Vec<String>> {
    let mut size = connection.prepare_cached(
        "SELECT (SELECT coalesce(sum(octet_length(data)), 0) FROM event WHERE aggregate_id = ?1)
         + (SELECT coalesce(sum(octet_length(data)), 0) FROM message WHERE session_id = ?1)
         + (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = ?1)",
    )?;
    let bytes: i64 = size.query_row([session], |row| row.get(0))?;
    if bytes > MOST_BYTES {
        return Ok(vec![format!("its log and rows of {bytes} bytes were not compared")]);
    }
    let replayed = match replay(connection, session)? {
        Ok(replayed) => replayed,
        Err(event) => return Ok(vec![format!("its log is damaged at event {event}; taken from its rows")]),
    };
    let mut differing = replayed.session_differences(connection, session)?;
    differing.extend(differences(connection, "message", session, replayed.messages)?);
    let parts = replayed.parts.into_iter().map(|(id, (_, hash))| (id, hash)).collect();
    differing.extend(differences(connection, "part", session, parts)?);
    if differing.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![format!("its log and its rows disagree about {}; taken from its rows", differing.join(", "))])
}

/// Applies the events of a session. The inner error is the id of an event that cannot be read.
fn replay(connection: &Connection, session: &str) -> rusqlite::Result<Result<Replayed, String>> {
    let mut select =
        connection.prepare_cached("SELECT id, type, data FROM event WHERE aggregate_id = ?1 ORDER BY seq")?;
    let mut rows = select.query([session])?;
    let mut replayed = Replayed::default();
    while let Some(row) = rows.next()? {
        let type_name: String = row.get(1)?;
        match parse(row.get_ref(2)?.as_bytes_or_null()?.unwrap_or_default()) {
            Ok(data) => replayed.apply(&type_name, &data),
            Err(_) => return Ok(Err(row.get(0)?)),
        }
    }
    Ok(Ok(replayed))
}

impl Replayed {
    fn apply(&mut self, type_name: &str, data: &Json) {
        let text = |path: &[&str]| data.text(path).unwrap_or_default().into_owned();
        match type_name {
            "session.created.1" => self.info = data.get(&["info"]).cloned(),
            "session.updated.1" => {
                if let (Some(info), Some(patch)) = (&mut self.info, data.get(&["info"])) {
                    info.merge_patch(patch.clone());
                }
            }
            "message.updated.1" => {
                if let Some(info) = data.get(&["info"]) {
                    self.messages.insert(text(&["info", "id"]), hash(info));
                }
            }
            "message.removed.1" => {
                let message = text(&["messageID"]);
                self.messages.remove(&message);
                self.parts.retain(|_, (owner, _)| *owner != message);
            }
            "message.part.updated.1" => {
                if let Some(part) = data.get(&["part"]) {
                    self.parts.insert(text(&["part", "id"]), (text(&["part", "messageID"]), hash(part)));
                }
            }
            "message.part.removed.1" => drop(self.parts.remove(&text(&["partID"]))),
            _ => {}
        }
    }

    fn session_differences(&self, connection: &Connection, session: &str) -> rusqlite::Result<Vec<String>> {
        let mut select = connection.prepare_cached(
            "SELECT title, directory, parent_id, share_url, time_archived FROM session WHERE id = ?1",
        )?;
        let row: [Option<Json>; 5] = select.query_row([session], |row| {
            let text = |index| {
                Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(index)?.map(|t| Json::from(&*t)))
            };
            Ok([text(0)?, text(1)?, text(2)?, text(3)?, row.get::<_, Option<i64>>(4)?.map(Json::from)])
        })?;
        let differing = COMPARED.iter().zip(row).filter(|(path, row)| {
            let logged =
                self.info.as_ref().and_then(|info| info.get(path)).filter(|value| **value != Json::Null);
            logged != row.as_ref()
        });
        Ok(differing.map(|(path, _)| path.join(".")).collect())
    }
}

/// Ids of a table's rows that the log lacks, has otherwise, or has beyond the rows.
fn differences(
    connection: &Connection,
    table: &str,
    session: &str,
    mut logged: BTreeMap<String, Hash>,
) -> rusqlite::Result<Vec<String>> {
    let mut select = connection
        .prepare_cached(&format!("SELECT id, data FROM {table} WHERE session_id = ?1 ORDER BY id"))?;
    let mut rows = select.query([session])?;
    let mut differing = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let stored = parse(row.get_ref(1)?.as_bytes_or_null()?.unwrap_or_default()).ok();
        let same = stored.is_some_and(|stored| logged.get(&id) == Some(&hash(&stored)));
        logged.remove(&id);
        if !same {
            differing.push(id);
        }
    }
    differing.extend(logged.into_keys());
    Ok(differing)
}

/// A hash of a document without the ids that rows hold in columns, whatever the order of its fields.
fn hash(document: &Json) -> Hash {
    let ids = ["id", "sessionID", "messageID"];
    let kept = document.fields().iter().filter(|(name, _)| !ids.iter().any(|id| name == *id));
    let value = Json::Object(kept.cloned().collect()).sorted();
    Sha256::digest(value.to_string()).into()
}
