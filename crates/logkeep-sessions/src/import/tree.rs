//! The two layouts of documents, seen alike.

use std::path::{Path, PathBuf};

use super::folder::{Entry, Scanner};
use crate::ids::{self, Kind};

/// A tree of session, message and part documents.
#[derive(Debug)]
pub(super) enum Tree {
    /// `storage`: one folder a kind of document.
    Storage {
        /// The folder.
        root: PathBuf,
    },
    /// `project/SLUG/storage/session`: one folder a project, from before migration 1.
    Legacy {
        /// The folder `session`.
        root: PathBuf,
        /// The project its sessions are filed under.
        project: String,
    },
}

/// A session document and the project its folder stands for.
#[derive(Debug, Clone)]
pub(super) struct SessionEntry {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) path: PathBuf,
}

impl Tree {
    pub(super) fn sessions(&self, scan: &mut Scanner<'_>) -> Vec<SessionEntry> {
        let is_session = |name: &str| ids::is_id(Kind::Session, name);
        match self {
            Self::Legacy { root, project } => {
                let entries = scan.documents(&root.join("info"), is_session).into_iter();
                entries.map(|entry| entry.filed_under(project)).collect()
            }
            Self::Storage { root } => {
                let mut sessions = Vec::new();
                for folder in scan.folders(&root.join("session"), |_| true) {
                    if !leads_back(&folder.path) {
                        let entries = scan.documents(&folder.path, is_session).into_iter();
                        sessions.extend(entries.map(|entry| entry.filed_under(&folder.id)));
                    }
                }
                sessions
            }
        }
    }

    /// Folders of messages, by session.
    pub(super) fn message_folders(&self, scan: &mut Scanner<'_>) -> Vec<Entry> {
        scan.folders(&self.root().join("message"), |name| ids::is_id(Kind::Session, name))
    }

    /// The folder of the parts of a message.
    pub(super) fn parts(&self, session: &str, message: &str) -> PathBuf {
        match self {
            Self::Storage { root } => root.join("part").join(message),
            Self::Legacy { root, .. } => root.join("part").join(session).join(message),
        }
    }

    /// All folders of parts, by message.
    pub(super) fn part_folders(&self, scan: &mut Scanner<'_>) -> Vec<Entry> {
        let is_message = |name: &str| ids::is_id(Kind::Message, name);
        let parts = self.root().join("part");
        match self {
            Self::Storage { .. } => scan.folders(&parts, is_message),
            Self::Legacy { .. } => {
                let sessions = scan.folders(&parts, |name| ids::is_id(Kind::Session, name)).into_iter();
                sessions.flat_map(|session| scan.folders(&session.path, is_message)).collect()
            }
        }
    }

    /// Documents that belong to a session by their name, in folders named `folders`.
    pub(super) fn beside(&self, scan: &mut Scanner<'_>, folders: &[&str]) -> Vec<Entry> {
        let is_session = |name: &str| ids::is_id(Kind::Session, name);
        folders.iter().flat_map(|folder| scan.documents(&self.root().join(folder), is_session)).collect()
    }

    pub(super) fn root(&self) -> &Path {
        match self {
            Self::Storage { root } | Self::Legacy { root, .. } => root,
        }
    }
}

impl Entry {
    fn filed_under(self, project: &str) -> SessionEntry {
        SessionEntry { id: self.id, project: project.to_owned(), path: self.path }
    }
}

/// Whether a folder is a link to one beside or above it: its sessions are found there.
fn leads_back(folder: &Path) -> bool {
    let (Ok(target), Some(parent)) = (std::fs::canonicalize(folder), folder.parent()) else { return false };
    let Ok(parent) = std::fs::canonicalize(parent) else { return false };
    folder.is_symlink() && (target.starts_with(&parent) || parent.starts_with(&target))
}
