//! Copies of cases, and the operations on them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use logkeep_sessions::json::Json;

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Applies one operation to the copy of a case.
pub(crate) fn apply(operation: &Json, case: &Path, copy: &Path) {
    let text = |name: &str| operation.text(&[name]).unwrap_or_default().into_owned();
    let path = copy.join(text("path"));
    match text("op").as_str() {
        "symlink" => link(&text("target"), &path),
        "mode" => set_mode(&path, &text("mode")),
        "mkdir" => fs::create_dir_all(&path).unwrap(),
        "write" => {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text("text")).unwrap();
        }
        "remove" if path.is_dir() => fs::remove_dir_all(&path).unwrap(),
        "remove" => fs::remove_file(&path).unwrap(),
        "mtime" => {
            let milliseconds = operation.integer(&["ms"]).unwrap() as u64;
            File::open(&path)
                .unwrap()
                .set_modified(UNIX_EPOCH + Duration::from_millis(milliseconds))
                .unwrap();
        }
        "script" => {
            let script = Command::new("python3").arg(case.join(text("file"))).arg(copy).status().unwrap();
            assert!(script.success(), "{}", text("file"));
        }
        other => panic!("unknown operation {other:?}"),
    }
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(unix)]
fn set_mode(path: &Path, octal: &str) {
    use std::os::unix::fs::PermissionsExt;
    let mode = u32::from_str_radix(octal, 8).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What lies below a folder: size and time of each file, and its content up to a size.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let metadata = entry.metadata().unwrap();
        let state = if metadata.is_symlink() {
            format!("link to {:?}", fs::read_link(&path).unwrap())
        } else if metadata.is_dir() {
            collect(root, &path, found);
            "folder".to_owned()
        } else {
            let content = if metadata.len() < 1 << 20 { fs::read(&path).ok() } else { None };
            format!("{} bytes of {:?}: {content:?}", metadata.len(), metadata.modified().unwrap())
        };
        found.insert(name, state);
    }
}

/// Whether a byte string occurs in any file below a folder.
pub(crate) fn holds(folder: &Path, needle: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, needle);
        }
        fs::read(&path).unwrap().windows(needle.len()).any(|window| window == needle)
    })
}
