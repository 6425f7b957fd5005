//! Opening a data directory: the lock, the file, its format, its connections.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use logkeep_protocol::RemoteId;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema::{APPLICATION_ID, VERSION, migrate};
use super::{Durability, Options};

/// The database within the data directory.
const DATABASE: &str = "logkeep.db";
/// Locked while a server uses the directory. It holds nothing.
const LOCK: &str = "lock";

/// How large a page of the database file is; set when the file is created.
const PAGE_BYTES: u32 = 8_192;

/// Why a data directory cannot be used. Each message is one line that names the file or directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process holds the lock.
    #[error("the data directory {} is in use by another server", .0.display())]
    InUse(PathBuf),
    /// A file or directory could not be read or written.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no database, or one of another program.
    #[error("{} is not a database of this server", .0.display())]
    Foreign(PathBuf),
    /// The file was written by a newer version.
    #[error(
        "{} has format {found}, this version knows formats up to {VERSION}: use a newer version",
        path.display()
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Its format.
        found: i32,
    },
    /// The file is incomplete or holds what this server never writes.
    #[error("the database {} is damaged: {reason}", path.display())]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The database reported a failure.
    #[error("cannot open {}: {source}", path.display())]
    Database {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// A data directory that is locked and whose database has the format of this version.
pub(super) struct Opened {
    pub(super) database: PathBuf,
    pub(super) remote_id: RemoteId,
    /// Unlocked when it is dropped, and when the process ends in whatever way.
    pub(super) lock: File,
}

/// Locks `dir` and creates or checks its database.
pub(super) fn open(dir: &Path, options: &Options, fresh: RemoteId) -> Result<Opened, OpenError> {
    create_directory(dir).map_err(|source| OpenError::Io { path: dir.into(), source })?;
    let lock = lock(dir)?;
    let database = dir.join(DATABASE);
    private_file(&database).map_err(|source| OpenError::Io { path: database.clone(), source })?;
    let remote_id = prepare(&database, options, fresh)?;
    sync_directory(dir).map_err(|source| OpenError::Io { path: dir.into(), source })?;
    Ok(Opened { database, remote_id, lock })
}

fn prepare(path: &Path, options: &Options, fresh: RemoteId) -> Result<RemoteId, OpenError> {
    let failed = |source| database_error(path, source);
    check_length(path)?;
    let mut db = Connection::open_with_flags(path, OpenFlags::default()).map_err(failed)?;
    let found = format_of(&db, path)?;
    configure_writer(&db, options).map_err(failed)?;
    create_or_migrate(&mut db, found, fresh).map_err(failed)
}

/// Makes an empty or older database one of this version; answers its remote id.
pub(super) fn create_or_migrate(
    db: &mut Connection,
    found: i32,
    fresh: RemoteId,
) -> rusqlite::Result<RemoteId> {
    if found < VERSION {
        migrate(db, found)?;
    }
    db.execute("INSERT INTO server (singleton, remote_id) VALUES (1, ?1) ON CONFLICT DO NOTHING", [fresh.0])?;
    db.query_row("SELECT remote_id FROM server", [], |row| row.get(0)).map(RemoteId)
}

/// The format of a database, 0 for an empty file. Writes nothing.
fn format_of(db: &Connection, path: &Path) -> Result<i32, OpenError> {
    let read = |sql: &str| {
        db.query_row(sql, [], |row| row.get::<_, i32>(0)).map_err(|source| database_error(path, source))
    };
    let application = read("PRAGMA application_id")?;
    let version = read("PRAGMA user_version")?;
    let tables = read("SELECT count(*) FROM sqlite_schema")?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION_ID, VERSION..) if version > VERSION => {
            Err(OpenError::Newer { path: path.into(), found: version })
        }
        (APPLICATION_ID, 1..) => Ok(version),
        _ => Err(OpenError::Foreign(path.into())),
    }
}

/// The settings of a connection that writes. Those of the file take effect when it is created.
pub(super) fn configure_writer(db: &Connection, options: &Options) -> rusqlite::Result<()> {
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Relaxed => "NORMAL",
    };
    db.pragma_update(None, "page_size", PAGE_BYTES)?;
    db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", synchronous)?;
    db.pragma_update(None, "secure_delete", "ON")?;
    db.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    db.pragma_update(None, "wal_autocheckpoint", 0)?;
    db.pragma_update(None, "journal_size_limit", KEPT_WAL_BYTES)?;
    common(db)
}

/// To how much the write-ahead log is cut when it begins anew, should it have grown beyond.
const KEPT_WAL_BYTES: u32 = 32 << 20;

const WRITER_CACHE_KIB: i32 = 4_096;
const READER_CACHE_KIB: i32 = 512;

/// Opens a connection to an existing database that only reads.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, existing())?;
    db.pragma_update(None, "query_only", "ON")?;
    db.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    common(&db)?;
    Ok(db)
}

/// Opens a connection to an existing database that writes.
pub(super) fn open_writer(path: &Path, options: &Options) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, existing())?;
    configure_writer(&db, options)?;
    Ok(db)
}

fn existing() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn common(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(Duration::from_secs(10))?;
    db.set_prepared_statement_cache_capacity(64);
    db.pragma_update(None, "trusted_schema", "OFF")
}

fn database_error(path: &Path, source: rusqlite::Error) -> OpenError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::Foreign(path.into()),
        // Without a code of SQLite it is a row of an impossible shape.
        Some(ErrorCode::DatabaseCorrupt) | None => {
            OpenError::Damaged { path: path.into(), reason: source.to_string() }
        }
        _ => OpenError::Database { path: path.into(), source },
    }
}

/// Refuses a database file that is shorter than its header says; SQLite would notice only when it needs a
/// page that is not there. While a write-ahead log waits to be applied the file may well be shorter.
fn check_length(path: &Path) -> Result<(), OpenError> {
    let unreadable = |source| OpenError::Io { path: path.into(), source };
    let log = fs::metadata(format!("{}-wal", path.display())).map_or(0, |log| log.len());
    let mut header = Vec::new();
    File::open(path).and_then(|file| file.take(100).read_to_end(&mut header)).map_err(unreadable)?;
    let (Some(size), Some(pages)) = (header.get(16..18), header.get(28..32)) else { return Ok(()) };
    if log > 0 || !header.starts_with(b"SQLite format 3\0") {
        return Ok(());
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let page_bytes = if number(size) == 1 { 65_536 } else { number(size) };
    let expected = page_bytes * number(pages);
    let length = fs::metadata(path).map_err(unreadable)?.len();
    if length < expected {
        let reason = format!("it has {length} bytes of {expected}");
        return Err(OpenError::Damaged { path: path.into(), reason });
    }
    Ok(())
}

fn lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join(LOCK);
    let file = private_file(&path).map_err(|source| OpenError::Io { path: path.clone(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(dir.into())),
        Err(TryLockError::Error(source)) => Err(OpenError::Io { path, source }),
    }
}

fn create_directory(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Opens a file for writing, creating it so that only its owner may read it.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes sure that the names of new files survive a power cut.
fn sync_directory(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}
