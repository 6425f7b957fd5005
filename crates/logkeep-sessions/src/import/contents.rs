//! What is inside one session, wherever it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Report;
use super::document::{self, Document};
use super::folder::{self, Scanner};
use super::tree::Tree;
use crate::ids::{self, Kind};

/// Why a message or part cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// It cannot be read.
    Damaged(String),
    /// It belongs elsewhere, and is there too.
    Elsewhere(String),
}

/// Messages and parts of one session. Ids come in any order.
pub(super) trait Contents {
    fn messages(&mut self, report: &mut Report) -> Vec<String>;
    fn message(&mut self, message: &str) -> Result<Document, Unusable>;
    fn parts(&mut self, message: &str, report: &mut Report) -> Vec<String>;
    fn part(&mut self, message: &str, part: &str) -> Result<Document, Unusable>;
    /// How the report names the session itself, one of its messages, or one of its parts.
    fn place(&self, message: Option<&str>, part: Option<&str>) -> String;
}

/// A session in document trees. Where several trees hold it, the first one that has a document counts.
#[derive(Debug)]
pub(super) struct TreeContents<'a> {
    pub(super) source: &'a Path,
    pub(super) trees: Vec<&'a Tree>,
    pub(super) session: &'a str,
    pub(super) session_path: PathBuf,
    pub(super) limit: usize,
    messages: BTreeMap<String, PathBuf>,
    parts: BTreeMap<String, PathBuf>,
}

impl<'a> TreeContents<'a> {
    pub(super) fn new(
        source: &'a Path,
        trees: Vec<&'a Tree>,
        session: &'a str,
        session_path: PathBuf,
        limit: usize,
    ) -> Self {
        let (messages, parts) = (BTreeMap::new(), BTreeMap::new());
        Self { source, trees, session, session_path, limit, messages, parts }
    }

    fn read(&self, path: Option<&PathBuf>) -> Result<Document, Unusable> {
        let path = path.ok_or_else(|| Unusable::Damaged("is gone".to_owned()))?;
        let document = document::read(path, self.limit).map_err(Unusable::Damaged)?;
        if document.value.is_object() {
            Ok(document)
        } else {
            Err(Unusable::Damaged("is no object".to_owned()))
        }
    }

    /// Whether the same message lies in the folder of the session it names.
    fn belongs_elsewhere(&self, document: &Document, message: &str) -> Option<String> {
        let named = document.value.text(&["sessionID"])?;
        let other = named != self.session && ids::is_id(Kind::Session, &named) && {
            let file = format!("{message}.json");
            self.trees.iter().any(|tree| tree.root().join("message").join(&*named).join(&file).is_file())
        };
        other.then(|| format!("belongs to session {named}, where it lies too; set aside"))
    }
}

impl Contents for TreeContents<'_> {
    fn messages(&mut self, report: &mut Report) -> Vec<String> {
        for tree in self.trees.clone() {
            let folder = tree.root().join("message").join(self.session);
            let mut scan = Scanner { source: self.source, report };
            for entry in scan.documents(&folder, |name| ids::is_id(Kind::Message, name)) {
                self.messages.entry(entry.id).or_insert(entry.path);
            }
        }
        self.messages.keys().cloned().collect()
    }

    fn message(&mut self, message: &str) -> Result<Document, Unusable> {
        let document = self.read(self.messages.get(message))?;
        match self.belongs_elsewhere(&document, message) {
            Some(reason) => Err(Unusable::Elsewhere(reason)),
            None => Ok(document),
        }
    }

    fn parts(&mut self, message: &str, report: &mut Report) -> Vec<String> {
        self.parts.clear();
        for tree in self.trees.clone() {
            let folder = tree.parts(self.session, message);
            let mut scan = Scanner { source: self.source, report };
            for entry in scan.documents(&folder, |name| ids::is_id(Kind::Part, name)) {
                self.parts.entry(entry.id).or_insert(entry.path);
            }
        }
        self.parts.keys().cloned().collect()
    }

    fn part(&mut self, _message: &str, part: &str) -> Result<Document, Unusable> {
        self.read(self.parts.get(part))
    }

    fn place(&self, message: Option<&str>, part: Option<&str>) -> String {
        let path = match (message, part) {
            (_, Some(part)) => self.parts.get(part),
            (Some(message), _) => self.messages.get(message),
            _ => None,
        };
        folder::shown(self.source, path.unwrap_or(&self.session_path))
    }
}

impl TreeContents<'_> {
    /// The messages that were found.
    pub(super) fn into_message_ids(self) -> impl Iterator<Item = String> {
        self.messages.into_keys()
    }
}
