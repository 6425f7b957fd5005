//! Rows of a database as the documents they were made from.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::contents::stored;
use super::schema::Schema;
use crate::import::Finding;
use crate::import::document::Document;
use crate::json::{Json, parse};

/// Columns of a session beside its diffs, with their place in a session document.
const SESSION_COLUMNS: [&str; 17] = [
    "slug",
    "workspace_id",
    "directory",
    "parent_id",
    "title",
    "version",
    "share_url",
    "summary_additions",
    "summary_deletions",
    "summary_files",
    "revert",
    "permission",
    "time_created",
    "time_updated",
    "time_compacting",
    "time_archived",
    "project_id",
];

/// A session row: its project, that project's work tree, and the session as a document.
pub(super) fn session(
    connection: &Connection,
    schema: &Schema,
    row: i64,
    limit: usize,
) -> Result<(String, String, Option<Document>), String> {
    let told = |error: rusqlite::Error| format!("cannot be read: {error}");
    let columns = SESSION_COLUMNS.map(|column| format!("{} AS {column}", schema.column("session", column)));
    let size = if schema.has("session", "summary_diffs") { "octet_length(summary_diffs)" } else { "NULL" };
    let query = format!("SELECT {}, {size} AS diffs_size FROM session WHERE rowid = ?1", columns.join(", "));
    let mut select = connection.prepare_cached(&query).map_err(told)?;
    let read = |row: &Row<'_>| {
        let project: Option<String> = row.get("project_id")?;
        Ok((project.unwrap_or_default(), row.get::<_, Option<i64>>("diffs_size")?, session_document(row)?))
    };
    let (project, diffs_size, mut document) = select.query_row([row], read).map_err(told)?;
    let mut shortened = None;
    if let Some(size) = diffs_size {
        let (diffs, cut) = stored(connection, "session", "summary_diffs", row, size, limit)?;
        let mut summary = document.get(&["summary"]).cloned().unwrap_or(Json::Object(Vec::new()));
        summary.set("diffs", diffs);
        document.set("summary", summary);
        shortened = cut;
    }
    let worktree = worktree(connection, schema, &project).unwrap_or_default();
    let document = Document { value: document, shortened, row_time: None, file_time: None };
    Ok((project, worktree, Some(document)))
}

fn worktree(connection: &Connection, schema: &Schema, project: &str) -> Option<String> {
    if !schema.has("project", "worktree") {
        return None;
    }
    let mut select = connection.prepare_cached("SELECT worktree FROM project WHERE id = ?1").ok()?;
    select.query_row([project], |row| row.get(0)).optional().ok()?
}

/// A session row in the form of a document (SY-100).
fn session_document(row: &Row<'_>) -> rusqlite::Result<Json> {
    let mut session = Json::Object(Vec::new());
    for (name, column) in [
        ("slug", "slug"),
        ("workspaceID", "workspace_id"),
        ("directory", "directory"),
        ("parentID", "parent_id"),
        ("title", "title"),
        ("version", "version"),
    ] {
        set(&mut session, name, plain(row, column)?);
    }
    let summary = group(
        row,
        [("additions", "summary_additions"), ("deletions", "summary_deletions"), ("files", "summary_files")],
    )?;
    set(&mut session, "summary", summary.map(with_zeros));
    set(&mut session, "share", group(row, [("url", "share_url")])?);
    set(&mut session, "revert", parsed(row, "revert")?);
    set(&mut session, "permission", parsed(row, "permission")?);
    let times = [
        ("created", "time_created"),
        ("updated", "time_updated"),
        ("compacting", "time_compacting"),
        ("archived", "time_archived"),
    ];
    set(&mut session, "time", group(row, times)?);
    Ok(session)
}

/// An object from columns; `None` if all are NULL.
fn group<const N: usize>(row: &Row<'_>, columns: [(&str, &str); N]) -> rusqlite::Result<Option<Json>> {
    let mut object = Json::Object(Vec::new());
    for (name, column) in columns {
        set(&mut object, name, plain(row, column)?);
    }
    Ok((!object.fields().is_empty()).then_some(object))
}

fn with_zeros(mut figures: Json) -> Json {
    for name in ["additions", "deletions", "files"] {
        if figures.get(&[name]).is_none() {
            figures.set(name, Json::from(0));
        }
    }
    figures
}

fn set(object: &mut Json, name: &str, value: Option<Json>) {
    if let Some(value) = value {
        object.set(name, value);
    }
}

/// A column as JSON string or number.
fn plain(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Json>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(Json::from(number)),
        ValueRef::Real(number) if number.is_finite() => Some(Json::Number(number.to_string().into())),
        ValueRef::Real(_) => None,
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(Json::from(&*String::from_utf8_lossy(text))),
    })
}

/// A column that holds JSON. What is none becomes a string, which the check of the field then refuses by name.
fn parsed(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Json>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Some(parse(text).unwrap_or_else(|_| Json::from(&*String::from_utf8_lossy(text))))
        }
        _ => plain(row, column)?,
    })
}

