//! The bytes of one chunk of the id index: ids in ascending order, each with its first sequence.
//!
//! An entry is the difference of its id from the id before (big endian, without leading zeros) and the
//! difference of the sequences. Where all ids of a chunk are UUIDs of version 7, the six bits they have in
//! common are left out. Ids made one after another and stored in that order cost about 11 bytes each.

use schema_binary::wire::{Reader, put_uvarint};

/// An entry id, as a number that sorts like its bytes.
pub(in super::super) type Id = u128;

/// An id and the sequence where it was first stored.
pub(super) type Entry = (Id, u64);

/// The greatest length of an encoded chunk. With its key it stays within a leaf of an 8 KiB page, four to a
/// page.
pub(super) const MAX_BYTES: usize = 1_980;

const WHOLE: u8 = 1;
const VERSION_7: u8 = 2;

/// Codes 0 to 13 of a control byte are sequence differences from -7 to 6; with the other two the difference
/// follows the id.
const NEAR: i64 = 7;
const BACK: u8 = 14;
const ON: u8 = 15;

/// An entry takes a control byte, 1 to 16 bytes of id, up to 8 of sequence.
const MIN_ENTRY: usize = 2;
const MAX_ENTRY: usize = 25;

/// Encodes as many of `entries` as fit `limit` bytes, but at least one; answers the bytes and how many.
pub(super) fn encode(entries: &[Entry], limit: usize) -> (Vec<u8>, usize) {
    let window = || entries.iter().take(limit / MIN_ENTRY);
    let form = if window().all(|(id, _)| is_version_7(*id)) { VERSION_7 } else { WHOLE };
    let mut bytes = vec![form];
    let (mut previous, mut count) = ((0, 0), 0);
    for &(id, sequence) in window() {
        if count > 0 && bytes.len() + MAX_ENTRY > limit {
            break;
        }
        let id = if form == VERSION_7 { squeeze(id) } else { id };
        put_entry(&mut bytes, previous, (id, sequence));
        previous = (id, sequence);
        count += 1;
    }
    (bytes, count)
}

/// Decodes a chunk; `None` if the bytes are damaged.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::with_capacity(bytes.len() / 10);
    each(bytes, |entry| {
        entries.push(entry);
        true
    })?;
    Some(entries)
}

/// The sequence of `wanted` in a chunk; the outer `None` if the bytes are damaged.
pub(super) fn find(bytes: &[u8], wanted: Id) -> Option<Option<u64>> {
    let mut found = None;
    each(bytes, |(id, sequence)| {
        if id == wanted {
            found = Some(sequence);
        }
        id < wanted
    })?;
    Some(found)
}

/// Calls `visit` with one entry after another until it answers `false`; `None` if the bytes are damaged.
fn each(bytes: &[u8], mut visit: impl FnMut(Entry) -> bool) -> Option<()> {
    let (&form, rest) = bytes.split_first()?;
    let mut reader = Reader::new(rest);
    let (mut id, mut sequence) = (0, 0);
    while !reader.is_empty() {
        (id, sequence) = take_entry(&mut reader, (id, sequence))?;
        let whole = match form {
            WHOLE => id,
            VERSION_7 => unsqueeze(id),
            _ => return None,
        };
        if !visit((whole, sequence)) {
            break;
        }
    }
    Some(())
}

fn put_entry(bytes: &mut Vec<u8>, previous: Entry, (id, sequence): Entry) {
    let difference = (id - previous.0).to_be_bytes();
    let zeros = difference.iter().take(15).take_while(|byte| **byte == 0).count();
    let code = match sequence.wrapping_sub(previous.1) as i64 {
        step if (-NEAR..NEAR).contains(&step) => (step + NEAR) as u8,
        ..0 => BACK,
        _ => ON,
    };
    bytes.push(code << 4 | zeros as u8);
    bytes.extend(difference.iter().skip(zeros));
    if code >= BACK {
        put_uvarint(bytes, sequence.abs_diff(previous.1));
    }
}

fn take_entry(reader: &mut Reader<'_>, (id, sequence): Entry) -> Option<Entry> {
    let control = reader.byte().ok()?;
    let length = 16 - u64::from(control & 15);
    let difference = reader.take(length).ok()?.iter().fold(0, |n: Id, byte| n << 8 | Id::from(*byte));
    let sequence = match control >> 4 {
        BACK => sequence.checked_sub(reader.uvarint().ok()?)?,
        ON => sequence.checked_add(reader.uvarint().ok()?)?,
        code => sequence.checked_add_signed(i64::from(code) - NEAR)?,
    };
    Some((id.checked_add(difference)?, sequence))
}

const RANDOM_B: Id = (1 << 62) - 1;

const fn is_version_7(id: Id) -> bool {
    (id >> 76) & 0xf == 7 && (id >> 62) & 3 == 2
}

/// Leaves out version and variant of a UUID; keeps the order.
const fn squeeze(id: Id) -> Id {
    (id >> 80) << 74 | ((id >> 64) & 0xfff) << 62 | id & RANDOM_B
}

const fn unsqueeze(id: Id) -> Id {
    (id >> 74) << 80 | 7 << 76 | ((id >> 62) & 0xfff) << 64 | 2 << 62 | id & RANDOM_B
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version_7(ms: u64, random: u128) -> Id {
        unsqueeze(Id::from(ms) << 74 | random & ((1 << 74) - 1))
    }

    fn ids() -> impl Strategy<Value = Id> {
        prop_oneof![
            any::<u128>(),
            (0..1u64 << 48, any::<u128>()).prop_map(|(ms, r)| version_7(ms, r)),
            Just(0),
            Just(u128::MAX)
        ]
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded_and_found(
            known in prop::collection::btree_map(ids(), 0..1u64 << 53, 1..300),
            other in ids(),
        ) {
            let missing = (!known.contains_key(&other)).then_some(other);
            let entries: Vec<Entry> = known.into_iter().collect();
            let (bytes, count) = encode(&entries, MAX_BYTES);
            prop_assert!(bytes.len() <= MAX_BYTES && count >= 1);
            prop_assert_eq!(decode(&bytes).unwrap(), &entries[..count]);
            for (id, sequence) in &entries[..count] {
                prop_assert_eq!(find(&bytes, *id), Some(Some(*sequence)));
            }
            if let Some(missing) = missing {
                prop_assert_eq!(find(&bytes, missing), Some(None));
            }
        }

        #[test]
        fn damaged_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(&bytes);
            let _ = find(&bytes, 1);
        }
    }

    #[test]
    fn an_id_in_time_order_costs_at_most_eleven_and_a_half_bytes() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u128;
        let entries: Vec<Entry> = (0..1000)
            .map(|n| {
                random = random.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
                (version_7(1_700_000_000_000 + n * 20, random >> 50), n)
            })
            .collect();
        let (bytes, count) = encode(&entries, MAX_BYTES);
        assert!(bytes.len() as f64 / count as f64 <= 11.5, "{} bytes for {count} ids", bytes.len());
    }
}
