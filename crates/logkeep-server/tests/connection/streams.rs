//! Change streams: order, pace, echo (SV-055…071, WIRE-080…085).

use logkeep_protocol::Envelope;

use crate::client::{World, identity};

#[test]
fn history_then_live_once_each_and_in_order() {
    let world = World::new();
    let alice = identity("alice");
    let mut writer = world.session(&alice);
    writer.write(&alice, "s", &[(b"ab", 3), (b"c", 3)]).unwrap();
    let mut reader = world.session(&alice);
    let stream = reader.changes(&alice, "s", 2);
    assert_eq!(reader.drain_at_once(&stream), [(1, b"ab".to_vec(), 3), (3, b"c".to_vec(), 3)]);
    writer.write(&alice, "s", &[(b"d", 3)]).unwrap();
    writer.write(&alice, "s", &[(b"a", 3), (b"e", 3)]).unwrap();
    writer.write(&alice, "other", &[(b"z", 3)]).unwrap();
    assert_eq!(reader.drain_at_once(&stream), [(4, b"d".to_vec(), 3), (5, b"e".to_vec(), 3)]);
}

#[test]
fn a_stream_that_starts_beyond_the_head_still_gets_what_is_written() {
    let world = World::new();
    let alice = identity("alice");
    let (mut writer, mut reader) = (world.session(&alice), world.session(&alice));
    let stream = reader.changes(&alice, "s", 1_000);
    writer.write(&alice, "s", &[(b"a", 3)]).unwrap();
    assert_eq!(reader.drain_at_once(&stream), [(1, b"a".to_vec(), 3)], "SV-X05");
}

#[test]
fn one_chunk_at_a_time_and_early_acks_mean_nothing() {
    let world = World::new();
    let alice = identity("alice");
    let (mut writer, mut reader) = (world.session(&alice), world.session(&alice));
    let stream = reader.changes(&alice, "s", 0);
    reader.ack(&stream);
    writer.write(&alice, "s", &[(b"a", 3)]).unwrap();
    assert!(reader.chunk(&stream).is_some());
    writer.write(&alice, "s", &[(b"b", 3)]).unwrap();
    assert!(reader.chunk(&stream).is_none(), "the first Chunk is not acknowledged");
    reader.send(Envelope::Ping.write());
    assert!(reader.take(|envelope| (*envelope == Envelope::Pong).then_some(())).is_some());
    reader.ack(&stream);
    assert!(reader.chunk(&stream).is_some());
}

#[test]
fn a_connection_never_gets_back_what_it_wrote_while_the_stream_was_open() {
    let world = World::new();
    let alice = identity("alice");
    let (mut one, mut two) = (world.session(&alice), world.session(&alice));
    one.write(&alice, "s", &[(b"a", 3)]).unwrap();
    let (mine, theirs) = (one.changes(&alice, "s", 0), two.changes(&alice, "s", 0));
    one.write(&alice, "s", &[(b"b", 3)]).unwrap();
    two.write(&alice, "s", &[(b"c", 3)]).unwrap();
    one.write(&alice, "s", &[(b"d", 3)]).unwrap();
    let a = (1, b"a".to_vec(), 3);
    assert_eq!(one.drain_at_once(&mine), [a.clone(), (3, b"c".to_vec(), 3)]);
    assert_eq!(two.drain_at_once(&theirs), [a, (2, b"b".to_vec(), 3), (4, b"d".to_vec(), 3)]);
    let again = one.changes(&alice, "s", 2);
    assert_eq!(one.drain_at_once(&again).len(), 3, "a stream opened after the write delivers it");
}

#[test]
fn uploading_again_what_a_stream_has_not_reached_withholds_it() {
    let world = World::new();
    let alice = identity("alice");
    world.session(&alice).write(&alice, "s", &[(b"ab", 20_000), (b"cd", 20_000), (b"e", 20_000)]).unwrap();
    let mut client = world.session(&alice);
    let stream = client.changes(&alice, "s", 0);
    // The first Chunk holds the first batch only and is not acknowledged yet.
    assert_eq!(client.write(&alice, "s", &[(b"cd", 20_000)]).unwrap(), [(b'c', 3), (b'd', 4)]);
    let arrived = client.drain_at_once(&stream);
    assert_eq!(arrived.iter().map(|(first, ..)| *first).collect::<Vec<_>>(), [1, 5], "SV-058");
}

#[test]
fn every_size_arrives_whole_on_fast_and_on_slow_links() {
    let world = World::new();
    let alice = identity("alice");
    let sizes = [1, 2_000, 33_000, 70_000, 400_000, 600_000, 5_000_000, 10];
    let mut writer = world.session(&alice);
    for (id, size) in (1u8..).zip(sizes) {
        writer.write(&alice, "s", &[(&[id], size)]).unwrap();
    }
    let expected: Vec<_> = (1u8..).zip(sizes).map(|(id, size)| (u64::from(id), vec![id], size)).collect();
    let fast = |_: usize| 1u64;
    let slow = |bytes: usize| 400 + bytes as u64 * 1_000 / 32_000;
    for took in [&fast as &dyn Fn(usize) -> u64, &slow] {
        let mut reader = world.session(&alice);
        let stream = reader.changes(&alice, "s", 0);
        assert_eq!(reader.drain(&stream, took), expected);
    }
}

#[test]
fn an_interrupted_stream_ends_and_its_id_is_free() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let stream = client.changes(&alice, "s", 0);
    client.send(Envelope::Interrupt { id: stream.clone() }.write());
    assert_eq!(client.exit(&stream), Some(vec![5, 0x20, 1, 1, 1, 2]), "one reason: Interrupt");
    world.session(&alice).write(&alice, "s", &[(b"a", 3)]).unwrap();
    assert!(client.chunk(&stream).is_none());
}
