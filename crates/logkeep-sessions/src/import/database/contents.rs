//! Messages and parts of a database.

use rusqlite::Connection;

use super::schema::Schema;
use crate::import::Report;
use crate::import::contents::{Contents, Unusable};
use crate::import::document::{self, Document};
use crate::json::Json;

/// A session in a database.
pub(super) struct RowContents<'a> {
    pub(super) connection: &'a Connection,
    pub(super) schema: &'a Schema,
    /// Name of the database in the report.
    pub(super) database: &'a str,
    pub(super) session: &'a str,
    pub(super) limit: usize,
}

impl RowContents<'_> {
    fn ids(&self, table: &str, column: &str, id: &str, report: &mut Report) -> Vec<String> {
        let mut ids = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let query = format!("SELECT id FROM {table} WHERE {column} = ?1");
            let mut select = self.connection.prepare_cached(&query)?;
            let mut rows = select.query([id])?;
            while let Some(row) = rows.next()? {
                ids.push(row.get(0)?);
            }
            Ok(())
        };
        if let Err(error) = read() {
            report.find(self.place(None, None), format!("{table} rows cannot be read: {error}"));
        }
        ids
    }

    fn document(&self, table: &'static str, id: &str) -> Result<Document, Unusable> {
        let damaged = |error: rusqlite::Error| Unusable::Damaged(format!("cannot be read: {error}"));
        let time = self.schema.column(table, "time_created");
        let query = format!("SELECT rowid, {time}, octet_length(data) FROM {table} WHERE id = ?1");
        let mut select = self.connection.prepare_cached(&query).map_err(damaged)?;
        let (row, row_time, size): (i64, Option<i64>, Option<i64>) =
            select.query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(damaged)?;
        let (value, shortened) = stored(self.connection, table, "data", row, size.unwrap_or(0), self.limit)
            .map_err(Unusable::Damaged)?;
        if !value.is_object() {
            return Err(Unusable::Damaged("is no object".to_owned()));
        }
        Ok(Document { value, shortened, row_time, file_time: None })
    }
}

impl Contents for RowContents<'_> {
    fn messages(&mut self, report: &mut Report) -> Vec<String> {
        self.ids("message", "session_id", self.session, report)
    }

    fn message(&mut self, message: &str) -> Result<Document, Unusable> {
        self.document("message", message)
    }

    fn parts(&mut self, message: &str, report: &mut Report) -> Vec<String> {
        self.ids("part", "message_id", message, report)
    }

    fn part(&mut self, _message: &str, part: &str) -> Result<Document, Unusable> {
        self.document("part", part)
    }

    fn place(&self, message: Option<&str>, part: Option<&str>) -> String {
        let row = match (message, part) {
            (_, Some(part)) => format!("part {part}"),
            (Some(message), _) => format!("message {message}"),
            _ => format!("session {}", self.session),
        };
        format!("{}: {row}", self.database)
    }
}

/// A JSON value from a column. A large one is read piece by piece, and its long strings are shortened.
pub(super) fn stored(
    connection: &Connection,
    table: &str,
    column: &str,
    row: i64,
    size: i64,
    limit: usize,
) -> Result<(Json, Option<String>), String> {
    let blob = connection
        .blob_open("main", table, column, row, true)
        .map_err(|error| format!("cannot be read: {error}"))?;
    document::parse(blob, size.unsigned_abs(), limit)
}
