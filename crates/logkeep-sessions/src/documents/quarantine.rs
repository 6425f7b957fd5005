//! Setting damaged documents aside, on request.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::{DocumentError, DocumentStore, Key, PRIVATE, replace};
use crate::json::Json;

/// Where a damaged document went.
#[derive(Debug)]
pub struct Quarantined {
    /// The folder inside the root: `document` holds its bytes, `reason.json` its key and what was wrong.
    pub folder: PathBuf,
    /// What was wrong.
    pub reason: String,
}

impl DocumentStore {
    /// Moves a damaged document out of the way, with its key and the reason (DS-043).
    ///
    /// Returns `None` and changes nothing if the document is intact.
    ///
    /// # Errors
    /// [`DocumentError::NotFound`], and what the operating system reports.
    pub fn quarantine(&self, key: &Key) -> Result<Option<Quarantined>, DocumentError> {
        let _lock = self.lock(key)?;
        let reason = match self.read(key) {
            Ok(_) => return Ok(None),
            Err(DocumentError::Corrupt { reason, .. }) => reason.to_string(),
            Err(other) => return Err(other),
        };
        let elements = key.elements().iter().map(|element| Json::from(element.as_str())).collect();
        let note = Json::object([("key", Json::Array(elements)), ("reason", Json::from(reason.as_str()))]);
        let moved = self.set_aside(key, &note);
        let folder = moved.map_err(DocumentError::io(format!("setting {key} aside")))?;
        Ok(Some(Quarantined { folder, reason }))
    }

    fn set_aside(&self, key: &Key, note: &Json) -> io::Result<PathBuf> {
        let path = self.root.file(key).map_err(io::Error::other)?;
        let folder = self.free_folder()?;
        let note_file = folder.join("reason.json");
        replace::replace(&note_file, &note_file.with_extension("tmp"), note.pretty().as_bytes())?;
        fs::rename(&path, folder.join("document"))?;
        replace::sync_folder_of(&path)?;
        Ok(folder)
    }

    /// Creates the first folder `1`, `2`, … that does not exist yet.
    fn free_folder(&self) -> io::Result<PathBuf> {
        let all = self.root.path.join(PRIVATE).join("quarantine");
        for number in 1_u64.. {
            let folder = all.join(number.to_string());
            replace::create_folder_of(&folder)?;
            match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => return other.map(|()| folder),
            }
        }
        Err(io::Error::other("no free folder for damaged documents"))
    }
}
