//! Importing one session: what changed since the last time becomes events.

mod item;
mod messages;
mod parts;

use rusqlite::{Connection, OptionalExtension, params};

use super::Report;
use super::contents::Contents;
use super::document::Document;
use super::normalise::{self, Surroundings};
use crate::ids;
use crate::json::{Json, parse};
use crate::store::{SessionEvent, SessionWriter, StoreError};
use item::{Budget, Item};

/// What is known about a session beside its contents.
#[derive(Debug)]
pub(super) struct SessionSource<'a> {
    pub(super) id: &'a str,
    pub(super) project: String,
    /// The work tree of the project; empty if unknown.
    pub(super) worktree: String,
    /// The session document; without it, the session is rebuilt.
    pub(super) document: Option<Document>,
}

/// Imports a session inside a transaction of the caller. `false`: it was left out, which the report tells.
pub(super) fn import(
    connection: &Connection,
    report: &mut Report,
    source: SessionSource<'_>,
    contents: &mut dyn Contents,
) -> Result<bool, StoreError> {
    let session = source.id;
    let mut importer =
        Importer { connection, report, contents, session, directory: None, budget: Budget::NEW };
    importer.run(source)
}

struct Importer<'a> {
    connection: &'a Connection,
    report: &'a mut Report,
    contents: &'a mut dyn Contents,
    session: &'a str,
    /// Where the first message that tells says it worked.
    directory: Option<String>,
    budget: Budget,
}

impl Importer<'_> {
    fn run(&mut self, source: SessionSource<'_>) -> Result<bool, StoreError> {
        let mut writer = SessionWriter::new(self.connection, self.session)?;
        if writer.is_deleted()? {
            self.report.find(self.contents.place(None, None), "was deleted here and does not come back");
            return Ok(false);
        }
        let began = Began::of(self.session, source.document.as_ref());
        let messages = self.messages(began.near());
        let is_known = writer.current()?.is_some();
        if source.document.is_some() || (self.directory.is_some() && !is_known) {
            let created = began.with_messages(self.session, &messages);
            let info = self.info(source, created, messages.last().map_or(0, |item| item.time));
            self.write_info(&mut writer, info)?;
        } else if is_known {
            let reason =
                format!("session {} has no document now; kept as it was imported before", self.session);
            self.report.find(self.contents.place(None, None), reason);
        } else {
            self.leave_out(&messages);
            return Ok(false);
        }
        for message in messages {
            self.write_message(&mut writer, message)?;
        }
        self.report.counts.sessions += 1;
        self.report.counts.events += writer.finish()? as i64;
        Ok(true)
    }

    /// Names everything of a session that has no document and tells no directory.
    fn leave_out(&mut self, messages: &[Item]) {
        let place = self.contents.place(None, None);
        self.report.find(place, format!("session {} has no document; left out", self.session));
        messages.iter().for_each(|message| self.set_aside(message, "has no session; set aside"));
    }

    /// The session as events carry it.
    fn info(&mut self, source: SessionSource<'_>, created: i64, last: i64) -> Json {
        let place = self.contents.place(None, None);
        let known = if source.worktree.len() > 1 { Some(source.worktree) } else { self.directory.clone() };
        let directory = known.unwrap_or_default();
        let around =
            Surroundings { id: self.session, project: &source.project, directory: &directory, created, last };
        let document = source.document.unwrap_or_else(|| {
            self.report.find(
                &*place,
                format!("session {} has no document; rebuilt from its messages", self.session),
            );
            let value = Json::object([("title", Json::from("Recovered session"))]);
            Document::of(value)
        });
        if let Some(shortened) = document.shortened {
            self.report.find(&*place, shortened);
        }
        let mut faults = Vec::new();
        let info = normalise::session(document.value, &around, &mut faults);
        faults.into_iter().for_each(|fault| self.report.find(&*place, fault));
        info
    }

    /// Creates the session, or changes what the source changed since the last import.
    fn write_info(&self, writer: &mut SessionWriter<'_>, info: Json) -> Result<(), StoreError> {
        let created = info.integer(&["time", "created"]).unwrap_or(0);
        let text = info.to_string();
        match (writer.current()?, self.last_imported()?) {
            (None, _) => writer.append(&SessionEvent::Created { info }, created)?,
            (Some(_), Some(before)) if before == text => return Ok(()),
            (Some(current), before) => {
                let before = before.and_then(|text| parse(text.as_bytes()).ok()).unwrap_or(current);
                if let Some(patch) = before.patch_to(&info) {
                    let updated = info.integer(&["time", "updated"]).unwrap_or(created);
                    writer.append(&SessionEvent::Updated { info: patch }, updated)?;
                }
            }
        }
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO imported_session (session_id, info) VALUES (?1, ?2)")?
            .execute(params![self.session, text])?;
        Ok(())
    }

    fn last_imported(&self) -> Result<Option<String>, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT info FROM imported_session WHERE session_id = ?1")?;
        Ok(select.query_row([self.session], |row| row.get(0)).optional()?)
    }
}

/// When a session began, as far as its own document tells.
struct Began {
    told: Option<i64>,
    guessed: Option<i64>,
}

impl Began {
    fn of(session: &str, document: Option<&Document>) -> Self {
        let told = document.and_then(|document| document.value.integer(&["time", "created"]));
        let written = document.and_then(|document| document.file_time);
        let guessed = written.map(|written| ids::time_before(session, written).unwrap_or(written));
        Self { told, guessed }
    }

    /// A time near its messages.
    fn near(&self) -> i64 {
        self.told.or(self.guessed).unwrap_or(0)
    }

    /// Messages tell better than the file when a session without a time began.
    fn with_messages(&self, session: &str, messages: &[Item]) -> i64 {
        let first = messages.first().map(|message| message.time);
        let told = self.told.or_else(|| first.map(|first| ids::time_near(session, first).unwrap_or(first)));
        told.or(self.guessed).unwrap_or(0)
    }
}
