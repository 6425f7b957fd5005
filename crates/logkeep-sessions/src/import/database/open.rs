//! Opening somebody else's database without leaving a trace.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, OpenFlags};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Files that SQLite keeps beside a database while it is in use.
const COMPANIONS: [&str; 2] = ["-wal", "-journal"];

/// Whether a file begins as SQLite databases do. One that is still empty counts if its log holds everything.
pub(super) fn is_database(file: &Path) -> io::Result<bool> {
    if size(file) == 0 && size(&beside(&real(file), "-wal")) > 0 {
        return Ok(true);
    }
    let mut header = [0; 16];
    let mut file = File::open(file)?;
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| header == *MAGIC),
    }
}

/// Opens a database for reading. Where a log lies beside it that holds newer
/// content, a copy of both is opened, which `scratch` holds.
pub(super) fn open(file: &Path, scratch: &Path) -> Result<Connection, String> {
    let told = |error: &dyn std::fmt::Display| format!("cannot be read: {error}");
    let file = &real(file);
    let in_use = COMPANIONS.iter().any(|suffix| size(&beside(file, suffix)) > 0);
    if in_use {
        let copy = copy(file, scratch).map_err(|error| told(&error))?;
        return Connection::open(copy).map_err(|error| told(&error));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(immutable_uri(file), flags).map_err(|error| told(&error))
}

/// Copies a database and what lies beside it, again if a program writes to it meanwhile.
fn copy(file: &Path, scratch: &Path) -> io::Result<PathBuf> {
    let target = scratch.join("copy.db");
    for _ in 0..5 {
        if scratch.exists() {
            fs::remove_dir_all(scratch)?;
        }
        fs::create_dir_all(scratch)?;
        let before = state(file);
        fs::copy(file, &target)?;
        for suffix in COMPANIONS {
            if size(&beside(file, suffix)) > 0 {
                fs::copy(beside(file, suffix), beside(&target, suffix))?;
            }
        }
        if state(file) == before {
            make_writable(&target)?;
            return Ok(target);
        }
    }
    Err(io::Error::other("a program is writing to it all the time"))
}

/// A copy of a file that may not be written may be written all the same.
fn make_writable(copy: &Path) -> io::Result<()> {
    for file in [copy.to_owned(), beside(copy, "-wal"), beside(copy, "-journal")] {
        if file.exists() {
            let mut permissions = fs::metadata(&file)?.permissions();
            #[cfg(unix)]
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
            #[cfg(not(unix))]
            permissions.set_readonly(false);
            fs::set_permissions(&file, permissions)?;
        }
    }
    Ok(())
}

/// Behind links, where SQLite keeps a log too.
fn real(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| file.to_owned())
}

/// Size and time of the files of a database.
pub(super) fn state(file: &Path) -> Vec<Option<(u64, SystemTime)>> {
    let file = &real(file);
    let files = [file.to_owned(), beside(file, "-wal"), beside(file, "-journal")];
    let state =
        |file: &PathBuf| fs::metadata(file).and_then(|found| Ok((found.len(), found.modified()?))).ok();
    files.iter().map(state).collect()
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |found| found.len())
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(suffix);
    PathBuf::from(name)
}

/// An address that tells SQLite to lock nothing and create nothing.
fn immutable_uri(file: &Path) -> String {
    let path = file.to_string_lossy();
    let mut uri = String::from("file:");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}
