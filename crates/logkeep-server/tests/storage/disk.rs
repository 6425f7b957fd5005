//! What only a storage on disk has: a directory, a file format, a write-ahead log, damage.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use logkeep_protocol::RemoteId;
use logkeep_server::environment::System;
use logkeep_server::executor::ThreadedExecutor;
use logkeep_server::health::Health;
use logkeep_server::storage::sqlite::{OpenError, Options, SqliteStorage};
use logkeep_server::storage::{Storage, StorageError, Upload, Write};

use crate::material::*;

fn open_at(dir: &Path) -> Result<SqliteStorage, OpenError> {
    SqliteStorage::open(dir, Options::default(), RemoteId([7; 16]))
}

fn refusal(dir: &Path) -> String {
    let message = open_at(dir).map(|_| ()).unwrap_err().to_string();
    assert!(!message.contains('\n') && message.contains(dir.to_str().unwrap()), "{message}");
    message
}

fn database(dir: &Path) -> PathBuf {
    dir.join("logkeep.db")
}

#[test]
fn a_directory_has_one_server() {
    let dir = tempfile::tempdir().unwrap();
    let first = open_at(dir.path()).unwrap();
    assert!(refusal(dir.path()).contains("is in use by another server"));
    let reader = first.reader().unwrap();
    drop(first);
    assert!(refusal(dir.path()).contains("in use"), "a half of the first is still open");
    drop(reader);
    open_at(dir.path()).unwrap();
}

#[cfg(unix)]
#[test]
fn what_is_created_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let nested = dir.path().join("a/b");
    let storage = open_at(&nested).unwrap();
    write(&mut *storage.writer().unwrap(), &scope("P", "s"), &[batch(&[1], b"x")]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&nested), 0o700);
    for file in fs::read_dir(&nested).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn the_remote_id_is_given_once() {
    let dir = tempfile::tempdir().unwrap();
    for fresh in [1, 2, 3] {
        let storage = SqliteStorage::open(dir.path(), Options::default(), RemoteId([fresh; 16])).unwrap();
        assert_eq!(storage.remote_id().0, [1; 16]);
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);

    fs::write(at("file"), b"").unwrap();
    assert!(refusal(&at("file")).contains("cannot use"));

    fs::create_dir(at("text")).unwrap();
    fs::write(database(&at("text")), "not a database ".repeat(1_000)).unwrap();
    assert!(refusal(&at("text")).contains("is not a database of this server"));

    fs::create_dir(at("other")).unwrap();
    let other = rusqlite::Connection::open(database(&at("other"))).unwrap();
    other.execute_batch("CREATE TABLE cookies (name TEXT)").unwrap();
    assert!(refusal(&at("other")).contains("is not a database of this server"));
    assert_eq!(other.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0)).unwrap(), "delete");

    drop(open_at(&at("newer")).unwrap());
    let newer = rusqlite::Connection::open(database(&at("newer"))).unwrap();
    newer.pragma_update(None, "user_version", 1_000).unwrap();
    assert!(refusal(&at("newer")).contains("has format 1000, this version knows formats up to"));

    fs::create_dir(at("empty")).unwrap();
    fs::write(database(&at("empty")), b"").unwrap();
    open_at(&at("empty")).unwrap();
}

#[test]
fn space_that_is_free_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    {
        let storage = open_at(dir.path()).unwrap();
        let mut writer = storage.writer().unwrap();
        let batches = (0..60).map(|n| Ok(batch(&[n], &[1; 1_000_000])));
        let upload = Upload { scope: scope("P", "s"), batches: Box::new(batches), answered_ids: 1 };
        writer.upload(upload).unwrap();
        for _ in 0..12 {
            assert!(writer.upload_step(1).unwrap().is_none());
        }
        writer.upload_abandon();
        while writer.tidy().unwrap() {}
    }
    let size = fs::metadata(database(dir.path())).unwrap().len();
    assert!(size < 4 << 20, "{size} bytes are left");
}

/// Compaction asks what was stored until when; one row for each second of writing answers it.
#[test]
fn storage_time_is_kept_to_the_second() {
    let dir = tempfile::tempdir().unwrap();
    let storage = open_at(dir.path()).unwrap();
    let mut writer = storage.writer().unwrap();
    // The clock may go back; storage time does not.
    for (id, now) in [(1, 1_000), (2, 1_999), (3, 2_000), (4, 9_500), (5, 3_000), (6, 11_000)] {
        let write = Write { scope: scope("P", "s"), batches: vec![batch(&[id], b"x")] };
        writer.write(vec![write], now).remove(0).unwrap();
    }
    let db = rusqlite::Connection::open(database(dir.path())).unwrap();
    let mut select = db.prepare("SELECT second, last FROM time_mark ORDER BY second").unwrap();
    let marks = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let marks: Vec<(u64, u64)> = marks.map(|mark| mark.unwrap()).collect();
    assert_eq!(marks, [(1, 2), (2, 3), (9, 5)]);
    let latest = db.query_row("SELECT written_at, next_sequence FROM store", [], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, u64>(1)?))
    });
    assert_eq!(latest.unwrap(), (11_000, 7));
}

