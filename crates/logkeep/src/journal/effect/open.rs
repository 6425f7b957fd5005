//! Opening a database of another program without leaving a trace.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, OpenFlags};

/// Opens `path` for reading only.
///
/// A database in WAL mode would get two files put beside it even by a reader. If it has none,
/// nobody has it open and all of it is in the one file, which is then read as it stands; the
/// [`Seal`] tells whether it stayed that way.
pub(super) fn open_untouched(path: &Path) -> rusqlite::Result<(Connection, Seal)> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    match immutable_uri(path) {
        Some(uri) => {
            let seal = Seal(Some((path.to_owned(), state(path))));
            Ok((Connection::open_with_flags(uri, flags)?, seal))
        }
        None => Ok((Connection::open_with_flags(path, flags)?, Seal(None))),
    }
}

/// What a file that is read without locks looked like before.
pub(super) struct Seal(Option<(PathBuf, State)>);

type State = Option<(u64, SystemTime, bool)>;

impl Seal {
    /// Whether nobody else opened or changed the file since.
    pub(super) fn is_intact(&self) -> bool {
        self.0.as_ref().is_none_or(|(path, before)| state(path) == *before)
    }
}

fn state(path: &Path) -> State {
    let file = path.metadata().ok()?;
    Some((file.len(), file.modified().ok()?, wal_of(path).exists()))
}

fn immutable_uri(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if !is_wal_database(path) || wal_of(path).exists() {
        return None;
    }
    let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Some(format!("file:{escaped}?immutable=1"))
}

fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// The header's read and write versions are 2 in WAL mode.
fn is_wal_database(path: &Path) -> bool {
    let mut header = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header.starts_with(b"SQLite format 3\0") && header.ends_with(&[2, 2])
}
