//! A disk that refuses to take more: writes fail clearly, nothing acknowledged is lost, and it passes.
//!
//! The limit on the size of files stands for the full disk. It holds for a whole process, hence the child.

use std::path::Path;
use std::process::Command;

use logkeep_server::storage::{Storage, StorageError, Upload, Write, Writer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::material::*;
use crate::{OnDisk, Place};

const DIRECTORY: &str = "STORAGE_FULL_DIRECTORY";
const FILE_LIMIT: u64 = 6 << 20;

#[test]
fn a_full_disk_is_an_error_that_passes() {
    let place = OnDisk(tempfile::tempdir().unwrap());
    drop(place.open());
    let command = "trap '' XFSZ; exec \"$0\" --exact full::child --ignored --nocapture";
    let output = Command::new("sh")
        .args(["-c", command])
        .arg(std::env::current_exe().unwrap())
        .env(DIRECTORY, place.0.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let storage = place.open();
    let head = storage.reader().unwrap().head(&scope("P", "s")).unwrap();
    assert!(head > 40, "what the child wrote is there");
}

#[test]
#[ignore = "the process whose files `a_full_disk_is_an_error_that_passes` limits"]
fn child() {
    let directory = std::env::var(DIRECTORY).unwrap();
    let storage = OnDisk::open_at(Path::new(&directory));
    let mut writer = storage.writer().unwrap();
    let unlimited = getrlimit(Resource::Fsize);
    for round in 0..3 {
        setrlimit(Resource::Fsize, Rlimit { current: Some((round + 1) * FILE_LIMIT), ..unlimited }).unwrap();
        fill(&mut *writer, &*storage);
        upload_fails(&mut *writer, &*storage);
        setrlimit(Resource::Fsize, unlimited).unwrap();
        let head = storage.reader().unwrap().head(&scope("P", "s")).unwrap();
        let ids = (head + 1, u128::from(head) << 32);
        let written = write(&mut *writer, &scope("P", "s"), &[batch(&[ids.1], &[1; 200_000])]);
        assert_eq!(written.placed, [stored(ids.0)], "it goes on without a gap");
    }
}

/// Writes until it fails, and a few times more. What was stored stays readable, what failed is not there.
fn fill(writer: &mut dyn Writer, storage: &dyn Storage) {
    let scope = scope("P", "s");
    let mut reader = storage.reader().unwrap();
    let mut failures = 0;
    for n in 0..1_000 {
        let head = reader.head(&scope).unwrap();
        let group = [1, 2].map(|k| {
            let id = scrambled(1_000 * head + 10 * n + k);
            Write { scope: scope.clone(), batches: vec![batch(&[id], &[3; 100_000])] }
        });
        let answers = writer.write(group.into(), 1);
        let failed = answers.iter().filter(|answer| answer.is_err()).count();
        assert!(failed == 0 || failed == 2, "a transaction fails as a whole");
        if failed == 2 {
            assert!(matches!(answers[0], Err(StorageError::Failed(_))), "{:?}", answers[0].as_ref().err());
            assert_eq!(reader.head(&scope).unwrap(), head);
            failures += 1;
            if failures == 5 {
                return;
            }
        }
    }
    panic!("the limit was never met");
}

fn upload_fails(writer: &mut dyn Writer, storage: &dyn Storage) {
    let scope = scope("P", "t");
    let batches = (0..100).map(|n| Ok(batch(&[n], &[3; 1_000_000])));
    writer.upload(Upload { scope: scope.clone(), batches: Box::new(batches), answered_ids: 10 }).unwrap();
    let error = (0..100).find_map(|_| writer.upload_step(1).err()).unwrap();
    assert!(matches!(error, StorageError::Failed(_)), "{error}");
    assert_eq!(storage.reader().unwrap().head(&scope).unwrap(), 0);
}
