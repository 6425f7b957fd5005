//! Many connections, writes and streams in random order: every stream delivers each batch of others once.

use std::collections::BTreeSet;

use logkeep_protocol::RequestId;
use proptest::prelude::*;

use crate::client::{Arrived, Client, World, identity};

#[derive(Debug, Clone)]
enum Step {
    Write { client: usize, ids: Vec<u8>, size: usize },
    Open { client: usize, start: u64 },
    Take { client: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let client = 0usize..3;
    prop_oneof![
        (
            client.clone(),
            prop::collection::vec(1u8..40, 1..4),
            prop_oneof![Just(3usize), Just(20_000), Just(90_000)]
        )
            .prop_map(|(client, ids, size)| Step::Write { client, ids, size }),
        (client.clone(), 0u64..6).prop_map(|(client, start)| Step::Open { client, start }),
        client.prop_map(|client| Step::Take { client }),
    ]
}

/// A stream with what is known of it.
struct Followed {
    client: usize,
    stream: RequestId,
    /// Where the batches begin that it has to deliver.
    owed: BTreeSet<u64>,
    /// Where the batches begin that its own connection stored while it was open.
    echoes: BTreeSet<u64>,
    /// The sequences that were acknowledged to its own connection while it was open.
    acknowledged: BTreeSet<u64>,
    got: Vec<Arrived>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("LOGKEEP_LONG").is_some() { 2_000 } else { 150 }))]

    #[test]
    fn nothing_is_lost_doubled_or_echoed(steps in prop::collection::vec(step(), 1..40)) {
        let world = World::new();
        let alice = identity("alice");
        let mut clients: Vec<Client> = (0..3).map(|_| world.session(&alice)).collect();
        let mut stored: Vec<(u64, u64)> = Vec::new();
        let mut known = BTreeSet::new();
        let mut followed: Vec<Followed> = Vec::new();
        for step in steps {
            match step {
                Step::Write { client, ids, size } => {
                    let acks = clients[client].write(&alice, "s", &[(&ids, size)]).unwrap();
                    for stream in followed.iter_mut().filter(|stream| stream.client == client) {
                        stream.acknowledged.extend(acks.iter().map(|(_, sequence)| *sequence));
                    }
                    if ids.iter().all(|id| known.contains(id)) {
                        continue;
                    }
                    known.extend(ids);
                    let (first, last) = (acks[0].1, acks[acks.len() - 1].1);
                    stored.push((first, last));
                    for stream in &mut followed {
                        let set = if stream.client == client { &mut stream.echoes } else { &mut stream.owed };
                        set.insert(first);
                    }
                }
                Step::Open { client, start } => {
                    let stream = clients[client].changes(&alice, "s", start);
                    let owed = stored.iter().filter(|(_, last)| *last >= start).map(|(first, _)| *first);
                    let owed = owed.collect();
                    let (echoes, acknowledged, got) = Default::default();
                    followed.push(Followed { client, stream, owed, echoes, acknowledged, got });
                }
                Step::Take { client } => {
                    for stream in followed.iter_mut().filter(|stream| stream.client == client) {
                        stream.got.extend(clients[client].drain_at_once(&stream.stream));
                    }
                }
            }
        }
        for stream in &mut followed {
            stream.got.extend(clients[stream.client].drain_at_once(&stream.stream));
            let sequences: Vec<u64> = stream.got.iter().map(|(first, ..)| *first).collect();
            prop_assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
            let got: BTreeSet<u64> = sequences.into_iter().collect();
            prop_assert!(got.is_disjoint(&stream.echoes), "an echo: {got:?} of {:?}", stream.echoes);
            prop_assert!(got.is_subset(&stream.owed), "{got:?} of {:?}", stream.owed);
            // A batch that is missing was uploaded again before the stream had reached it (SV-058).
            for missing in stream.owed.difference(&got) {
                let (first, last) = *stored.iter().find(|(first, _)| first == missing).unwrap();
                prop_assert!((first..=last).all(|sequence| stream.acknowledged.contains(&sequence)), "{missing}");
            }
        }
    }
}
