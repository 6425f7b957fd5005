//! What an imported entry has to be reconciled with: stored entries with the same tag and
//! primary key and a greater id (EL-056).

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::error::Cause;
use super::rows;
use crate::{Entry, EntryId};

/// An event tag and a primary key.
type Subject<'a> = (&'a str, &'a str);

/// The stored entries behind the oldest anchor of each subject, in id order.
#[derive(Debug, Default)]
pub(super) struct Conflicts<'a>(HashMap<Subject<'a>, Vec<Entry>>);

impl<'a> Conflicts<'a> {
    /// Reads all conflicts of a batch of (entry, anchor).
    pub(super) fn read(
        connection: &Connection,
        batch: impl Iterator<Item = (&'a Entry, EntryId)>,
    ) -> Result<Self, Cause> {
        let Some(greatest) = rows::greatest_id(connection)? else { return Ok(Self::default()) };
        let mut oldest: HashMap<Subject<'a>, EntryId> = HashMap::new();
        for (entry, anchor) in batch {
            // News usually sorts after everything stored; then there is nothing to look up.
            if anchor < greatest {
                let subject = (entry.event.as_str(), entry.primary_key.as_str());
                let known = oldest.entry(subject).or_insert(anchor);
                *known = anchor.min(*known);
            }
        }
        let found =
            oldest.into_iter().map(|(subject, anchor)| Ok((subject, stored(connection, subject, anchor)?)));
        Ok(Self(found.collect::<Result<_, Cause>>()?))
    }

    /// The conflicts of one entry of the batch.
    pub(super) fn of(&self, entry: &'a Entry, anchor: EntryId) -> &[Entry] {
        let stored = self.0.get(&(entry.event.as_str(), entry.primary_key.as_str()));
        let stored = stored.map(Vec::as_slice).unwrap_or_default();
        stored.get(stored.partition_point(|entry| entry.id <= anchor)..).unwrap_or_default()
    }
}

fn stored(
    connection: &Connection,
    (event, primary_key): Subject<'_>,
    after: EntryId,
) -> Result<Vec<Entry>, Cause> {
    let Some(tag) = rows::tag_number(connection, event)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT e.id, e.payload FROM entries e
         WHERE e.primary_key = ?1 AND e.id > ?2 AND +e.tag = ?3 ORDER BY e.id",
    )?;
    let entries = statement.query_map(params![primary_key, after.0, tag], |row| {
        Ok(Entry {
            id: EntryId(row.get(0)?),
            event: event.to_owned(),
            primary_key: primary_key.to_owned(),
            payload: row.get(1)?,
        })
    })?;
    Ok(entries.collect::<Result<_, _>>()?)
}
