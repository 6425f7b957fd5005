//! Uploads: writes too large for memory.

use std::io;

use logkeep_protocol::Scope;
use logkeep_server::storage::{Batch, StorageError, Upload, Write, Writer, Written};

use crate::Place;
use crate::material::*;

/// Batches of 10 ids and 300 kB each: about 14 in a step.
fn batches(ids: std::ops::Range<u64>) -> impl Iterator<Item = Batch> {
    let (start, count) = (ids.start, ids.end - ids.start);
    (0..count / 10).map(move |n| {
        let ids: Vec<_> = (0..10).map(|k| scrambled(start + 10 * n + k)).collect();
        batch(&ids, &vec![n as u8; 300_000])
    })
}

fn upload(scope: &Scope, batches: impl Iterator<Item = Batch> + Send + 'static) -> Upload {
    Upload { scope: scope.clone(), batches: Box::new(batches.map(Ok)), answered_ids: 25 }
}

fn finish(writer: &mut dyn Writer) -> (Written, usize) {
    for steps in 1.. {
        if let Some(written) = writer.upload_step(1_000).unwrap() {
            return (written, steps);
        }
    }
    unreachable!()
}

pub(crate) fn an_upload_is_visible_when_it_is_complete(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    write(&mut *open.writer, &scope, &[batch(&[1], b"x")]);
    let giant = batch(&[2, 3], &vec![5; 9_000_000]);
    let all = batches(0..600).chain([giant.clone()]);
    open.writer.upload(upload(&scope, all)).unwrap();
    let mut steps = 0;
    let written = loop {
        assert_eq!(open.reader.head(&scope).unwrap(), 1);
        assert_eq!(open.reader.page(&scope, 1, usize::MAX).unwrap().rows.len(), 1);
        steps += 1;
        if let Some(written) = open.writer.upload_step(1_000).unwrap() {
            break written;
        }
    };
    assert!(steps >= 5, "{steps} steps");
    assert_eq!(written.placed, [stored(2), stored(12), stored(22)]);
    assert_eq!((written.head, written.batches.len()), (603, 0));
    let rows = read_all(&mut *open.reader, &scope, 2, 1 << 20);
    assert_eq!(rows.len(), 61);
    for ((first, _, row), batch) in rows.iter().zip(batches(0..600).chain([giant])) {
        assert!(*row == wire_row(*first, &batch), "row {first}");
    }
    assert_eq!(write(&mut *open.writer, &scope, &[batch(&[2], b"x")]).placed, [known(&[602])]);
    assert!(open.writer.upload_step(1_000).unwrap().is_none());
}

pub(crate) fn other_stores_are_written_during_an_upload(place: &impl Place) {
    let mut open = open(place);
    let (a, b) = (scope("P", "a"), scope("P", "b"));
    open.writer.upload(upload(&a, batches(0..600))).unwrap();
    let nothing = upload(&b, batches(0..0));
    assert!(matches!(open.writer.upload(nothing), Err(StorageError::Uploading)));
    assert!(open.writer.upload_step(1_000).unwrap().is_none());
    let group = [&a, &b].map(|scope| Write { scope: scope.clone(), batches: vec![batch(&[1], &[6; 9_000])] });
    let answers = open.writer.write(group.into(), 1_000);
    assert!(matches!(answers[0], Err(StorageError::Uploading)));
    assert_eq!(answers[1].as_ref().unwrap().placed, [stored(1)]);
    assert_eq!(finish(&mut *open.writer).0.head, 600);
    assert_eq!(write(&mut *open.writer, &a, &[batch(&[1], b"x")]).placed, [stored(601)]);
    assert_eq!(read_all(&mut *open.reader, &b, 1, 1)[0].2, wire_row(1, &batch(&[1], &[6; 9_000])));
}

pub(crate) fn a_failed_upload_leaves_nothing(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let broken = [Err(io::Error::other("the spool is gone")), Ok(Batch { count: 7, ..batch(&[1], b"x") })];
    for last in broken {
        let all = batches(0..600).map(Ok).chain([last]);
        open.writer.upload(Upload { scope: scope.clone(), batches: Box::new(all), answered_ids: 5 }).unwrap();
        let error = loop {
            match open.writer.upload_step(1_000) {
                Ok(written) => assert!(written.is_none()),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("the spool is gone") || matches!(error, StorageError::Refused(_)));
    }
    nothing_is_left(&mut open, &scope);
}

pub(crate) fn an_abandoned_upload_leaves_nothing(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    open.writer.upload_abandon();
    open.writer.upload(upload(&scope, batches(0..600))).unwrap();
    open.writer.upload_step(1_000).unwrap();
    open.writer.upload_step(1_000).unwrap();
    open.writer.upload_abandon();
    nothing_is_left(&mut open, &scope);
}

pub(crate) fn a_crash_during_an_upload_leaves_nothing<P: Place>(place: &P) {
    if !P::DURABLE {
        return;
    }
    let scope = scope("P", "s");
    {
        let mut open = open(place);
        // So many ids that some are in the id index on disk when it happens.
        let all = (0..200).map(|n| {
            let ids: Vec<_> = (0..100).map(|k| scrambled(100 * n + k)).collect();
            batch(&ids, &vec![n as u8; 100_000])
        });
        open.writer.upload(upload(&scope, all)).unwrap();
        for _ in 0..4 {
            assert!(open.writer.upload_step(1_000).unwrap().is_none());
        }
    }
    nothing_is_left(&mut open(place), &scope);
}

/// Nothing of an upload of the ids from 0 on is seen, and what it had is stored as new.
fn nothing_is_left(open: &mut Open, scope: &Scope) {
    assert_eq!(open.reader.head(scope).unwrap(), 0);
    while open.writer.tidy().unwrap() {}
    assert_eq!(write(&mut *open.writer, scope, &[batch(&[scrambled(5)], b"x")]).placed, [stored(1)]);
    open.writer.upload(upload(scope, batches(0..600))).unwrap();
    let (written, _) = finish(&mut *open.writer);
    assert_eq!((&written.placed[0], written.head), (&stored(2), 601));
    assert_eq!(read_all(&mut *open.reader, scope, 0, 1 << 20).len(), 61);
}

pub(crate) fn an_upload_skips_what_is_known(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let some: Vec<_> = batches(0..30).collect();
    write(&mut *open.writer, &scope, &some[1..2]);
    open.writer.upload(upload(&scope, some.into_iter().cycle().take(6))).unwrap();
    let (written, _) = finish(&mut *open.writer);
    let second = known(&(1..=10).collect::<Vec<_>>());
    assert_eq!(written.placed, [stored(11), second, stored(21)]);
    assert_eq!(written.head, 30);
}
