//! Writes, dedupe, acks and chunked messages (SV-030…049).

use crate::client::{World, body_of_write, identity};

#[test]
fn acks_of_the_documented_example() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let acks = client.write(&alice, "s", &[(b"ab", 3), (b"bc", 3), (b"ab", 3)]).unwrap();
    let expected = [(b'a', 1), (b'b', 2), (b'b', 3), (b'c', 4), (b'a', 1), (b'b', 2)];
    assert_eq!(acks, expected, "SV-046, with the first sequence 1");
    assert_eq!(client.write(&alice, "s", &[(b"dd", 3)]).unwrap(), [(b'd', 5), (b'd', 6)], "SV-043a");
    assert_eq!(client.write(&alice, "t", &[(b"a", 3)]).unwrap(), [(b'a', 1)], "stores are independent");
    assert_eq!(client.write(&alice, "s", &[]).unwrap(), []);
}

#[test]
fn two_batches_under_one_nonce_are_acknowledged_each_by_its_own() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    client.write(&alice, "s", &[(b"a", 3)]).unwrap();
    assert_eq!(client.write(&alice, "s", &[(b"a", 3), (b"b", 3)]).unwrap(), [(b'a', 1), (b'b', 2)]);
}

#[test]
fn scopes_that_read_alike_are_not_the_same() {
    let world = World::new();
    let (one, other) = (identity("P/x"), identity("P"));
    world.session(&one).write(&one, "y", &[(b"a", 3)]).unwrap();
    let mut client = world.session(&other);
    let stream = client.changes(&other, "x/y", 0);
    assert_eq!(client.drain_at_once(&stream), []);
    assert_eq!(client.write(&other, "x/y", &[(b"a", 3)]).unwrap(), [(b'a', 1)]);
}

#[test]
fn parts_join_in_any_order_and_a_login_discards_them() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let data = body_of_write("alice", "s", &[(b"ab", 100)]);
    let (left, right) = data.split_at(40);
    assert_eq!(client.write_part(5, (1, 2), right), Ok(vec![]));
    assert_eq!(client.write_part(5, (1, 2), b"other bytes"), Ok(vec![]), "a repeated index is ignored");
    assert_eq!(client.write_part(5, (0, 2), left), Ok(vec![(b'a', 1), (b'b', 2)]));
    assert_eq!(client.write_part(5, (0, 2), left), Ok(vec![]), "the id is free again");
    assert_eq!(client.log_in(&alice), "");
    assert_eq!(client.write_part(5, (1, 2), right), Ok(vec![]), "SV-013: part 0 is gone");
    assert_eq!(client.write_part(5, (0, 2), left), Ok(vec![(b'a', 1), (b'b', 2)]));
}

#[test]
fn a_large_upload_goes_through_the_disk_and_is_acknowledged_like_any_other() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let ids: Vec<[u8; 1]> = (1..=30).map(|id| [id]).collect();
    let batches: Vec<(&[u8], usize)> = ids.iter().map(|id| (&id[..], 300_000)).collect();
    let data = body_of_write("alice", "s", &batches);
    let parts: Vec<&[u8]> = data.chunks(512_000).collect();
    let mut acks = Vec::new();
    // Backwards: the last part to come completes it.
    for (index, part) in parts.iter().enumerate().rev() {
        acks = client.write_part(1, (index as u64, parts.len() as u64), part).unwrap();
    }
    let expected: Vec<(u8, u64)> = (1..=30).map(|id| (id, u64::from(id))).collect();
    assert_eq!(acks, expected);
    let stream = client.changes(&alice, "s", 0);
    let arrived = client.drain_at_once(&stream);
    let expected: Vec<_> = (1..=30).map(|id| (u64::from(id), vec![id], 300_000)).collect();
    assert_eq!(arrived, expected);
}
