//! Which databases are understood.

use std::collections::HashSet;

use rusqlite::Connection;

/// The migrations whose schema this program understands, oldest first.
const KNOWN: [&str; 10] = [
    "20260127222353_familiar_lady_ursula",
    "20260211171708_add_project_commands",
    "20260213144116_wakeful_the_professor",
    "20260225215848_workspace",
    "20260227213759_add_session_workspace_id",
    "20260228203230_blue_harpoon",
    "20260303231226_add_workspace_fields",
    "20260309230000_move_org_to_state",
    "20260312043431_session_message_cursor",
    "20260323234822_events",
];

/// When the last known migration was made, in milliseconds since 1970, as the table of migrations tells it.
const LAST_KNOWN: i64 = 1_774_309_702_000;

/// Tables and columns of a database.
#[derive(Debug)]
pub(super) struct Schema {
    columns: HashSet<(String, String)>,
}

impl Schema {
    /// Reads the schema of a database that is understood.
    ///
    /// The error says why it is not. A database of another program has no sessions.
    pub(super) fn of(connection: &Connection) -> Result<Self, String> {
        let columns = columns(connection).map_err(|error| format!("is damaged: {error}"))?;
        let schema = Self { columns };
        if !schema.has_table("session") {
            return Err(String::from("holds no sessions"));
        }
        let unknown = schema.unknown_migration(connection).map_err(|error| format!("is damaged: {error}"))?;
        if let Some(name) = unknown {
            return Err(format!("is newer than this program understands: its migration {name} is unknown"));
        }
        let needed = [("session", "id"), ("message", "id"), ("message", "session_id"), ("message", "data")];
        let of_part = [("part", "id"), ("part", "message_id"), ("part", "data")];
        match needed.iter().chain(&of_part).find(|(table, column)| !schema.has(table, column)) {
            Some((table, column)) => Err(format!("has an unknown schema: {table}.{column} is missing")),
            None => Ok(schema),
        }
    }

    pub(super) fn has_table(&self, table: &str) -> bool {
        self.columns.iter().any(|(found, _)| found == table)
    }

    pub(super) fn has(&self, table: &str, column: &str) -> bool {
        self.columns.contains(&(table.to_owned(), column.to_owned()))
    }

    /// A column, or NULL where this version does not have it.
    pub(super) fn column(&self, table: &str, column: &'static str) -> &'static str {
        if self.has(table, column) { column } else { "NULL" }
    }

    fn unknown_migration(&self, connection: &Connection) -> rusqlite::Result<Option<String>> {
        const TABLE: &str = "__drizzle_migrations";
        if !self.has_table(TABLE) {
            return Ok(None);
        }
        let (name, made) = (self.column(TABLE, "name"), self.column(TABLE, "created_at"));
        let mut select = connection.prepare(&format!("SELECT {name}, {made} FROM {TABLE}"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let name = row.get::<_, Option<String>>(0)?.unwrap_or_default();
            let made: Option<i64> = row.get(1)?;
            let unknown = if name.is_empty() { made > Some(LAST_KNOWN) } else { !KNOWN.contains(&&*name) };
            if unknown {
                return Ok(Some(if name.is_empty() {
                    format!("made at {}", made.unwrap_or(0))
                } else {
                    name
                }));
            }
        }
        Ok(None)
    }
}

fn columns(connection: &Connection) -> rusqlite::Result<HashSet<(String, String)>> {
    let mut select = connection.prepare(
        "SELECT tables.name, columns.name FROM sqlite_schema AS tables
         JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'",
    )?;
    let columns = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    columns.collect()
}