/// Projects with their permission rules.
pub(super) fn projects(
    connection: &Connection,
    schema: &Schema,
) -> rusqlite::Result<Vec<(String, Json, Option<Json>)>> {
    if !schema.has("project", "id") {
        return Ok(Vec::new());
    }
    let columns = [
        "worktree",
        "vcs",
        "name",
        "icon_url",
        "icon_color",
        "time_created",
        "time_updated",
        "time_initialized",
        "sandboxes",
        "commands",
    ];
    let columns = columns.map(|column| format!("{} AS {column}", schema.column("project", column)));
    let rules = if schema.has("permission", "data") {
        "(SELECT data FROM permission WHERE project_id = project.id)"
    } else {
        "NULL"
    };
    let query = format!("SELECT id, {}, {rules} AS rules FROM project ORDER BY id", columns.join(", "));
    let mut select = connection.prepare(&query)?;
    let rows =
        select.query_map([], |row| Ok((row.get(0)?, project_document(row)?, parsed(row, "rules")?)))?;
    rows.collect()
}

fn project_document(row: &Row<'_>) -> rusqlite::Result<Json> {
    let mut project = Json::Object(Vec::new());
    for name in ["worktree", "vcs", "name"] {
        set(&mut project, name, plain(row, name)?);
    }
    set(&mut project, "icon", group(row, [("url", "icon_url"), ("color", "icon_color")])?);
    let times =
        [("created", "time_created"), ("updated", "time_updated"), ("initialized", "time_initialized")];
    set(&mut project, "time", group(row, times)?);
    for name in ["sandboxes", "commands"] {
        set(&mut project, name, parsed(row, name)?);
    }
    Ok(project)
}

/// The todo list of a session with the places of its entries.
pub(super) fn todos(
    connection: &Connection,
    schema: &Schema,
    session: &str,
) -> rusqlite::Result<Vec<(i64, Json)>> {
    if !schema.has("todo", "position") {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(
        "SELECT position, content, status, priority FROM todo WHERE session_id = ?1 ORDER BY position",
    )?;
    let rows = select.query_map([session], |row| {
        let mut todo = Json::Object(Vec::new());
        for name in ["content", "status", "priority"] {
            set(&mut todo, name, plain(row, name)?);
        }
        Ok((row.get(0)?, todo))
    })?;
    rows.collect()
}

/// The share of a session.
pub(super) fn share(
    connection: &Connection,
    schema: &Schema,
    session: &str,
) -> rusqlite::Result<Option<Json>> {
    if !schema.has("session_share", "secret") {
        return Ok(None);
    }
    let mut select =
        connection.prepare_cached("SELECT id, secret, url FROM session_share WHERE session_id = ?1")?;
    let share =
        select.query_row([session], |row| group(row, [("id", "id"), ("secret", "secret"), ("url", "url")]));
    Ok(share.optional()?.flatten())
}

/// Rows that belong to nothing, or to two things, by id.
pub(super) fn strays(connection: &Connection, schema: &Schema, database: &str) -> Vec<Finding> {
    let mut queries = vec![
        (
            "message",
            "SELECT id, 'its session ' || session_id || ' is missing; set aside' FROM message
             WHERE session_id NOT IN (SELECT id FROM session)",
        ),
        (
            "part",
            "SELECT part.id, 'its message ' || part.message_id || ' is missing; set aside' FROM part
             LEFT JOIN message ON message.id = part.message_id
             LEFT JOIN session ON session.id = message.session_id WHERE session.id IS NULL",
        ),
    ];
    if schema.has("part", "session_id") {
        queries.push((
            "part",
            "SELECT part.id, 'names session ' || part.session_id || ', its message ' || message.session_id
             FROM part JOIN message ON message.id = part.message_id
             WHERE part.session_id <> message.session_id",
        ));
    }
    for (table, what) in [("todo", "todo list of"), ("session_share", "share of")] {
        if schema.has(table, "session_id") {
            queries.push((what, stray_query(table)));
        }
    }
    if schema.has_table("workspace") {
        queries.push(("workspace", "SELECT id, 'workspaces are not taken over' FROM workspace"));
    }
    queries.into_iter().flat_map(|(what, query)| stray(connection, database, what, query)).collect()
}

fn stray_query(table: &str) -> &'static str {
    match table {
        "todo" => {
            "SELECT DISTINCT session_id, 'its session is missing; set aside' FROM todo
             WHERE session_id NOT IN (SELECT id FROM session)"
        }
        _ => {
            "SELECT session_id, 'its session is missing; set aside' FROM session_share
             WHERE session_id NOT IN (SELECT id FROM session)"
        }
    }
}

fn stray(connection: &Connection, database: &str, what: &str, query: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut read = || -> rusqlite::Result<()> {
        let mut select = connection.prepare(query)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            findings.push(Finding { place: format!("{database}: {what} {id}"), reason: row.get(1)? });
        }
        Ok(())
    };
    if let Err(error) = read() {
        findings.push(Finding { place: database.to_owned(), reason: format!("is damaged: {error}") });
    }
    findings
}
