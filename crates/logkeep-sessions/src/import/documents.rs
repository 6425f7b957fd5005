//! Importing the documents of a data directory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::contents::TreeContents;
use super::document::{self, Document};
use super::folder::{Entry, Scanner, shown};
use super::plan::{Beside, Candidate, Plan};
use super::session::{self, SessionSource};
use super::tree::Tree;
use super::{ImportError, Importing, beside};
use crate::ids::{self, Kind};
use crate::json::Json;
use crate::store::StoreError;

/// A candidate whose document could be read.
struct Readable<'a> {
    candidate: &'a Candidate,
    document: Document,
}

pub(super) fn import(importing: &mut Importing<'_>, plan: &Plan) -> Result<(), ImportError> {
    projects(importing, plan)?;
    let mut seen = HashSet::new();
    for (id, candidates) in &plan.sessions {
        if importing.database_sessions.contains_key(id) {
            overridden(importing, plan, id, candidates, &mut seen)?;
        } else {
            importing.in_transaction(|importing| one_session(importing, plan, id, candidates, &mut seen))?;
        }
        importing.step();
    }
    for (id, documents) in &plan.beside {
        importing.in_transaction(|importing| beside_session(importing, id, documents))?;
    }
    importing.in_transaction(|importing| permissions(importing, plan))?;
    Ok(orphans(importing, plan, &seen)?)
}

fn projects(importing: &mut Importing<'_>, plan: &Plan) -> Result<(), StoreError> {
    importing.in_transaction(|importing| {
        plan.projects.iter().filter(|(id, _)| !importing.database_projects.contains(*id)).try_for_each(
            |(id, project)| beside::project(importing.connection, &mut importing.report, id, project),
        )
    })
}

fn one_session(
    importing: &mut Importing<'_>,
    plan: &Plan,
    id: &str,
    candidates: &[Candidate],
    seen: &mut HashSet<String>,
) -> Result<(), StoreError> {
    let chosen = choose(importing, candidates);
    // A damaged document still tells where it lies.
    let told = chosen.as_ref().map(|chosen| chosen.candidate).or(candidates.first());
    let path = told.map_or_else(|| message_folder(importing, id), |told| told.entry.path.clone());
    let project = told.map_or_else(|| "global".to_owned(), |told| told.entry.project.clone());
    let worktree = plan.projects.get(&project).and_then(|project| project.text(&["worktree"]));
    let worktree = worktree.map(String::from).unwrap_or_default();
    let trees = trees_from(plan, told.map_or(0, |told| told.tree));
    let mut contents = TreeContents::new(importing.source, trees, id, path, importing.limit);
    let source = SessionSource { id, project, worktree, document: chosen.map(|chosen| chosen.document) };
    if session::import(importing.connection, &mut importing.report, source, &mut contents)? {
        importing.stored.insert(id.to_owned());
    }
    seen.extend(contents.into_message_ids());
    Ok(())
}

/// All trees, beginning with the one of the document that counts.
fn trees_from(plan: &Plan, first: usize) -> Vec<&Tree> {
    let others = plan.trees.iter().enumerate().filter(|(index, _)| *index != first).map(|(_, tree)| tree);
    plan.trees.get(first).into_iter().chain(others).collect()
}

/// What the report names when a session has no document.
fn message_folder(importing: &Importing<'_>, session: &str) -> PathBuf {
    importing.source.join("storage/message").join(session)
}

/// The document that counts: the one with the latest `time.updated`, else the first. The others are named.
fn choose<'a>(importing: &mut Importing<'_>, candidates: &'a [Candidate]) -> Option<Readable<'a>> {
    let mut best: Option<Readable<'a>> = None;
    for candidate in candidates {
        let document = match document::read(&candidate.entry.path, importing.limit) {
            Ok(document) if document.value.is_object() => document,
            Ok(_) => {
                importing.find(&candidate.entry.path, "is no object");
                continue;
            }
            Err(reason) => {
                importing.find(&candidate.entry.path, reason);
                continue;
            }
        };
        let found = Readable { candidate, document };
        let set_aside = match best.take() {
            None => {
                best = Some(found);
                continue;
            }
            Some(before) if updated(&found) > updated(&before) => best.insert(found).replaced(before),
            Some(before) => best.insert(before).replaced(found),
        };
        if let Some(path) = set_aside {
            importing.find(path, "another document of this session counts; set aside");
        }
    }
    best
}

impl<'a> Readable<'a> {
    /// The path of the other document, unless it says the same.
    fn replaced(&self, other: Self) -> Option<&'a Path> {
        let same = self.document.value == other.document.value
            && self.candidate.entry.project == other.candidate.entry.project;
        (!same).then_some(&*other.candidate.entry.path)
    }
}

