//! From keys to files, without ever leaving the root.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::key::SUFFIX;
use super::{DocumentError, Key, Prefix};

/// The folder all documents lie below, with its links resolved.
#[derive(Debug, Clone)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    /// The data directory around it.
    pub(super) data: PathBuf,
    /// The file system takes names that differ in case for one (DS-005).
    merges_names: bool,
}

impl Root {
    /// Resolves `storage` in a data directory, which must exist; `storage` itself need not.
    pub(super) fn new(data: &Path) -> Result<Self, DocumentError> {
        let data = match fs::canonicalize(data) {
            Ok(resolved) if resolved.is_dir() => resolved,
            _ => return Err(DocumentError::NoDirectory { path: data.to_owned() }),
        };
        let resolved = data.join("storage");
        let path = match fs::canonicalize(&resolved) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => resolved,
            Err(error) => return Err(DocumentError::io("opening the document store")(error)),
        };
        let merges_names = merges_names(&path);
        Ok(Self { path, data, merges_names })
    }

    /// The file of a document, with links resolved. It need not exist.
    pub(super) fn file(&self, key: &Key) -> Result<PathBuf, DocumentError> {
        let mut names: Vec<String> = key.elements().to_vec();
        if let Some(last) = names.last_mut() {
            last.push_str(SUFFIX);
        }
        self.resolve(key, &names)
    }

    /// The folder that holds the documents of a prefix. It need not exist.
    pub(super) fn folder(&self, prefix: &Prefix) -> Result<PathBuf, DocumentError> {
        match Key::new(prefix.elements()) {
            Ok(key) => self.resolve(&key, prefix.elements()),
            Err(_) => Ok(self.path.clone()),
        }
    }

    fn resolve(&self, key: &Key, names: &[String]) -> Result<PathBuf, DocumentError> {
        let mut path = self.path.clone();
        let mut names = names.iter();
        for name in names.by_ref() {
            let next = path.join(name);
            match fs::symlink_metadata(&next) {
                Ok(found) if found.is_symlink() => {
                    self.check_name(key, &path, name)?;
                    path = self.follow(key, &next)?;
                }
                Ok(_) => {
                    self.check_name(key, &path, name)?;
                    path = next;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    path = next;
                    break;
                }
                Err(error) => return Err(DocumentError::io(format!("reading {key}"))(error)),
            }
        }
        Ok(names.fold(path, |path, name| path.join(name)))
    }

    fn follow(&self, key: &Key, link: &Path) -> Result<PathBuf, DocumentError> {
        match fs::canonicalize(link) {
            Ok(target) if target.starts_with(&self.path) => Ok(target),
            Ok(_) => Err(DocumentError::Outside { key: key.clone() }),
            // A link to nothing: what it would create could lie anywhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(DocumentError::Outside { key: key.clone() })
            }
            Err(error) => Err(DocumentError::io(format!("reading {key}"))(error)),
        }
    }

    /// Where names are merged, checks that an entry has exactly the name asked for.
    fn check_name(&self, key: &Key, folder: &Path, name: &str) -> Result<(), DocumentError> {
        if !self.merges_names {
            return Ok(());
        }
        let failed = || DocumentError::io(format!("reading {key}"));
        let mut similar = String::new();
        for entry in fs::read_dir(folder).map_err(failed())? {
            let stored = entry.map_err(failed())?.file_name();
            if stored == OsStr::new(name) {
                return Ok(());
            }
            let stored = stored.to_string_lossy().into_owned();
            if stored.to_lowercase() == name.to_lowercase() {
                similar = stored;
            }
        }
        Err(DocumentError::Collision { key: key.clone(), stored: similar })
    }
}

/// Looks the folder up under its name in capitals: a file system that finds it merges names.
fn merges_names(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    let other = path.with_file_name(name.to_uppercase());
    other.file_name() != path.file_name() && fs::canonicalize(other).is_ok_and(|found| found == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(elements: &[&str]) -> Key {
        Key::new(elements.iter().copied()).unwrap()
    }

    #[test]
    fn names_are_compared_exactly_where_the_file_system_merges_them() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("storage/session");
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("ses_a.json"), "1").unwrap();
        let mut root = Root::new(folder.path()).unwrap();
        assert!(!root.merges_names);
        root.merges_names = true;
        assert!(root.file(&key(&["session", "ses_a"])).is_ok());
        assert!(root.file(&key(&["session", "ses_new"])).is_ok());
        // There, the other spelling would find the file.
        let error = root.check_name(&key(&["session", "ses_A"]), &sessions, "ses_A.json").unwrap_err();
        assert!(matches!(error, DocumentError::Collision { stored, .. } if stored == "ses_a.json"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_inside_the_root_only() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let storage = folder.path().join("storage");
        fs::create_dir_all(storage.join("real")).unwrap();
        fs::write(folder.path().join("outside.json"), "1").unwrap();
        fs::write(storage.join("real/a.json"), "1").unwrap();
        symlink("real", storage.join("alias")).unwrap();
        symlink("..", storage.join("up")).unwrap();
        symlink("../outside.json", storage.join("out.json")).unwrap();
        symlink("nowhere.json", storage.join("dangling.json")).unwrap();
        let root = Root::new(folder.path()).unwrap();
        assert_eq!(root.file(&key(&["alias", "a"])).unwrap(), root.path.join("real/a.json"));
        assert_eq!(root.file(&key(&["alias", "new"])).unwrap(), root.path.join("real/new.json"));
        for elements in [&["up", "outside"][..], &["out"], &["dangling"]] {
            let error = root.file(&key(elements)).unwrap_err();
            assert!(matches!(error, DocumentError::Outside { .. }), "{elements:?}: {error}");
        }
    }
}
