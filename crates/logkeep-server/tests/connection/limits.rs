//! What a client may not do, and that others do not notice.

use logkeep_protocol::{Envelope, Request, RequestId, Yes};
use logkeep_server::limits::Limits;

use crate::client::{World, body_of_write, identity};

#[test]
fn the_65th_open_message_is_refused_with_the_limit() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    for id in 0..64 {
        assert_eq!(client.write_part(id, (0, 2), b"x"), Ok(vec![]));
    }
    for id in 64..10_000 {
        let refused = client.write_part(id, (0, 2), b"x").unwrap_err();
        assert!(refused.contains("InvalidRequest") && refused.contains("64"), "{refused}");
    }
    assert_eq!(client.write(&alice, "s", &[(b"a", 1)]), Ok(vec![(b'a', 1)]), "others go on");
}

#[test]
fn totals_that_disagree_or_are_absurd_drop_the_message() {
    let world = World::new();
    let mut client = world.session(&identity("alice"));
    client.write_part(1, (0, 2), b"x").unwrap();
    assert!(client.write_part(1, (1, 3), b"x").unwrap_err().contains("InvalidRequest"), "SV-X04");
    for total in [65_537, u64::from(u32::MAX) + 1, (1 << 53) - 1] {
        assert!(client.write_part(2, (0, total), b"x").unwrap_err().contains("InvalidRequest"));
    }
}

#[test]
fn long_store_ids_and_many_streams_are_refused_by_name() {
    let limits = Limits { streams: 2, ..Limits::default() };
    let world = World::with_limits(limits);
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let refused = client.write(&alice, &"x".repeat(1025), &[(b"a", 1)]).unwrap_err();
    assert!(refused.contains("1025") && refused.contains("1024"), "{refused}");
    client.write(&alice, &"x".repeat(1024), &[(b"a", 1)]).unwrap();
    client.changes(&alice, "s", 0);
    client.changes(&alice, "t", 0);
    let third = client.changes(&alice, "u", 0);
    let refused = crate::client::failure(&client.exit(&third).unwrap());
    assert!(refused.contains("InvalidRequest") && refused.contains('2'), "{refused}");
}

#[test]
fn ids_that_are_not_16_bytes_store_nothing() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let mut data = body_of_write("alice", "s", &[(b"a", 1)]);
    // The region of entryIds is `24 01 10 …16 bytes`: make the id 15 bytes and a stray one.
    let at = data.windows(3).position(|bytes| bytes == [0x24, 0x01, 0x10]).unwrap();
    data[at + 2] = 0x0f;
    assert!(client.write_part(1, (0, 1), &data).is_err());
    let stream = client.changes(&alice, "s", 0);
    assert_eq!(client.drain_at_once(&stream), []);
}

#[test]
fn a_live_id_used_again_closes_the_connection_with_1001() {
    let world = World::new();
    let alice = identity("alice");
    let mut client = world.session(&alice);
    let stream = client.changes(&alice, "s", 0);
    let again = Request::new(stream, "EventLog.Hello", &[1, 32]);
    client.send(Envelope::Request(again).write());
    assert_eq!(client.connection.outbox().closing().unwrap().code, 1001);
}

#[test]
fn frames_that_do_not_decode_spoil_only_their_connection() {
    let world = World::new();
    for garbage in [&[0u8][..], &[0xff; 16], &[3, 0x20, 0, 0], &[2, 0x21, 9], b"\x0a\x21aaaaaaaa\x03"] {
        let mut client = world.connect();
        client.send(garbage.to_vec());
        client.send(Envelope::Ping.write());
        let defect = client.take(|envelope| match envelope {
            Envelope::Defect { defect } => Some(String::from_utf8_lossy(defect).into_owned()),
            _ => None,
        });
        let partial = garbage[0] == 0xff && garbage.len() < 10;
        assert!(partial || defect.is_some_and(|text| text.contains("SchemaError")), "{garbage:?}");
        assert!(client.take(|envelope| (*envelope == Envelope::Pong).then_some(())).is_none(), "it is spent");
    }
    assert_eq!(world.connect().log_in(&identity("alice")), "");
}

#[test]
fn a_frame_above_the_limit_is_refused_by_its_length_alone() {
    let world = World::new();
    let mut client = world.connect();
    // 16 MiB + 1, of which not a byte is sent.
    client.send(vec![0x81, 0x80, 0x80, 0x08]);
    assert_eq!(client.connection.outbox().closing().unwrap().code, 1009);
}

#[test]
fn a_json_client_is_told_what_to_speak() {
    let world = World::new();
    let mut client = world.connect();
    client.send(br#"{"_tag":"Request","id":0,"tag":"EventLog.Hello","payload":null,"headers":[]}"#.to_vec());
    let close = client.connection.outbox().closing().unwrap().clone();
    assert!(close.code == 1003 && close.reason.contains("SchemaBinary") && close.reason.len() <= 123);
}

#[test]
fn notifications_are_not_answered_and_discarded_calls_at_once() {
    let world = World::new();
    let mut client = world.connect();
    let hello = Request::new(RequestId::number(900), "EventLog.Hello", &[1, 32]);
    let notification = Request { is_notification: Some(Yes::Yes), ..hello.clone() };
    client.send(Envelope::Request(notification).write());
    assert_eq!(client.exit(&RequestId::number(900)), None);
    let discarded = Request { discard: Some(Yes::Yes), ..hello };
    client.send(Envelope::Request(discarded).write());
    assert_eq!(client.exit(&RequestId::number(900)), Some(vec![2, 0x20, 0]));
}