fn updated(readable: &Readable<'_>) -> i64 {
    let document = &readable.document.value;
    document.integer(&["time", "updated"]).or(document.integer(&["time", "created"])).unwrap_or(i64::MIN)
}

/// Stores todo list, share and diff of a session.
fn beside_session(
    importing: &mut Importing<'_>,
    id: &str,
    documents: &[(Beside, Entry)],
) -> Result<(), StoreError> {
    let in_database = importing.database_sessions.contains_key(id);
    for (kind, entry) in documents {
        if !importing.stored.contains(id) {
            importing.find(&entry.path, "has no session; set aside");
        } else if in_database && *kind != Beside::Diff {
            // A program that keeps its sessions in a database still writes diffs as documents (DS-086).
            importing.find(&entry.path, "the session is taken from the database; set aside");
        } else {
            one_beside(importing, id, *kind, &entry.path)?;
        }
    }
    Ok(())
}

fn one_beside(importing: &mut Importing<'_>, id: &str, kind: Beside, path: &Path) -> Result<(), StoreError> {
    let place = shown(importing.source, path);
    let (connection, report) = (importing.connection, &mut importing.report);
    let document = match document::read(path, importing.limit) {
        Ok(Document { shortened: None, value, .. }) => value,
        Ok(_) => {
            report.find(place, format!("is larger than the limit of {} bytes; left out", importing.limit));
            return Ok(());
        }
        Err(reason) => {
            report.find(place, reason);
            return Ok(());
        }
    };
    match (kind, document) {
        (Beside::Todo, Json::Array(entries)) => {
            beside::todos(connection, report, id, &place, (0..).zip(entries).collect())
        }
        (Beside::Todo, _) => {
            report.find(place, "is no list");
            Ok(())
        }
        (Beside::Share, share) => beside::share(connection, report, id, &place, &share),
        (Beside::Diff, diff) => beside::diff(connection, report, id, &diff),
    }
}

fn permissions(importing: &mut Importing<'_>, plan: &Plan) -> Result<(), StoreError> {
    let used: HashSet<&str> =
        plan.sessions.values().flatten().map(|candidate| candidate.entry.project.as_str()).collect();
    for Entry { id, path } in &plan.permissions {
        let known = plan.projects.contains_key(id) || used.contains(&**id);
        if importing.database_projects.contains(id) {
            importing.find(path, "the project is taken from the database; set aside");
            continue;
        }
        match document::read(path, importing.limit) {
            Ok(_) if !known => importing.find(path, "its project is unknown; set aside"),
            Ok(document) => {
                beside::permission(importing.connection, &mut importing.report, id, &document.value)?;
            }
            Err(reason) => importing.find(path, reason),
        }
    }
    Ok(())
}

/// Names the documents of a session that is taken from a database.
fn overridden(
    importing: &mut Importing<'_>,
    plan: &Plan,
    id: &str,
    candidates: &[Candidate],
    seen: &mut HashSet<String>,
) -> Result<(), StoreError> {
    let first = candidates.first().map(|candidate| candidate.entry.path.clone());
    let path = first.unwrap_or_else(|| message_folder(importing, id));
    let mut contents = TreeContents::new(importing.source, trees_from(plan, 0), id, path, importing.limit);
    importing.overridden(&mut contents, id)?;
    seen.extend(contents.into_message_ids());
    Ok(())
}

/// Names parts whose message is nowhere.
fn orphans(importing: &mut Importing<'_>, plan: &Plan, seen: &HashSet<String>) -> Result<(), StoreError> {
    for part in orphaned_parts(importing, plan, seen) {
        if importing.is_imported(&part.id)? {
            continue;
        }
        // The part may still tell where it belonged.
        let document = document::read(&part.path, importing.limit).ok();
        let session = document.and_then(|document| document.value.text(&["sessionID"]).map(String::from));
        let of = session.map(|session| format!(" of session {session}")).unwrap_or_default();
        importing.find(&part.path, format!("has no message{of}; set aside"));
    }
    Ok(())
}

fn orphaned_parts(importing: &mut Importing<'_>, plan: &Plan, seen: &HashSet<String>) -> Vec<Entry> {
    let mut scan = Scanner { source: importing.source, report: &mut importing.report };
    let mut parts = Vec::new();
    for tree in &plan.trees {
        for folder in tree.part_folders(&mut scan) {
            if !seen.contains(&folder.id) {
                parts.extend(scan.documents(&folder.path, |name| ids::is_id(Kind::Part, name)));
            }
        }
    }
    parts
}
