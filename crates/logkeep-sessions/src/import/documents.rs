//! Importing the documents of a data directory.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::contents::TreeContents;
use super::document::{self, Document};
use super::folder::{Entry, Scanner, shown};
use super::plan::{Beside, Candidate, Plan};
use super::session::{self, SessionSource};
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
        let stored = if importing.database_sessions.contains_key(id) {
            importing.in_transaction(|importing| beside_of(importing, plan, id))?;
            overridden(importing, plan, id, candidates, &mut seen)?;
            true
        } else {
            importing.in_transaction(|importing| {
                let stored = one_session(importing, plan, id, candidates, &mut seen)?;
                if stored {
                    beside_of(importing, plan, id)?;
                }
                Ok(stored)
            })?
        };
        if !stored {
            for (_, entry) in plan.beside.get(id).into_iter().flatten() {
                importing.find(&entry.path, "has no session; set aside");
            }
        }
        importing.step();
    }
    importing.in_transaction(|importing| permissions(importing, plan))?;
    orphans(importing, plan, &seen);
    Ok(())
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
) -> Result<bool, StoreError> {
    let chosen = choose(importing, candidates);
    let mut trees: Vec<_> = plan.trees.iter().collect();
    if let Some(chosen) = &chosen {
        // The tree of the document that counts comes first.
        if chosen.candidate.tree < trees.len() {
            let first = trees.remove(chosen.candidate.tree);
            trees.insert(0, first);
        }
    }
    let path = chosen.as_ref().map(|chosen| &chosen.candidate.entry.path);
    let path = path.or(candidates.first().map(|candidate| &candidate.entry.path));
    let path = path.cloned().unwrap_or_else(|| importing.source.join("storage/message").join(id));
    let mut contents = TreeContents::new(importing.source, trees, id, path, importing.limit);
    let project = match (&chosen, candidates.first()) {
        (Some(chosen), _) => chosen.candidate.entry.project.clone(),
        (None, Some(damaged)) => damaged.entry.project.clone(),
        (None, None) => "global".to_owned(),
    };
    let worktree = plan.projects.get(&project).and_then(|project| project.text(&["worktree"]));
    let worktree = worktree.map(String::from).unwrap_or_default();
    let source = SessionSource { id, project, worktree, document: chosen.map(|chosen| chosen.document) };
    let stored = session::import(importing.connection, &mut importing.report, source, &mut contents)?;
    seen.extend(contents.into_message_ids());
    Ok(stored)
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

/// Todo list, share and diff of a session that is stored.
fn beside_of(importing: &mut Importing<'_>, plan: &Plan, id: &str) -> Result<(), StoreError> {
    let in_database = importing.database_sessions.contains_key(id);
    for (kind, entry) in plan.beside.get(id).into_iter().flatten() {
        // A program that keeps its sessions in a database still writes diffs as documents (DS-086).
        if in_database && *kind != Beside::Diff {
            importing.find(&entry.path, "the session is taken from the database; set aside");
            continue;
        }
        let document = match document::read(&entry.path, importing.limit) {
            Ok(Document { shortened: None, value, .. }) => value,
            Ok(_) => {
                let limit = importing.limit;
                importing.find(&entry.path, format!("is larger than the limit of {limit} bytes; left out"));
                continue;
            }
            Err(reason) => {
                importing.find(&entry.path, reason);
                continue;
            }
        };
        let place = shown(importing.source, &entry.path);
        let (connection, report) = (importing.connection, &mut importing.report);
        match kind {
            Beside::Todo => match document {
                Json::Array(entries) => {
                    beside::todos(connection, report, id, &place, (0..).zip(entries).collect())?;
                }
                _ => report.find(place, "is no list"),
            },
            Beside::Share => beside::share(connection, report, id, &place, &document)?,
            Beside::Diff => beside::diff(connection, report, id, &document)?,
        }
    }
    Ok(())
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
    let path = first.unwrap_or_else(|| importing.source.join("storage/message").join(id));
    let trees = plan.trees.iter().collect();
    let mut contents = TreeContents::new(importing.source, trees, id, path, importing.limit);
    importing.overridden(&mut contents, id)?;
    seen.extend(contents.into_message_ids());
    Ok(())
}

/// Names parts whose message is nowhere, and what lies beside sessions that are nowhere.
fn orphans(importing: &mut Importing<'_>, plan: &Plan, seen: &HashSet<String>) {
    let mut scan = Scanner { source: importing.source, report: &mut importing.report };
    for tree in &plan.trees {
        for folder in tree.part_folders(&mut scan) {
            if !seen.contains(&folder.id) {
                for part in scan.documents(&folder.path, |name| ids::is_id(Kind::Part, name)) {
                    scan.find(&part.path, "has no message; set aside");
                }
            }
        }
    }
    let stray: HashMap<_, _> =
        plan.beside.iter().filter(|(id, _)| !plan.sessions.contains_key(*id)).collect();
    let mut stray: Vec<_> = stray.into_iter().collect();
    stray.sort_by_key(|(id, _)| *id);
    for (id, entries) in stray {
        if importing.database_sessions.contains_key(id) {
            continue;
        }
        for (_, entry) in entries {
            scan.find(&entry.path, "has no session; set aside");
        }
    }
}
