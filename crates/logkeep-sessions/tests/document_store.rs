//! What a document store promises: the reference's own expectations, and what it leaves open.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use logkeep_sessions::documents::{DocumentError, DocumentStore, Key, Order, Prefix};
use logkeep_sessions::json::{Json, parse};
use proptest::prelude::*;
use tempfile::TempDir;

fn store() -> (TempDir, DocumentStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = DocumentStore::open(folder.path()).unwrap();
    (folder, store)
}

fn key(elements: &[&str]) -> Key {
    Key::new(elements.iter().copied()).unwrap()
}

fn json(text: &str) -> Json {
    parse(text.as_bytes()).unwrap()
}

fn keys(store: &DocumentStore, prefix: &[&str]) -> Vec<String> {
    let prefix = Prefix::new(prefix.iter().copied()).unwrap();
    let listing = store.list(&prefix, Order::Bytes).unwrap();
    assert!(listing.failures.is_empty(), "{listing:?}");
    listing.keys.iter().map(Key::joined).collect()
}

#[test]
fn a_document_comes_back_and_is_stored_as_the_reference_stores_it() {
    let (folder, store) = store();
    let value = json(r#"[{"file":"a.ts","additions":2,"deletions":1,"big":9007199254740993}]"#);
    store.write(&key(&["session_diff", "roundtrip"]), &value).unwrap();
    assert_eq!(store.read(&key(&["session_diff", "roundtrip"])).unwrap(), value);
    let text = fs::read_to_string(folder.path().join("storage/session_diff/roundtrip.json")).unwrap();
    assert!(text.starts_with("[\n  {\n    \"file\": \"a.ts\",\n") && text.ends_with("  }\n]"), "{text}");
}

#[test]
fn a_missing_document_is_not_found() {
    let (_folder, store) = store();
    let missing = key(&["missing", "value"]);
    assert!(matches!(store.read(&missing), Err(DocumentError::NotFound { .. })));
    let mut called = false;
    let updated = store.update::<std::io::Error>(&missing, |_| {
        called = true;
        Ok(())
    });
    assert!(matches!(updated, Err(DocumentError::NotFound { .. })));
    assert!(!called);
    store.remove(&missing).unwrap();
    assert!(keys(&store, &["nonexistent"]).is_empty());
}

#[test]
fn a_second_write_replaces_the_first() {
    let (_folder, store) = store();
    let place = key(&["overwrite", "test"]);
    store.write(&place, &json(r#"{"v":1}"#)).unwrap();
    store.write(&place, &json(r#"{"v":2}"#)).unwrap();
    assert_eq!(store.read(&place).unwrap(), json(r#"{"v":2}"#));
}

#[test]
fn lists_follow_writes_and_removals() {
    let (folder, store) = store();
    store.write(&key(&["list", "b"]), &Json::Null).unwrap();
    store.write(&key(&["list", "a"]), &Json::Null).unwrap();
    store.write(&key(&["list", "deep", "er", "c"]), &Json::Null).unwrap();
    assert_eq!(keys(&store, &["list"]), ["list/a", "list/b", "list/deep/er/c"]);
    store.remove(&key(&["list", "a"])).unwrap();
    assert_eq!(keys(&store, &["list"]), ["list/b", "list/deep/er/c"]);
    assert!(matches!(store.read(&key(&["list", "a"])), Err(DocumentError::NotFound { .. })));
    store.remove(&key(&["list", "deep", "er", "c"])).unwrap();
    assert!(folder.path().join("storage/list/deep/er").is_dir());
}

#[test]
fn only_real_documents_are_listed() {
    let (folder, store) = store();
    let storage = folder.path().join("storage");
    fs::create_dir_all(storage.join("a/.hidden")).unwrap();
    fs::create_dir_all(storage.join("a/folder.json")).unwrap();
    let files = [
        "migration",
        "a/x.json",
        "a/x.json.tmp",
        "a/x.json~",
        "a/.y.json",
        "a/.hidden/z.json",
        "a/folder.json/in.json",
    ];
    for file in files {
        fs::write(storage.join(file), "{}").unwrap();
    }
    assert_eq!(keys(&store, &[]), ["a/folder.json/in", "a/x"]);
    assert!(keys(&store, &["a", "x"]).is_empty());
}

#[test]
fn damaged_is_not_missing() {
    let (folder, store) = store();
    let storage = folder.path().join("storage/part");
    fs::create_dir_all(storage.join("folder.json")).unwrap();
    for (name, content) in
        [("empty", &b""[..]), ("nul", &[0; 413]), ("cut", b"{\"a\": \"b"), ("latin", b"{\"a\":\"\xe9\"}")]
    {
        fs::write(storage.join(format!("{name}.json")), content).unwrap();
        let error = store.read(&key(&["part", name])).unwrap_err();
        assert!(matches!(error, DocumentError::Corrupt { .. }), "{name}: {error}");
        assert!(!error.to_string().contains("not found"));
        let updated = store.update::<std::io::Error>(&key(&["part", name]), |_| Ok(()));
        assert!(matches!(updated, Err(DocumentError::Corrupt { .. })));
        assert_eq!(fs::read(storage.join(format!("{name}.json"))).unwrap(), content);
    }
    let folder_in_place = store.read(&key(&["part", "folder"])).unwrap_err();
    assert!(matches!(folder_in_place, DocumentError::Io { .. }), "{folder_in_place}");
    fs::write(storage.join("file"), "1").unwrap();
    let file_as_folder = store.read(&key(&["part", "file", "x"])).unwrap_err();
    assert!(matches!(file_as_folder, DocumentError::Io { .. }), "{file_as_folder}");
    assert_eq!(keys(&store, &["part"]), ["part/cut", "part/empty", "part/latin", "part/nul"]);
}

#[test]
fn damaged_documents_are_set_aside_with_their_key_and_reason() {
    let (folder, store) = store();
    let cut = key(&["session", "p", "ses_1"]);
    fs::create_dir_all(folder.path().join("storage/session/p")).unwrap();
    fs::write(folder.path().join("storage/session/p/ses_1.json"), "{\"id\"").unwrap();
    let moved = store.quarantine(&cut).unwrap().unwrap();
    assert_eq!(fs::read_to_string(moved.folder.join("document")).unwrap(), "{\"id\"");
    let note = parse(&fs::read(moved.folder.join("reason.json")).unwrap()).unwrap();
    assert_eq!(note.get(&["key"]), Some(&json(r#"["session","p","ses_1"]"#)));
    assert!(note.text(&["reason"]).unwrap().contains("at byte 5"));
    assert!(matches!(store.read(&cut), Err(DocumentError::NotFound { .. })));
    store.write(&cut, &Json::Null).unwrap();
    assert!(store.quarantine(&cut).unwrap().is_none());
    assert_eq!(keys(&store, &[]), ["session/p/ses_1"]);
}

#[test]
fn a_failed_edit_changes_nothing_and_frees_the_lock() {
    let (_folder, store) = store();
    let place = key(&["a"]);
    store.write(&place, &json("1")).unwrap();
    let failed = store.update(&place, |value| {
        *value = Json::Null;
        Err("no")
    });
    assert!(matches!(failed, Err(DocumentError::Edit { .. })));
    assert_eq!(store.read(&place).unwrap(), json("1"));
    store.write(&place, &json("2")).unwrap();
}

#[test]
fn an_update_may_touch_other_documents() {
    let (_folder, store) = store();
    store.write(&key(&["a"]), &json("1")).unwrap();
    store.update(&key(&["a"]), |_| store.write(&key(&["b"]), &json("2"))).unwrap();
    assert_eq!(keys(&store, &[]), ["a", "b"]);
}

fn increment(store: &DocumentStore, key: &Key) {
    let added = store.update::<std::io::Error>(key, |value| {
        let next = value.integer(&["value"]).unwrap() + 1;
        value.set("value", Json::from(next));
        Ok(())
    });
    added.unwrap();
}

#[test]
fn concurrent_updates_are_all_counted_and_readers_never_see_half() {
    let (_folder, store) = store();
    let counter = key(&["counter", "shared"]);
    store.write(&counter, &json(r#"{"value":0}"#)).unwrap();
    thread::scope(|scope| {
        for _ in 0..25 {
            scope.spawn(|| increment(&store, &counter));
        }
        for _ in 0..10 {
            scope.spawn(|| assert!(store.read(&counter).unwrap().integer(&["value"]).unwrap() <= 25));
        }
    });
    assert_eq!(store.read(&counter).unwrap(), json(r#"{"value":25}"#));
}

/// Run by [`two_processes_count_together`] as a process of its own; does nothing else.
#[test]
fn child_that_counts() {
    let Some(root) = std::env::var_os("LOGKEEP_TEST_COUNTER") else { return };
    let store = DocumentStore::open(Path::new(&root)).unwrap();
    (0..500).for_each(|_| increment(&store, &key(&["counter"])));
}

#[test]
fn two_processes_count_together() {
    let (folder, store) = store();
    store.write(&key(&["counter"]), &json(r#"{"value":0}"#)).unwrap();
    let spawn = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_counts"])
            .env("LOGKEEP_TEST_COUNTER", folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut children = [spawn(), spawn()];
    children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    assert_eq!(store.read(&key(&["counter"])).unwrap(), json(r#"{"value":1000}"#));
    assert!(!folder.path().join("storage/.logkeep").exists());
}

#[test]
fn a_killed_writer_leaves_the_old_or_the_new_content() {
    let (folder, store) = store();
    let place = key(&["counter"]);
    store.write(&place, &json(r#"{"value":0}"#)).unwrap();
    let mut last = 0;
    for round in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_counts"])
            .env("LOGKEEP_TEST_COUNTER", folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(std::time::Duration::from_millis(20 + 13 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let value = store.read(&place).unwrap().integer(&["value"]).unwrap();
        assert!(value >= last);
        last = value;
    }
    // A new store takes the locks of the dead over and clears up behind them.
    let store = DocumentStore::open(folder.path()).unwrap();
    increment(&store, &place);
    assert_eq!(keys(&store, &[]), ["counter"]);
    assert!(!folder.path().join("storage/.logkeep").exists());
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = store();
    store.write(&key(&["a"]), &json("1")).unwrap();
    let storage = folder.path().join("storage");
    fs::set_permissions(&storage, fs::Permissions::from_mode(0o555)).unwrap();
    let store = DocumentStore::open(folder.path()).unwrap();
    assert_eq!(store.read(&key(&["a"])).unwrap(), json("1"));
    assert_eq!(keys(&store, &[]), ["a"]);
    assert!(!storage.join(".logkeep").exists());
    fs::set_permissions(&storage, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_data_directory_that_does_not_exist_is_an_error_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let missing = DocumentStore::open(&folder.path().join("nowhere")).unwrap_err();
    assert!(matches!(missing, DocumentError::NoDirectory { .. }), "{missing}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    /// DS-004: the mapping from keys to files is injective and stays below the root.
    #[test]
    fn different_keys_are_different_files(names in proptest::collection::hash_set(
        proptest::collection::vec("[a-zA-Z0-9 ._~é🪁-]{1,8}", 1..4), 1..6))
    {
        let (folder, store) = store();
        let valid: Vec<Key> = names.into_iter().filter_map(|elements| Key::new(elements).ok()).collect();
        for (index, key) in valid.iter().enumerate() {
            // A document may have the name of another one's folder only with the suffix in it.
            prop_assume!(store.write(key, &Json::from(index as i64)).is_ok());
        }
        for (index, key) in valid.iter().enumerate() {
            prop_assert_eq!(store.read(key).unwrap(), Json::from(index as i64));
        }
        prop_assert!(fs::read_dir(folder.path()).unwrap().count() <= 1);
    }
}
