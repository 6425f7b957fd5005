//! Data directories as users really have them: every folder of `tests/cases`
//! must end as its `expected.json` says. `tests/cases/README.md` explains both.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod check;
mod run;
mod setup;

use std::fs;
use std::path::{Path, PathBuf};

use check::Case;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

macro_rules! cases {
    ($($test:ident: $folder:literal,)*) => {
        const LISTED: &[&str] = &[$($folder),*];
        $(#[test] fn $test() { Case::open(&folder().join($folder)).check(); })*
    };
}

cases! {
    empty_part_file: "01-empty-part-file",
    nul_filled_session: "02-nul-filled-session",
    truncated_json: "03-truncated-json",
    byte_order_mark: "04-byte-order-mark",
    session_in_two_folders: "05-session-in-two-folders",
    stale_project_id: "06-stale-project-id",
    messages_without_session: "07-messages-without-session",
    document_keys_that_escape: "08-document-keys-that-escape",
    document_key_names: "09-document-key-names",
    id_wrap: "10-id-wrap",
    unarchive: "11-unarchive",
    large_session_diff: "12-large-session-diff",
    older_database_beside_tree: "13-older-database-beside-tree",
    log_with_gaps: "14-log-with-gaps",
    same_sequence_different_content: "15-same-sequence-different-content",
    unknown_event_type: "16-unknown-event-type",
    late_part_after_delete: "17-late-part-after-delete",
    sequence_zero_repeated: "18-sequence-zero-repeated",
    newer_database: "19-newer-database",
    wal_beside_database: "20-wal-beside-database",
    foreign_files: "21-foreign-files",
    symlink_loops: "22-symlink-loops",
    unreadable_files: "23-unreadable-files",
}

#[test]
fn every_case_is_run() {
    let mut found: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, LISTED);
}
