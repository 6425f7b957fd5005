//! Messages and parts on their way from the source into events.

use std::fmt::{self, Write as _};

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::json::Json;
use crate::store::StoreError;

/// A message or part that was read once.
pub(super) struct Item {
    pub(super) id: String,
    pub(super) time: i64,
    pub(super) digest: [u8; 16],
    /// What was read, unless the budget was spent; then it is read again when it is needed.
    pub(super) body: Option<Json>,
    /// Parts that were inside a message of an early form.
    pub(super) inside: Vec<Json>,
    /// Made up, because the document is damaged. It replaces nothing.
    pub(super) is_rebuilt: bool,
}

/// How many bytes of a session may stay in memory between reading and writing.
pub(super) struct Budget(usize);

/// What happened to an item since the last import.
pub(super) enum Change {
    None,
    New,
    OwnedBy(String),
}

impl Budget {
    pub(super) const NEW: Self = Self(8 << 20);

    fn spend(&mut self, bytes: usize) -> bool {
        let enough = bytes <= self.0;
        if enough {
            self.0 -= bytes;
        }
        enough
    }

    /// Gives back what an item held.
    pub(super) fn refund(&mut self, items: &[Item]) {
        let held = items.iter().filter_map(|item| item.body.as_ref()).map(size);
        self.0 += held.sum::<usize>();
    }
}

impl Item {
    pub(super) fn new(id: &str, time: i64, body: Json, budget: &mut Budget) -> Self {
        let digest = digest(&body);
        let body = budget.spend(size(&body)).then_some(body);
        Self { id: id.to_owned(), time, digest, body, inside: Vec::new(), is_rebuilt: false }
    }

    /// Compares an item with what the last import saw of it.
    pub(super) fn compare(&self, connection: &Connection, owner: &str) -> Result<Change, StoreError> {
        let mut select =
            connection.prepare_cached("SELECT owner, digest FROM imported_item WHERE id = ?1")?;
        let before: Option<(String, Vec<u8>)> =
            select.query_row([&self.id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(match before {
            None => Change::New,
            Some((before, _)) if before != owner => Change::OwnedBy(before),
            Some((_, digest)) if digest == self.digest || self.is_rebuilt => Change::None,
            Some(_) => Change::New,
        })
    }

    pub(super) fn remember(&self, connection: &Connection, owner: &str) -> Result<(), StoreError> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO imported_item (id, owner, digest) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, owner, self.digest])?;
        Ok(())
    }
}

/// By time, then id.
pub(super) fn sort(items: &mut [Item]) {
    items.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
}

/// About how much memory a value takes.
fn size(value: &Json) -> usize {
    const EACH: usize = 64;
    EACH + match value {
        Json::String(text) => text.escaped().len(),
        Json::Number(digits) => digits.len(),
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(fields) => fields.iter().map(|(name, value)| name.escaped().len() + size(value)).sum(),
        Json::Null | Json::Bool(_) => 0,
    }
}

/// The first bytes of the SHA-256 of a value as it is stored.
fn digest(value: &Json) -> [u8; 16] {
    struct Sink(Sha256);
    impl fmt::Write for Sink {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.update(text);
            Ok(())
        }
    }
    let mut sink = Sink(Sha256::new());
    // A digest takes everything.
    let _ = write!(sink, "{value}");
    let mut digest = [0; 16];
    digest.iter_mut().zip(sink.0.finalize()).for_each(|(to, from)| *to = from);
    digest
}
