//! Finding out what the documents of a data directory hold, before any is imported.

use std::collections::BTreeMap;
use std::path::Path;

use super::Report;
use super::document;
use super::folder::{Entry, Scanner};
use super::tree::{SessionEntry, Tree};
use crate::ids::{self, Kind};
use crate::json::Json;

/// The folders of `storage`.
const KNOWN: [&str; 9] =
    ["message", "part", "permission", "project", "session", "session_diff", "session_share", "share", "todo"];

/// Documents that belong to a session by their name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Todo,
    Share,
    Diff,
}

/// A session document in one of the trees.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) tree: usize,
    pub(super) entry: SessionEntry,
}

/// All trees of a data directory and what was found in them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) trees: Vec<Tree>,
    /// Project documents by id.
    pub(super) projects: BTreeMap<String, Json>,
    /// Session documents by session; none for a session that has messages only.
    pub(super) sessions: BTreeMap<String, Vec<Candidate>>,
    /// Todo lists, shares and diffs by session.
    pub(super) beside: BTreeMap<String, Vec<(Beside, Entry)>>,
    /// Permission documents by project.
    pub(super) permissions: Vec<Entry>,
}

impl Plan {
    pub(super) fn new(source: &Path, report: &mut Report, limit: usize, diffs: bool) -> Self {
        let mut plan = Self::default();
        let mut scan = Scanner { source, report };
        let storage = source.join("storage");
        plan.read_projects(&storage, &mut scan, limit);
        scan.unknown_folders(&storage, &KNOWN);
        plan.permissions = scan.documents(&storage.join("permission"), ids::is_project_id);
        plan.trees.push(Tree::Storage { root: storage });
        for folder in scan.folders(&source.join("project"), |_| true) {
            let root = folder.path.join("storage/session");
            let project = plan.legacy_project(&folder.id, &root.join("message"), limit);
            plan.trees.push(Tree::Legacy { root, project });
        }
        plan.find_sessions(&mut scan, diffs);
        plan
    }

    fn read_projects(&mut self, storage: &Path, scan: &mut Scanner<'_>, limit: usize) {
        for entry in scan.documents(&storage.join("project"), ids::is_project_id) {
            match document::read(&entry.path, limit) {
                Ok(document) if document.value.is_object() => {
                    self.projects.insert(entry.id, document.value);
                }
                Ok(_) => scan.find(&entry.path, "is no object"),
                Err(reason) => scan.find(&entry.path, reason),
            }
        }
    }

    /// The project of a legacy folder: the one with the work tree its messages
    /// tell; else the folder's own name stands for it (DS-069).
    fn legacy_project(&mut self, slug: &str, messages: &Path, limit: usize) -> String {
        if slug == "global" {
            return slug.to_owned();
        }
        let worktree = first_worktree(messages, limit);
        let known = self.projects.iter().find(|(_, project)| {
            worktree.is_some() && project.text(&["worktree"]).as_deref() == worktree.as_deref()
        });
        if let Some((id, _)) = known {
            return id.clone();
        }
        if let Some(worktree) = worktree {
            let document = Json::object([("worktree", Json::from(worktree.as_str()))]);
            self.projects.insert(slug.to_owned(), document);
        }
        slug.to_owned()
    }

    fn find_sessions(&mut self, scan: &mut Scanner<'_>, diffs: bool) {
        for (index, tree) in self.trees.iter().enumerate() {
            for entry in tree.sessions(scan) {
                let candidates = self.sessions.entry(entry.id.clone()).or_default();
                candidates.push(Candidate { tree: index, entry });
            }
            for folder in tree.message_folders(scan) {
                self.sessions.entry(folder.id).or_default();
            }
            let mut beside = |kind, entries: Vec<Entry>| {
                for entry in entries {
                    self.beside.entry(entry.id.clone()).or_default().push((kind, entry));
                }
            };
            beside(Beside::Todo, tree.beside(scan, &["todo"]));
            beside(Beside::Share, tree.beside(scan, &["session_share", "share"]));
            if diffs {
                beside(Beside::Diff, tree.beside(scan, &["session_diff"]));
            }
        }
    }
}

/// The first `path.root` that a message below a folder tells. Damaged ones are reported when they are imported.
fn first_worktree(messages: &Path, limit: usize) -> Option<String> {
    let mut ignored = Report::default();
    let mut scan = Scanner { source: messages, report: &mut ignored };
    for session in scan.folders(messages, |_| true) {
        for entry in scan.documents(&session.path, |name| ids::is_id(Kind::Message, name)) {
            let Ok(document) = document::read(&entry.path, limit) else { continue };
            let root = document.value.text(&["path", "root"]).map(String::from);
            if root.as_ref().is_some_and(|root| !root.is_empty()) {
                return root;
            }
        }
    }
    None
}
