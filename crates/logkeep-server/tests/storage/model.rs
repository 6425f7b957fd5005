//! Random writes against a model: SV-040…048 in a few lines of ordinary code.

use std::collections::HashMap;

use logkeep_protocol::Scope;
use logkeep_server::storage::{Batch, Placed, Upload, Write};
use proptest::prelude::*;

use crate::material::*;
use crate::{InMemory, OnDisk, Place};

/// What a store holds, as the specification says it.
#[derive(Default)]
struct Model {
    next: u64,
    first: HashMap<u128, u64>,
    batches: Vec<(u64, Batch)>,
}

impl Model {
    fn write(&mut self, ids: &[u128], batch: &Batch) -> Placed {
        self.next = self.next.max(1);
        if ids.iter().all(|id| self.first.contains_key(id)) {
            return known(&ids.iter().map(|id| self.first[id]).collect::<Vec<_>>());
        }
        let first = self.next;
        for (id, sequence) in ids.iter().zip(first..) {
            self.first.entry(*id).or_insert(sequence);
        }
        self.next += ids.len() as u64;
        self.batches.push((first, batch.clone()));
        stored(first)
    }

    fn rows(&self, from: u64) -> Vec<(u64, u64, Vec<u8>)> {
        let rows = self
            .batches
            .iter()
            .map(|(first, batch)| (*first, first + u64::from(batch.count) - 1, wire_row(*first, batch)));
        rows.filter(|(_, last, _)| *last >= from).collect()
    }
}

/// A batch: which ids, and how many bytes.
type Shape = (Vec<u128>, usize);

#[derive(Debug, Clone)]
enum Step {
    /// Writes in one group: to which store, which batches.
    Group(Vec<(usize, Vec<Shape>)>),
    Upload {
        store: usize,
        batches: Vec<Shape>,
        steps_before_abandoned: Option<usize>,
    },
    Reopen,
    /// Reads a store from a sequence on.
    Read {
        store: usize,
        from: u64,
        budget: usize,
    },
}

/// Ids from a small pool, so that they repeat and overlap, and fresh ones that fill the id index.
fn ids() -> impl Strategy<Value = Vec<u128>> {
    prop_oneof![
        3 => prop::collection::vec((0..40u64).prop_map(scrambled), 1..6),
        2 => prop::collection::vec((0..40u64).prop_map(|n| version_7(1_000 + n, n)), 1..6),
        1 => (any::<u32>(), 1..900u64).prop_map(|(seed, count)| {
            (0..count).map(|n| scrambled(u64::from(seed) << 20 | n)).collect()
        }),
        1 => (any::<u32>(), 1..900u64).prop_map(|(ms, count)| {
            (0..count).map(|n| version_7(u64::from(ms) + n / 3, n)).collect()
        }),
    ]
}

fn batches() -> impl Strategy<Value = Vec<Shape>> {
    prop::collection::vec((ids(), prop_oneof![0..300usize, 0..5_000usize]), 1..4)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => prop::collection::vec((0..3usize, batches()), 1..5).prop_map(Step::Group),
        1 => (0..3usize, batches(), prop::option::of(0..3usize)).prop_map(
            |(store, batches, steps_before_abandoned)| Step::Upload { store, batches, steps_before_abandoned }
        ),
        1 => Just(Step::Reopen),
        2 => (0..3usize, 0..3_000u64, 1..20_000usize)
            .prop_map(|(store, from, budget)| Step::Read { store, from, budget }),
    ];
    prop::collection::vec(step, 1..40)
}

fn made(shapes: &[Shape]) -> Vec<Batch> {
    shapes.iter().map(|(ids, size)| batch(ids, &vec![ids[0] as u8; *size])).collect()
}

fn run<P: Place>(place: &P, steps: &[Step]) {
    let scopes: Vec<Scope> = ["a", "b", "c"].map(|store| scope("P", store)).into();
    let mut models: [Model; 3] = Default::default();
    let mut now = 1_000;
    let mut open = open(place);
    for step in steps {
        now += 700;
        match step {
            Step::Group(writes) => {
                let group = writes
                    .iter()
                    .map(|(store, shapes)| Write { scope: scopes[*store].clone(), batches: made(shapes) });
                let answers = open.writer.write(group.collect(), now);
                for ((store, shapes), answer) in writes.iter().zip(answers) {
                    let model = &mut models[*store];
                    let expected: Vec<_> = shapes
                        .iter()
                        .zip(made(shapes))
                        .map(|((ids, _), batch)| model.write(ids, &batch))
                        .collect();
                    let written = answer.unwrap();
                    assert_eq!(written.placed, expected);
                    assert_eq!(written.head, model.next - 1);
                }
            }
            Step::Upload { store, batches, steps_before_abandoned } => {
                // Batches of 2 MB make several steps.
                let large = |shape: &Shape| batch(&shape.0, &vec![7; 2_000_000]);
                let uploaded: Vec<_> = batches.iter().map(large).collect();
                let upload = Upload {
                    scope: scopes[*store].clone(),
                    batches: Box::new(uploaded.clone().into_iter().map(Ok)),
                    answered_ids: usize::MAX,
                };
                open.writer.upload(upload).unwrap();
                let mut steps = 0;
                let written = loop {
                    if Some(steps) == *steps_before_abandoned {
                        open.writer.upload_abandon();
                        break None;
                    }
                    steps += 1;
                    if let Some(written) = open.writer.upload_step(now).unwrap() {
                        break Some(written);
                    }
                };
                if let Some(written) = written {
                    let model = &mut models[*store];
                    let placed =
                        batches.iter().zip(&uploaded).map(|((ids, _), batch)| model.write(ids, batch));
                    assert_eq!(written.placed, placed.collect::<Vec<_>>());
                }
            }
            Step::Reopen if P::DURABLE => {
                drop(open);
                open = crate::material::open(place);
            }
            Step::Reopen => {}
            Step::Read { store, from, budget } => {
                let rows = read_all(&mut *open.reader, &scopes[*store], *from, *budget);
                assert!(rows == models[*store].rows(*from), "store {store} from {from}");
            }
        }
    }
    for (scope, model) in scopes.iter().zip(&models) {
        assert_eq!(open.reader.head(scope).unwrap(), model.next.max(1) - 1);
        assert!(read_all(&mut *open.reader, scope, 0, 50_000) == model.rows(0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_on_disk_does_as_the_model(steps in steps()) {
        run(&OnDisk(tempfile::tempdir().unwrap()), &steps);
    }

    #[test]
    fn sqlite_in_memory_does_as_the_model(steps in steps()) {
        run(&InMemory, &steps);
    }
}
