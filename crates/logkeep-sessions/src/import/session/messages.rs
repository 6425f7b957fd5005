//! The messages of a session.

use super::item::{self, Change, Item};
use super::{Importer, normalise};
use crate::import::contents::Unusable;
use crate::import::document::Document;
use crate::import::early;
use crate::json::Json;
use crate::store::{SessionEvent, SessionWriter, StoreError};

/// Types of parts that a user writes; all others come from an assistant.
const OF_USER: [&str; 5] = ["text", "file", "agent", "subtask", "compaction"];

impl Importer<'_> {
    /// All messages by time, then id.
    pub(super) fn messages(&mut self, near: i64) -> Vec<Item> {
        let mut items = Vec::new();
        for id in self.contents.messages(self.report) {
            match self.contents.message(&id) {
                Ok(document) => items.push(self.message_item(document, &id, near)),
                Err(Unusable::Elsewhere(reason)) => {
                    self.report.find(self.contents.place(Some(&id), None), reason);
                }
                Err(Unusable::Damaged(reason)) => items.extend(self.rebuilt_message(&id, &reason, near)),
            }
        }
        item::sort(&mut items);
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
        Item { inside, ..Item::new(id, time, info, &mut self.budget) }
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
        let by_assistant = parts
            .iter()
            .filter_map(|part| self.contents.part(id, part).ok())
            .any(|part| part.value.text(&["type"]).is_some_and(|kind| !OF_USER.contains(&&*kind)));
        let role = if by_assistant { "assistant" } else { "user" };
        let document = Document::of(Json::object([("role", Json::from(role))]));
        Some(Item { is_rebuilt: true, ..self.message_item(document, id, near) })
    }

    pub(super) fn write_message(
        &mut self,
        writer: &mut SessionWriter<'_>,
        mut item: Item,
    ) -> Result<(), StoreError> {
        match item.compare(self.connection, self.session)? {
            Change::OwnedBy(other) => {
                self.set_aside(&item, &format!("session {other} has a message of this id; set aside"));
                return Ok(());
            }
            Change::None => {}
            Change::New => {
                let Some(info) = self.message_body(&mut item) else { return Ok(()) };
                writer.append(&SessionEvent::MessageUpdated { info }, item.time)?;
                item.remember(self.connection, self.session)?;
            }
        }
        self.report.counts.messages += 1;
        self.write_parts(writer, &item)
    }

    /// Names a message and its parts.
    pub(super) fn set_aside(&mut self, message: &Item, reason: &str) {
        self.report.find(self.contents.place(Some(&message.id), None), reason);
        for part in self.contents.parts(&message.id, self.report) {
            self.report.find(self.contents.place(Some(&message.id), Some(&part)), "its message is set aside");
        }
    }

    /// The message as it was read; one that was not kept in memory is read again.
    fn message_body(&mut self, item: &mut Item) -> Option<Json> {
        if let Some(body) = item.body.take() {
            return Some(body);
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
}
