//! The parts of a message.

use super::item::{self, Change, Item};
use super::{Importer, normalise};
use crate::import::contents::Unusable;
use crate::import::document::Document;
use crate::import::early;
use crate::json::Json;
use crate::store::{SessionEvent, SessionWriter, StoreError};

impl Importer<'_> {
    /// Writes the parts of a message by time, then id.
    pub(super) fn write_parts(
        &mut self,
        writer: &mut SessionWriter<'_>,
        message: &Item,
    ) -> Result<(), StoreError> {
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
                items.push(self.inner_item(part, message, &id));
            }
        }
        item::sort(&mut items);
        self.budget.refund(&items);
        items.into_iter().try_for_each(|item| self.write_part(writer, message, item))
    }

    fn part_item(&mut self, document: Document, message: &Item, id: &str) -> Item {
        if let Some(shortened) = &document.shortened {
            self.report.find(self.contents.place(Some(&message.id), Some(id)), shortened.as_str());
        }
        let (part, time) = normalise::part(document, [self.session, &message.id, id], message.time);
        Item::new(id, time, part, &mut self.budget)
    }

    /// A part that was inside its message. It is in memory in any case.
    fn inner_item(&mut self, part: &Json, message: &Item, id: &str) -> Item {
        let document = Document::of(part.clone());
        let (part, time) = normalise::part(document, [self.session, &message.id, id], message.time);
        let mut item = Item::new(id, time, part.clone(), &mut self.budget);
        item.body.get_or_insert(part);
        item
    }

    fn write_part(
        &mut self,
        writer: &mut SessionWriter<'_>,
        message: &Item,
        mut item: Item,
    ) -> Result<(), StoreError> {
        match item.compare(self.connection, &message.id)? {
            Change::OwnedBy(other) => {
                let place = self.contents.place(Some(&message.id), Some(&item.id));
                self.report.find(place, format!("{other} has a part of this id; set aside"));
                return Ok(());
            }
            Change::None => {}
            Change::New => {
                let Some(part) = self.part_body(message, &mut item) else { return Ok(()) };
                writer.append(&SessionEvent::PartUpdated { part, time: item.time }, item.time)?;
                item.remember(self.connection, &message.id)?;
            }
        }
        self.report.counts.parts += 1;
        Ok(())
    }

    /// The part as it was read; one that was not kept in memory is read again.
    fn part_body(&mut self, message: &Item, item: &mut Item) -> Option<Json> {
        if let Some(body) = item.body.take() {
            return Some(body);
        }
        let ids = [self.session, &message.id, &item.id];
        match self.contents.part(&message.id, &item.id) {
            Ok(document) => Some(normalise::part(document, ids, message.time).0),
            Err(Unusable::Damaged(reason) | Unusable::Elsewhere(reason)) => {
                self.report.find(self.contents.place(Some(&message.id), Some(&item.id)), reason);
                None
            }
        }
    }
}
