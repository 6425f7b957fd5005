//! Importing a database of the agent.
//!
//! Its rows are the truth about a session; its log is only checked against them.

mod compare;
mod contents;
mod log;
mod open;
mod rows;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::contents::Contents;
use super::session::{self, SessionSource};
use super::{ImportError, Importing, beside};
use crate::store::StoreError;
use contents::RowContents;
use schema::Schema;

/// A database that can be read.
struct Database {
    name: String,
    file: PathBuf,
    connection: Connection,
    schema: Schema,
    sessions: Vec<SessionRow>,
}

/// Where a session row is, and how new.
struct SessionRow {
    id: String,
    row: i64,
    updated: i64,
}

/// Imports all databases of the source. Of a session in several, the row updated last counts.
/// `only` restricts the import to one file.
pub(super) fn import(
    importing: &mut Importing<'_>,
    only: Option<&Path>,
    scratch: &Path,
) -> Result<(), ImportError> {
    let files = only.map_or_else(|| find(importing), |file| vec![file.to_owned()]);
    let before: Vec<_> = files.iter().map(|file| open::state(file)).collect();
    let databases = open_all(importing, &files, scratch);
    for (index, database) in databases.iter().enumerate() {
        for row in &database.sessions {
            if newest(&databases, &row.id) == Some(index) {
                importing.database_sessions.insert(row.id.clone(), database.name.clone());
            }
        }
    }
    importing.position.total += importing.database_sessions.len();
    for database in &databases {
        import_database(importing, database)?;
    }
    for database in &databases {
        tell(importing, database)?;
    }
    for (file, before) in files.iter().zip(before) {
        if open::state(file) != before {
            importing.find(file, "was written to while it was read; import again");
        }
    }
    Ok(())
}

/// Database files in the data directory. Files of another name that hold a database are named.
fn find(importing: &mut Importing<'_>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(importing.source).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || path.is_dir() {
            continue;
        }
        if name.ends_with(".db") {
            files.push(path);
        } else if open::is_database(&path).unwrap_or(false) {
            importing.find(&path, "is a database, but not named like one in use; not read");
        }
    }
    // The plain name before the names of channels.
    files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
    files
}

fn open_all(importing: &mut Importing<'_>, files: &[PathBuf], scratch: &Path) -> Vec<Database> {
    let mut databases = Vec::new();
    for (number, file) in files.iter().enumerate() {
        match Database::open(file, &scratch.join(number.to_string())) {
            Ok(database) => databases.push(database),
            Err(reason) => {
                importing.report.refused = true;
                importing.find(file, format!("{reason}; not read"));
            }
        }
    }
    databases
}

/// The database whose row of a session was updated last; of equals, the first.
fn newest(databases: &[Database], session: &str) -> Option<usize> {
    let updated = |database: &Database| {
        let row = database.sessions.binary_search_by(|row| row.id.as_str().cmp(session)).ok()?;
        database.sessions.get(row).map(|row| row.updated)
    };
    let found =
        databases.iter().enumerate().filter_map(|(index, database)| Some((updated(database)?, index)));
    found.rev().max_by_key(|(updated, _)| *updated).map(|(_, index)| index)
}

impl Database {
    fn open(file: &Path, scratch: &Path) -> Result<Self, String> {
        if !open::is_database(file).map_err(|error| format!("cannot be read: {error}"))? {
            return Err("is no SQLite database, or damaged at its beginning".to_owned());
        }
        let connection = open::open(file, scratch)?;
        let schema = Schema::of(&connection)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sessions = session_rows(&connection, &schema).map_err(|error| format!("is damaged: {error}"))?;
        Ok(Self { name, file: file.to_owned(), connection, schema, sessions })
    }

    fn contents<'a>(&'a self, session: &'a str, limit: usize) -> RowContents<'a> {
        RowContents {
            connection: &self.connection,
            schema: &self.schema,
            database: &self.name,
            session,
            limit,
        }
    }
}

fn session_rows(connection: &Connection, schema: &Schema) -> rusqlite::Result<Vec<SessionRow>> {
    let updated = schema.column("session", "time_updated");
    let mut select = connection.prepare(&format!("SELECT rowid, id, {updated} FROM session ORDER BY id"))?;
    let rows = select.query_map([], |row| {
        Ok(SessionRow {
            row: row.get(0)?,
            id: row.get(1)?,
            updated: row.get::<_, Option<i64>>(2)?.unwrap_or(0),
        })
    })?;
    rows.collect()
}

fn import_database(importing: &mut Importing<'_>, database: &Database) -> Result<(), ImportError> {
    importing.in_transaction(|importing| projects(importing, database))?;
    for row in &database.sessions {
        if importing.database_sessions.get(&row.id) == Some(&database.name) {
            importing.in_transaction(|importing| one_session(importing, database, row))?;
            importing.step();
        }
    }
    Ok(())
}

/// Names what is not taken from a database, and the faults of its log.
fn tell(importing: &mut Importing<'_>, database: &Database) -> Result<(), ImportError> {
    for row in &database.sessions {
        if importing.database_sessions.get(&row.id) != Some(&database.name) {
            importing.overridden(&mut database.contents(&row.id, importing.limit), &row.id)?;
        }
    }
    let findings = rows::strays(&database.connection, &database.schema, &database.name);
    importing.report.findings.extend(findings);
    log::check(&database.connection, &database.schema, &database.name, &mut importing.report);
    Ok(())
}

fn projects(importing: &mut Importing<'_>, database: &Database) -> Result<(), StoreError> {
    match rows::projects(&database.connection, &database.schema) {
        Ok(projects) => {
            for (id, project, rules) in projects {
                if importing.database_projects.contains(&id) {
                    continue;
                }
                beside::project(importing.connection, &mut importing.report, &id, &project)?;
                if let Some(rules) = rules {
                    beside::permission(importing.connection, &mut importing.report, &id, &rules)?;
                }
                importing.database_projects.insert(id);
            }
        }
        Err(error) => importing.find(&database.file, format!("projects cannot be read: {error}")),
    }
    Ok(())
}

fn one_session(
    importing: &mut Importing<'_>,
    database: &Database,
    row: &SessionRow,
) -> Result<(), StoreError> {
    let mut contents = database.contents(&row.id, importing.limit);
    let place = contents.place(None, None);
    let read = rows::session(&database.connection, &database.schema, row.row, importing.limit);
    let (project, worktree, document) = match read {
        Ok(read) => read,
        Err(reason) => {
            importing.report.find(&*place, reason);
            (String::from("global"), String::new(), None)
        }
    };
    let source = SessionSource { id: &row.id, project, worktree, document };
    if !session::import(importing.connection, &mut importing.report, source, &mut contents)? {
        return Ok(());
    }
    importing.stored.insert(row.id.clone());
    let (connection, report) = (importing.connection, &mut importing.report);
    match rows::todos(&database.connection, &database.schema, &row.id) {
        Ok(todos) => beside::todos(connection, report, &row.id, &place, todos)?,
        Err(error) => report.find(&*place, format!("todo list cannot be read: {error}")),
    }
    match rows::share(&database.connection, &database.schema, &row.id) {
        Ok(Some(share)) => beside::share(connection, report, &row.id, &place, &share)?,
        Ok(None) => {}
        Err(error) => report.find(&*place, format!("share cannot be read: {error}")),
    }
    Ok(())
}
