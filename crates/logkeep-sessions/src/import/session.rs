//! Importing one session: what changed since the last time becomes events.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::Report;
use super::contents::{Contents, Unusable};
use super::document::Document;
use super::early;
use super::normalise::{self, Surroundings};
use crate::ids;
use crate::json::{Json, parse};
use crate::store::{SessionEvent, SessionWriter, StoreError};

/// Documents up to this size are kept in memory between reading and writing.
const HELD: usize = 16 * 1024;

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

/// A message or part that was read once.
struct Item {
    id: String,
    time: i64,
    digest: [u8; 16],
    body: Option<Json>,
    /// Parts that were inside a message of an early form.
    inside: Vec<Json>,
}

/// Imports a session inside a transaction of the caller. `false`: it was left out, which the report tells.
pub(super) fn import(
    connection: &Connection,
    report: &mut Report,
    source: SessionSource<'_>,
    contents: &mut dyn Contents,
) -> Result<bool, StoreError> {
    let mut importer = Importer { connection, report, contents, session: source.id, directory: None };
    importer.run(source)
}

struct Importer<'a> {
    connection: &'a Connection,
    report: &'a mut Report,
    contents: &'a mut dyn Contents,
    session: &'a str,
    /// Where the first message that tells says it worked.
    directory: Option<String>,
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
        if source.document.is_none() && self.directory.is_none() {
            self.leave_out(&messages);
            return Ok(false);
        }
        let created = began.with_messages(self.session, &messages);
        let info = self.info(source, created, messages.last().map_or(0, |item| item.time));
        self.write_info(&mut writer, info)?;
        for message in messages {
            self.write_message(&mut writer, message)?;
        }
        self.report.counts.sessions += 1;
        self.report.counts.events += writer.finish()? as i64;
        Ok(true)
    }

    /// All messages by time, then id.
    fn messages(&mut self, near: i64) -> Vec<Item> {
        let mut items = Vec::new();
        for id in self.contents.messages(self.report) {
            match self.contents.message(&id) {
                Ok(document) => items.push(self.message_item(document, &id, near)),
                Err(Unusable::Elsewhere(reason)) => {
                    self.report.find(self.contents.place(Some(&id), None), reason)
                }
                Err(Unusable::Damaged(reason)) => items.extend(self.rebuilt_message(&id, &reason, near)),
            }
        }
        items.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        items
    }

    fn message_item(&mut self, mut document: Document, id: &str, near: i64) -> Item {
        let inside = early::take_parts(&mut document.value);
        if let Some(shortened) = &document.shortened {
            self.report.find(self.contents.place(Some(id), None), shortened.as_str());
        }
        let (info, time) = normalise::message(document, self.session, id, near);
        if self.directory.is_none() {
            let told = [&["path", "root"], &["path", "cwd"]];
            let told = told.iter().filter_map(|path| info.text(*path));
            self.directory = told.map(String::from).find(|path| !path.is_empty() && path != "/");
        }
        Item { inside, ..Item::new(id, time, info) }
    }

    /// A message whose document is damaged, if it has parts to rebuild it from.
    fn rebuilt_message(&mut self, id: &str, reason: &str, near: i64) -> Option<Item> {
        let place = self.contents.place(Some(id), None);
        let parts = self.contents.parts(id, self.report);
        if parts.is_empty() {
            self.report.find(place, reason);
            return None;
        }
        self.report.find(place, format!("{reason}; rebuilt from its parts"));
        let of_user = ["text", "file", "agent", "subtask", "compaction"];
        let by_assistant = parts
            .iter()
            .filter_map(|part| self.contents.part(id, part).ok())
            .any(|part| part.value.text(&["type"]).is_some_and(|kind| !of_user.contains(&&*kind)));
        let role = if by_assistant { "assistant" } else { "user" };
        let value = Json::object([("role", Json::from(role))]);
        Some(self.message_item(Document::of(value), id, near))
    }

    /// Names everything of a session that has no document and tells no directory.
    fn leave_out(&mut self, messages: &[Item]) {
        let place = self.contents.place(None, None);
        self.report.find(place, format!("session {} has no document; left out", self.session));
        for message in messages {
            self.report.find(self.contents.place(Some(&message.id), None), "has no session; set aside");
            for part in self.contents.parts(&message.id, self.report) {
                let place = self.contents.place(Some(&message.id), Some(&part));
                self.report.find(place, "has no session; set aside");
            }
        }
    }

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

    fn write_message(&mut self, writer: &mut SessionWriter<'_>, item: Item) -> Result<(), StoreError> {
        match self.compare(&item, self.session)? {
            Change::OwnedBy(other) => {
                let place = self.contents.place(Some(&item.id), None);
                self.report.find(place, format!("session {other} has a message of this id; set aside"));
                for part in self.contents.parts(&item.id, self.report) {
                    let place = self.contents.place(Some(&item.id), Some(&part));
                    self.report.find(place, "its message is set aside");
                }
                return Ok(());
            }
            Change::None => {}
            Change::New => {
                let Some(info) = self.message_body(&item) else { return Ok(()) };
                writer.append(&SessionEvent::MessageUpdated { info }, item.time)?;
                self.remember(&item, self.session)?;
            }
        }
        self.report.counts.messages += 1;
        self.write_parts(writer, &item)
    }

    fn write_parts(&mut self, writer: &mut SessionWriter<'_>, message: &Item) -> Result<(), StoreError> {
        let mut items = Vec::new();
        for id in self.contents.parts(&message.id, self.report) {
            match self.contents.part(&message.id, &id) {
                Ok(document) => items.push(self.part_item(document, message, &id)),
                Err(Unusable::Damaged(reason) | Unusable::Elsewhere(reason)) => {
                    self.report.find(self.contents.place(Some(&message.id), Some(&id)), reason);
                }
            }
        }
        for (place, part) in message.inside.iter().enumerate() {
            let id = early::part_id(part, &message.id, message.time, place);
            if part.is_object() && items.iter().all(|item: &Item| item.id != id) {
                let (part, time) =
                    normalise::part(Document::of(part.clone()), self.ids(message, &id), message.time);
                items.push(Item { body: Some(part.clone()), ..Item::new(&id, time, part) });
            }
        }
        items.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
        items.into_iter().try_for_each(|item| self.write_part(writer, message, item))
    }

    fn part_item(&mut self, document: Document, message: &Item, id: &str) -> Item {
        if let Some(shortened) = &document.shortened {
            self.report.find(self.contents.place(Some(&message.id), Some(id)), shortened.as_str());
        }
        let (part, time) = normalise::part(document, self.ids(message, id), message.time);
        Item::new(id, time, part)
    }

    fn ids<'i>(&'i self, message: &'i Item, part: &'i str) -> [&'i str; 3] {
        [self.session, &message.id, part]
    }

    fn write_part(
        &mut self,
        writer: &mut SessionWriter<'_>,
        message: &Item,
        item: Item,
    ) -> Result<(), StoreError> {
        match self.compare(&item, &message.id)? {
            Change::OwnedBy(other) => {
                let place = self.contents.place(Some(&message.id), Some(&item.id));
                self.report.find(place, format!("{other} has a part of this id; set aside"));
                return Ok(());
            }
            Change::None => {}
            Change::New => {
                let Some(part) = self.part_body(message, &item) else { return Ok(()) };
                writer.append(&SessionEvent::PartUpdated { part, time: item.time }, item.time)?;
                self.remember(&item, &message.id)?;
            }
        }
        self.report.counts.parts += 1;
        Ok(())
    }

    /// The message as it was read; one that was not kept in memory is read again.
    fn message_body(&mut self, item: &Item) -> Option<Json> {
        if let Some(body) = &item.body {
            return Some(body.clone());
        }
        match self.contents.message(&item.id) {
            Ok(mut document) => {
                early::take_parts(&mut document.value);
                Some(normalise::message(document, self.session, &item.id, item.time).0)
            }
            Err(Unusable::Damaged(reason) | Unusable::Elsewhere(reason)) => {
                self.report.find(self.contents.place(Some(&item.id), None), reason);
                None
            }
        }
    }

    fn part_body(&mut self, message: &Item, item: &Item) -> Option<Json> {
        if let Some(body) = &item.body {
            return Some(body.clone());
        }
        match self.contents.part(&message.id, &item.id) {
            Ok(document) => Some(normalise::part(document, self.ids(message, &item.id), message.time).0),
            Err(Unusable::Damaged(reason) | Unusable::Elsewhere(reason)) => {
                self.report.find(self.contents.place(Some(&message.id), Some(&item.id)), reason);
                None
            }
        }
    }

    /// Compares an item with what the last import saw of it.
    fn compare(&self, item: &Item, owner: &str) -> Result<Change, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT owner, digest FROM imported_item WHERE id = ?1")?;
        let before: Option<(String, Vec<u8>)> =
            select.query_row([&item.id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(match before {
            None => Change::New,
            Some((before, _)) if before != owner => Change::OwnedBy(before),
            Some((_, digest)) if digest == item.digest => Change::None,
            Some(_) => Change::New,
        })
    }

    fn remember(&self, item: &Item, owner: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO imported_item (id, owner, digest) VALUES (?1, ?2, ?3)")?
            .execute(params![item.id, owner, item.digest])?;
        Ok(())
    }
}

/// What happened to an item since the last import.
enum Change {
    None,
    New,
    OwnedBy(String),
}

impl Item {
    fn new(id: &str, time: i64, body: Json) -> Self {
        let text = body.to_string();
        let mut digest = [0; 16];
        digest.iter_mut().zip(Sha256::digest(&text)).for_each(|(to, from)| *to = from);
        let body = (text.len() <= HELD).then_some(body);
        Self { id: id.to_owned(), time, digest, body, inside: Vec::new() }
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
