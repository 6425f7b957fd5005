//! Entry ids (EL-001…EL-015).

use crate::common::ids_at;
use logkeep::EntryId;
use logkeep::ids::{IdError, MAX_MILLIS};
use proptest::prelude::*;

fn counter(id: EntryId) -> u16 {
    u16::from_be_bytes([id.0[6] & 0x0f, id.0[7]])
}

#[test]
fn an_id_is_a_uuid_of_version_7() {
    let millis = 0x0192_3456_789a;
    let id = ids_at(millis).0.draw(1, None).unwrap()[0];
    assert_eq!(id.0[..6], [0x01, 0x92, 0x34, 0x56, 0x78, 0x9a]);
    assert_eq!(id.0[6] >> 4, 7);
    assert_eq!(id.0[8] >> 6, 0b10);
    assert_eq!(counter(id), 0);
    assert_eq!(id.millis(), millis);
    let text = id.to_string();
    assert!(text.starts_with("01923456-789a-7000-"), "{text}");
    assert_eq!(text.len(), 36);
}

#[test]
fn the_random_bits_differ() {
    let (ids, clock) = ids_at(1);
    let first = ids.draw(1, None).unwrap()[0];
    clock.set(2);
    assert_ne!(first.0[8..], ids.draw(1, None).unwrap()[0].0[8..]);
}

#[test]
fn the_4097th_id_of_a_millisecond_moves_to_the_next() {
    let (ids, clock) = ids_at(1000);
    let drawn = ids.draw(4097, None).unwrap();
    assert!(drawn.is_sorted_by(|a, b| a < b));
    assert_eq!((drawn[4095].millis(), counter(drawn[4095])), (1000, 4095));
    assert_eq!((drawn[4096].millis(), counter(drawn[4096])), (1001, 0));
    clock.set(10);
    let next = ids.draw(1, None).unwrap()[0];
    assert_eq!((next.millis(), counter(next)), (1001, 1), "a clock that runs backwards changes nothing");
}

#[test]
fn a_floor_is_counted_on_from_and_not_kept() {
    let (ids, _) = ids_at(1000);
    let mut floor = [0xff; 16];
    floor[..8].copy_from_slice(&[0x01, 0xa2, 0x2f, 0x53, 0x6d, 0x44, 0x7b, 0x85]);
    let after = ids.draw(2, Some(EntryId(floor))).unwrap();
    assert_eq!(after[0].0[..8], [0x01, 0xa2, 0x2f, 0x53, 0x6d, 0x44, 0x7b, 0x86]);
    assert_eq!(counter(after[1]), 0xb87);
    assert_eq!(ids.draw(1, None).unwrap()[0].millis(), 1000, "the process goes on in real time");
}

#[test]
fn a_floor_behind_the_sequence_changes_nothing() {
    let (ids, _) = ids_at(1000);
    let first = ids.draw(1, None).unwrap()[0];
    let next = ids.draw(1, Some(first)).unwrap()[0];
    assert_eq!((next.millis(), counter(next)), (1000, 1));
}

#[test]
fn past_the_last_millisecond_every_call_fails() {
    let (ids, clock) = ids_at(MAX_MILLIS);
    assert_eq!(ids.draw(4096, None).unwrap()[4095].millis(), MAX_MILLIS);
    assert_eq!(ids.draw(1, None), Err(IdError::Exhausted));
    clock.set(5);
    assert_eq!(ids.draw(1, None), Err(IdError::Exhausted));
}

#[test]
fn a_given_millisecond_is_clamped_and_moves_nothing() {
    let (ids, _) = ids_at(1000);
    assert_eq!(ids.at(u64::MAX).unwrap().millis(), MAX_MILLIS);
    assert_eq!(ids.at(77).unwrap().0[6] >> 4, 7);
    assert_eq!(counter(ids.draw(1, None).unwrap()[0]), 0);
}

proptest! {
    #[test]
    fn ids_ascend_whatever_clock_and_floors_do(steps in prop::collection::vec((0u64..5000, 1usize..6, any::<bool>()), 1..60)) {
        let (ids, clock) = ids_at(0);
        let mut greatest: Option<EntryId> = None;
        for (now, count, foreign) in steps {
            clock.set(now);
            if foreign {
                let imported = ids.at(now + 2).unwrap();
                greatest = greatest.max(Some(imported));
            }
            for id in ids.draw(count, greatest).unwrap() {
                prop_assert!(greatest.is_none_or(|greatest| id > greatest));
                greatest = Some(id);
            }
        }
    }
}
