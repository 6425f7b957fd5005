//! Reading the journal, one row at a time.

use std::ops::ControlFlow;

use rusqlite::{Connection, ToSql, params_from_iter};

use super::error::{Cause, JournalError};
use super::{Journal, rows};
use crate::{Entry, EntryId};

/// Which entries, in which order. The default is all of them by id.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// Only ids from this one on.
    pub from: Option<EntryId>,
    /// Only ids below this one.
    pub until: Option<EntryId>,
    /// Only entries with this event tag.
    pub event: Option<&'a str>,
    /// Only entries with this primary key.
    pub primary_key: Option<&'a str>,
    /// In which order.
    pub order: Order,
    /// At most so many.
    pub limit: Option<u64>,
}

/// The order of a query's results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Ascending by id: oldest first.
    #[default]
    Oldest,
    /// Descending by id: newest first.
    Newest,
}

impl Journal {
    /// Hands the entries of a query to `visit`, one after another, until it breaks. Memory does
    /// not grow with the number of entries.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn read(
        &self,
        query: &Query<'_>,
        visit: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        read(&self.connection, query, visit).map_err(JournalError::during("reading entries"))
    }

    /// How many entries a query has.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn count(&self, query: &Query<'_>) -> Result<u64, JournalError> {
        count(&self.connection, query).map_err(JournalError::during("counting entries"))
    }

    /// Hands the newest `count` entries of a query to `visit`, oldest of them first.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn tail(
        &self,
        query: &Query<'_>,
        count: u64,
        visit: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        tail(&self.connection, query, count, visit).map_err(JournalError::during("reading entries"))
    }

    /// The stored entries with these ids, in the order of `ids`; `None` where there is none.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn entries_by_id(&self, ids: &[EntryId]) -> Result<Vec<Option<Entry>>, JournalError> {
        entries_by_id(&self.connection, ids).map_err(JournalError::during("reading entries"))
    }

    /// Hands the entries behind a position of the insertion order to `visit`, with their
    /// positions. To follow a journal, start at [`Journal::position`] and remember the last one.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn read_inserted(
        &self,
        after: i64,
        inserted: Inserted,
        visit: impl FnMut(i64, Entry) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        read_inserted(&self.connection, after, inserted, visit)
            .map_err(JournalError::during("reading entries"))
    }

    /// The position of the entry that was stored last, 0 if there is none.
    ///
    /// # Errors
    /// If the journal fails.
    pub fn position(&self) -> Result<i64, JournalError> {
        rows::latest_position(&self.connection).map_err(JournalError::during("reading the position"))
    }
}

/// Which entries of the insertion order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// All of them.
    Any,
    /// Only those written on this device.
    Locally,
}

/// A WHERE clause and what it binds.
struct Conditions {
    text: String,
    values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// `None` if no entry can match.
    fn of(connection: &Connection, query: &Query<'_>) -> Result<Option<Self>, Cause> {
        let mut conditions = Self { text: "true".to_owned(), values: Vec::new() };
        if let Some(primary_key) = query.primary_key {
            conditions.add("e.primary_key = ?", primary_key.to_owned());
        }
        if let Some(event) = query.event {
            let Some(tag) = rows::tag_number(connection, event)? else { return Ok(None) };
            // A primary key is the narrower condition: keep the tag from choosing the index.
            conditions.add(if query.primary_key.is_some() { "+e.tag = ?" } else { "e.tag = ?" }, tag);
        }
        if let Some(from) = query.from {
            conditions.add("e.id >= ?", from.0);
        }
        if let Some(until) = query.until {
            conditions.add("e.id < ?", until.0);
        }
        Ok(Some(conditions))
    }

    fn add(&mut self, condition: &str, value: impl ToSql + 'static) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.push(Box::new(value));
    }
}

fn read(
    connection: &Connection,
    query: &Query<'_>,
    mut visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), Cause> {
    let Some(conditions) = Conditions::of(connection, query)? else { return Ok(()) };
    let order = if query.order == Order::Oldest { "ASC" } else { "DESC" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {} FROM entries e CROSS JOIN tags t ON t.tag = e.tag WHERE {} ORDER BY e.id {order} LIMIT {}",
        rows::COLUMNS,
        conditions.text,
        limit(query.limit),
    ))?;
    let mut found = statement.query(params_from_iter(&conditions.values))?;
    while let Some(row) = found.next()? {
        if visit(rows::entry(row)?).is_break() {
            break;
        }
    }
    Ok(())
}

fn count(connection: &Connection, query: &Query<'_>) -> Result<u64, Cause> {
    let Some(conditions) = Conditions::of(connection, query)? else { return Ok(0) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT count(*) FROM (SELECT 1 FROM entries e WHERE {} LIMIT {})",
        conditions.text,
        limit(query.limit),
    ))?;
    let count: i64 = statement.query_row(params_from_iter(&conditions.values), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

fn tail(
    connection: &Connection,
    query: &Query<'_>,
    count: u64,
    visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), Cause> {
    let mut first = None;
    let newest = Query { order: Order::Newest, limit: Some(count), ..*query };
    read(connection, &newest, |entry| {
        first = Some(entry.id);
        ControlFlow::Continue(())
    })?;
    match first {
        Some(first) => read(connection, &Query { from: Some(first), order: Order::Oldest, ..*query }, visit),
        None => Ok(()),
    }
}

/// SQLite takes a negative limit for none.
fn limit(limit: Option<u64>) -> i64 {
    limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

fn entries_by_id(connection: &Connection, ids: &[EntryId]) -> Result<Vec<Option<Entry>>, Cause> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {} FROM entries e JOIN tags t ON t.tag = e.tag WHERE e.id = ?",
        rows::COLUMNS
    ))?;
    let mut entry_of = |id: &EntryId| {
        let mut found = statement.query([id.0])?;
        Ok(found.next()?.map(rows::entry).transpose()?)
    };
    ids.iter().map(&mut entry_of).collect()
}

fn read_inserted(
    connection: &Connection,
    after: i64,
    inserted: Inserted,
    mut visit: impl FnMut(i64, Entry) -> ControlFlow<()>,
) -> Result<(), Cause> {
    let source = if inserted == Inserted::Locally { "AND e.source IS NULL" } else { "" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {}, e.position FROM entries e CROSS JOIN tags t ON t.tag = e.tag
         WHERE e.position > ? {source} ORDER BY e.position",
        rows::COLUMNS
    ))?;
    let mut found = statement.query([after])?;
    while let Some(row) = found.next()? {
        if visit(row.get(4)?, rows::entry(row)?).is_break() {
            break;
        }
    }
    Ok(())
}