/// What a crash left of an upload goes away by itself, also if nobody writes.
#[test]
fn a_server_tidies_when_it_is_idle() {
    let dir = tempfile::tempdir().unwrap();
    {
        let storage = open_at(dir.path()).unwrap();
        let mut writer = storage.writer().unwrap();
        let batches = (0..20).map(|n| Ok(batch(&[n], &[1; 1_000_000])));
        let upload = Upload { scope: scope("P", "s"), batches: Box::new(batches), answered_ids: 1 };
        writer.upload(upload).unwrap();
        assert!(writer.upload_step(1).unwrap().is_none());
    }
    let leftover = |db: &rusqlite::Connection| {
        db.query_row("SELECT count(*) FROM blob", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    let storage = open_at(dir.path()).unwrap();
    let db = rusqlite::Connection::open(database(dir.path())).unwrap();
    assert!(leftover(&db) > 0);
    let health = Arc::<Health>::default();
    let _executor = ThreadedExecutor::start(&storage, 1, Arc::default(), Arc::new(System), health).unwrap();
    let begin = Instant::now();
    while leftover(&db) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(30), "{} parts are left", leftover(&db));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Readers that read all the time must not let the log grow.
#[test]
fn the_write_ahead_log_stays_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let storage = open_at(dir.path()).unwrap();
    let mut writer = storage.writer().unwrap();
    let (scope, stop) = (scope("P", "s"), AtomicBool::new(false));
    write(&mut *writer, &scope, &[batch(&[0], b"x")]);
    let mut longest = 0;
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                let mut reader = storage.reader().unwrap();
                let mut from = 1;
                while !stop.load(Ordering::Relaxed) {
                    let page = reader.page(&scope, from, 1 << 20).unwrap();
                    from = if page.end { 1 } else { page.next };
                }
            });
        }
        let begin = Instant::now();
        for n in 1..=150 {
            write(&mut *writer, &scope, &[batch(&[n], &[n as u8; 1_000_000])]);
            longest = longest.max(fs::metadata(dir.path().join("logkeep.db-wal")).unwrap().len());
            if begin.elapsed() > Duration::from_secs(60) {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(longest < 64 << 20, "the log grew to {longest} bytes");
}

/// Wherever bytes of the file are changed, calls fail or answer, and never panic.
#[test]
fn damage_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let scopes = [scope("P", "a"), scope("P", "b")];
    {
        let storage = open_at(dir.path()).unwrap();
        let mut writer = storage.writer().unwrap();
        for part in 0..60 {
            let ids: Vec<_> = (0..100).map(|n| scrambled(100 * part + n)).collect();
            write(&mut *writer, &scopes[0], &[batch(&ids, &[1; 4_000]), batch(&[version_7(part, 1)], b"x")]);
        }
        write(&mut *writer, &scopes[1], &[batch(&[1], b"x")]);
    }
    let whole = fs::read(database(dir.path())).unwrap();
    let (mut errors, mut refused) = (0, 0);
    for n in 0..300 {
        let mut bytes = whole.clone();
        let at = scrambled(n) as usize % bytes.len();
        for byte in bytes.iter_mut().skip(at).take(1 << (n % 10)) {
            *byte = byte.wrapping_add(scrambled(n + 1_000) as u8 | 1);
        }
        fs::write(database(dir.path()), bytes).unwrap();
        let Ok(storage) = open_at(dir.path()) else {
            refused += 1;
            continue;
        };
        errors += use_all(&storage, &scopes);
        drop(storage);
        for name in ["logkeep.db-wal", "logkeep.db-shm"] {
            let _ = fs::remove_file(dir.path().join(name));
        }
    }
    assert!(errors > 20 && refused < 200, "{errors} errors, {refused} refused");
}

/// Calls everything; answers how many calls failed.
fn use_all(storage: &SqliteStorage, scopes: &[logkeep_protocol::Scope]) -> usize {
    let mut results = Vec::new();
    let (writer, reader) = (storage.writer(), storage.reader());
    let (Ok(mut writer), Ok(mut reader)) = (writer, reader) else { return 1 };
    for scope in scopes {
        results.push(reader.head(scope).map(|_| ()));
        let mut from = 1;
        // Damage may make pages that lead nowhere; a client is served no better than its store allows.
        for _ in 0..20 {
            let page = reader.page(scope, from, 50_000);
            let done = page.as_ref().map_or(true, |page| page.end);
            from = page.as_ref().map_or(0, |page| page.next);
            results.push(page.map(|_| ()));
            if done {
                break;
            }
        }
    }
    let group = scopes.iter().flat_map(|scope| [(scope, scrambled(5)), (scope, scrambled(77_777))]);
    let group = group.map(|(scope, id)| Write { scope: scope.clone(), batches: vec![batch(&[id], b"new")] });
    results.extend(writer.write(group.collect(), 1).into_iter().map(|answer| answer.map(|_| ())));
    results.iter().filter(|result| result.is_err()).count()
}

/// One store's damage does not keep the others from writing.
#[test]
fn damage_of_one_store_is_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (scope("P", "a"), scope("P", "b"));
    {
        let storage = open_at(dir.path()).unwrap();
        let mut writer = storage.writer().unwrap();
        write(&mut *writer, &a, &[batch(&[1], b"x")]);
        write(&mut *writer, &b, &[batch(&[1], b"x")]);
    }
    let db = rusqlite::Connection::open(database(dir.path())).unwrap();
    db.execute("UPDATE batch SET entry_ids = x'0102' WHERE store = 1", []).unwrap();
    drop(db);
    let storage = open_at(dir.path()).unwrap();
    let group = [&b, &a, &b].map(|scope| Write { scope: scope.clone(), batches: vec![batch(&[2], b"y")] });
    let answers = storage.writer().unwrap().write(group.into(), 1);
    assert_eq!(answers[0].as_ref().unwrap().placed, [stored(2)]);
    assert!(matches!(answers[1], Err(StorageError::Damaged(_))));
    assert_eq!(answers[2].as_ref().unwrap().placed, [known(&[2])]);
}
