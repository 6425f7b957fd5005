//! One holder per name, between threads and processes alike.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// An exclusive lock on a name, held until it is dropped.
///
/// The lock is an advisory lock on a file that exists only while someone holds
/// it, so the folder does not grow with the number of names ever locked
/// (DS-032). A process that dies releases its locks.
#[derive(Debug)]
pub(crate) struct NameLock {
    path: PathBuf,
    _file: File,
}

impl NameLock {
    /// Waits up to `patience` for the lock. `None`: someone else still holds it.
    pub(crate) fn acquire(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(lock) = Self::attempt(path)? {
                return Ok(Some(lock));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(16));
        }
    }

    fn attempt(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The holder before us removed the file; someone may have made a new one since.
        let current = is_at(&file, path)?;
        Ok(current.then(|| Self { path: path.to_owned(), _file: file }))
    }
}

/// Opens the lock file, making its folder again if the last holder just took it away.
fn open(path: &Path) -> io::Result<File> {
    let mut attempts = 0;
    loop {
        match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < 16 => {
                attempts += 1;
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
            }
            other => return other,
        }
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        // Only where `is_at` can tell files apart may the name be given up.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
            // Succeeds for the last one out, so that a store at rest holds nothing of ours.
            self.path.parent().map(fs::remove_dir);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok(held.dev() == named.dev() && held.ino() == named.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_waits_and_the_file_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locks/a.lock");
        let first = NameLock::acquire(&path, Duration::from_secs(5)).unwrap().unwrap();
        assert!(NameLock::acquire(&path, Duration::from_millis(30)).unwrap().is_none());
        drop(first);
        let second = NameLock::acquire(&path, Duration::from_secs(5)).unwrap().unwrap();
        drop(second);
        assert!(!path.parent().unwrap().exists());
    }

    #[test]
    fn many_threads_hold_it_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let count = folder.path().join("count");
        fs::write(&count, "0").unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _lock = NameLock::acquire(&path, Duration::from_secs(60)).unwrap().unwrap();
                        let value: u32 = fs::read_to_string(&count).unwrap().parse().unwrap();
                        fs::write(&count, (value + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&count).unwrap(), "160");
    }
}
