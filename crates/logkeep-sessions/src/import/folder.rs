//! Looking through folders of documents that people and tools left things in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Report;

/// Names what is found relative to the source.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub(super) source: &'a Path,
    pub(super) report: &'a mut Report,
}

/// A document or a folder of documents.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// File name without suffix, or folder name.
    pub(super) id: String,
    pub(super) path: PathBuf,
}

impl Scanner<'_> {
    /// A path as the report names it.
    pub(super) fn shown(&self, path: &Path) -> String {
        shown(self.source, path)
    }

    pub(super) fn find(&mut self, path: &Path, reason: impl Into<String>) {
        let place = self.shown(path);
        self.report.find(place, reason);
    }

    /// The documents of a folder whose names are ids, by name.
    pub(super) fn documents(&mut self, folder: &Path, is_id: impl Fn(&str) -> bool) -> Vec<Entry> {
        let mut found = Vec::new();
        for (name, path) in self.names(folder) {
            let Some(id) = name.strip_suffix(".json") else { continue };
            match fs::metadata(&path) {
                Err(error) => self.find(&path, format!("cannot be read: {error}")),
                Ok(kind) if !kind.is_file() => self.find(&path, "is a folder in place of a document"),
                Ok(_) if !is_id(id) => self.find(&path, "its name is no id; set aside"),
                Ok(_) => found.push(Entry { id: id.to_owned(), path }),
            }
        }
        found
    }

    /// The folders inside a folder whose names are ids, by name. Links to folders count.
    pub(super) fn folders(&mut self, folder: &Path, is_id: impl Fn(&str) -> bool) -> Vec<Entry> {
        let mut found = Vec::new();
        for (name, path) in self.names(folder) {
            match fs::metadata(&path) {
                Err(error) => self.find(&path, format!("cannot be read: {error}")),
                Ok(kind) if kind.is_dir() && !is_id(&name) => {
                    self.find(&path, "its name is no id; set aside")
                }
                Ok(kind) if kind.is_dir() => found.push(Entry { id: name, path }),
                Ok(_) if name.ends_with(".json") => self.find(&path, "no document belongs here; set aside"),
                Ok(_) => {}
            }
        }
        found
    }

    /// Names the folders of a tree that hold no known kind of document.
    pub(super) fn unknown_folders(&mut self, root: &Path, known: &[&str]) {
        for folder in self.folders(root, |_| true) {
            if !known.contains(&&*folder.id) {
                self.find(&folder.path, "holds no kind of document this program knows; not taken over");
            }
        }
    }

    /// Names without a leading dot, sorted. A missing folder has none; one that cannot be read is reported.
    fn names(&mut self, folder: &Path) -> Vec<(String, PathBuf)> {
        let mut names = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return names;
            }
            Err(error) => {
                self.report.refused = true;
                self.find(folder, format!("cannot be read: {error}"));
                return names;
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) => names.push((entry.file_name().to_string_lossy().into_owned(), entry.path())),
                Err(error) => self.find(folder, format!("cannot be read to its end: {error}")),
            }
        }
        names.retain(|(name, _)| !name.starts_with('.'));
        names.sort();
        names
    }
}

pub(super) fn shown(source: &Path, path: &Path) -> String {
    path.strip_prefix(source).unwrap_or(path).display().to_string()
}
