//! Replacing a file as a whole, so that a crash leaves the old or the new content.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Writes `content` to `temporary`, syncs it, and moves it to `target` (DS-040).
///
/// Folders of `target` are created, and the move is durable when this returns.
/// The permissions of a file that is replaced are kept. When anything fails,
/// `target` is as it was and `temporary` is gone.
pub(super) fn replace(target: &Path, temporary: &Path, content: &[u8]) -> io::Result<()> {
    let written = write_aside(target, temporary, content);
    let moved = written.and_then(|()| move_over(temporary, target));
    if moved.is_err() {
        let _ = fs::remove_file(temporary);
    }
    moved?;
    sync_folder_of(target)
}

fn write_aside(target: &Path, temporary: &Path, content: &[u8]) -> io::Result<()> {
    create_folder_of(temporary)?;
    create_folder_of(target)?;
    let mut file = File::create(temporary)?;
    if let Ok(replaced) = fs::metadata(target) {
        file.set_permissions(replaced.permissions())?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// Moves a file; where the folder is a mount of its own, by way of a second
/// temporary file inside it.
fn move_over(temporary: &Path, target: &Path) -> io::Result<()> {
    match rename(temporary, target) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        other => return other,
    }
    let name = temporary.file_name().unwrap_or_default().to_string_lossy();
    let beside = target.with_file_name(format!(".{name}"));
    let moved = fs::copy(temporary, &beside)
        .and_then(|_| File::open(&beside)?.sync_all())
        .and_then(|()| rename(&beside, target));
    if moved.is_err() {
        let _ = fs::remove_file(&beside);
    }
    moved?;
    fs::remove_file(temporary)
}

/// Renames; a reader that has the target open may stop that on Windows for a moment.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let mut pause = Duration::from_millis(1);
    loop {
        match fs::rename(from, to) {
            Err(error) if cfg!(windows) && is_sharing_violation(&error) && pause.as_millis() < 500 => {
                thread::sleep(pause);
                pause *= 2;
            }
            other => return other,
        }
    }
}

fn is_sharing_violation(error: &io::Error) -> bool {
    // ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
    matches!(error.raw_os_error(), Some(5 | 32 | 33))
}

/// Creates the missing folders above a file, durably.
pub(super) fn create_folder_of(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    match fs::create_dir(folder) {
        Ok(()) => sync_folder_of(folder),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder_of(folder)?;
            create_folder_of(file)
        }
        Err(error) => Err(error),
    }
}

/// Makes a change of names in the folder of `path` durable. Only Unix can and needs to.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_and_nothing_is_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a/b/c.json");
        let temporary = folder.path().join(".tmp/x.tmp");
        replace(&target, &temporary, b"1").unwrap();
        replace(&target, &temporary, b"2").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"2");
        assert!(!temporary.exists());
    }

    #[test]
    fn a_failed_move_leaves_the_target_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("folder");
        fs::create_dir_all(target.join("inside")).unwrap();
        let temporary = folder.path().join("x.tmp");
        assert!(replace(&target, &temporary, b"1").is_err());
        assert!(target.join("inside").is_dir());
        assert!(!temporary.exists());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_of_the_replaced_file_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("secret.json");
        fs::write(&target, "1").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        replace(&target, &folder.path().join("x.tmp"), b"2").unwrap();
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
