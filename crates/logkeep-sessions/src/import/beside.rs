//! What belongs to a session or project but is in no event: todo lists, shares, diffs, permissions.

use rusqlite::{Connection, params};

use super::Report;
use crate::json::Json;
use crate::store::StoreError;

/// Stores a todo list in place of the one before. Entries that lack a field are named and left out.
pub(super) fn todos(
    connection: &Connection,
    report: &mut Report,
    session: &str,
    place: &str,
    entries: Vec<(i64, Json)>,
) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM todo WHERE session_id = ?1")?.execute([session])?;
    for (position, entry) in entries {
        let told = |name: &&str| entry.text(&[*name]).is_some_and(|text| !text.is_empty());
        if !["content", "status", "priority"].iter().all(told) {
            report.find(place, format!("entry {position} lacks content, status or priority; left out"));
            continue;
        }
        connection
            .prepare_cached("INSERT INTO todo (session_id, position, data) VALUES (?1, ?2, ?3)")?
            .execute(params![session, position, entry.to_string()])?;
        report.counts.todos += 1;
    }
    Ok(())
}

/// Stores a share: its address and the secret that can take it down.
pub(super) fn share(
    connection: &Connection,
    report: &mut Report,
    session: &str,
    place: &str,
    share: &Json,
) -> Result<(), StoreError> {
    // Older ones have no id.
    if share.text(&["secret"]).is_none() || share.text(&["url"]).is_none() {
        report.find(place, "lacks the secret or the address; left out");
        return Ok(());
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO session_share (session_id, data) VALUES (?1, ?2)")?
        .execute(params![session, share.to_string()])?;
    report.counts.shares += 1;
    Ok(())
}

/// Stores the diff of a session.
pub(super) fn diff(
    connection: &Connection,
    report: &mut Report,
    session: &str,
    diff: &Json,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO session_diff (session_id, data) VALUES (?1, ?2)")?
        .execute(params![session, diff.to_string()])?;
    report.counts.diffs += 1;
    Ok(())
}

/// Stores the permission rules of a project.
pub(super) fn permission(
    connection: &Connection,
    report: &mut Report,
    project: &str,
    rules: &Json,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO permission (project_id, data) VALUES (?1, ?2)")?
        .execute(params![project, rules.to_string()])?;
    report.counts.permissions += 1;
    Ok(())
}

/// Stores a project.
pub(super) fn project(
    connection: &Connection,
    report: &mut Report,
    id: &str,
    document: &Json,
) -> Result<(), StoreError> {
    let mut document = document.clone();
    document.set("id", Json::from(id));
    let worktree = document.text(&["worktree"]).unwrap_or_default().into_owned();
    connection
        .prepare_cached("INSERT OR REPLACE INTO project (id, worktree, data) VALUES (?1, ?2, ?3)")?
        .execute(params![id, worktree, document.to_string()])?;
    report.counts.projects += 1;
    Ok(())
}
