//! Writing, reading and binding.

use logkeep_server::storage::{Batch, Storage, StorageError, Write};

use crate::Place;
use crate::material::*;

pub(crate) fn an_unknown_store_is_empty(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    assert_eq!(open.reader.head(&scope).unwrap(), 0);
    for from in [0, 1, 1_000] {
        let page = open.reader.page(&scope, from, 1_000).unwrap();
        assert_eq!((page.rows.len(), page.bytes.len(), page.head, page.next, page.end), (0, 0, 0, 1, true));
    }
    assert_eq!(open.reader.binding("P").unwrap(), None);
}

pub(crate) fn sequences_are_dense_and_stores_are_apart(place: &impl Place) {
    let mut open = open(place);
    let (a, b) = (scope("P", "a"), scope("P", "b"));
    let group = [(&a, 1..=3), (&b, 1..=3), (&a, 4..=4), (&b, 9..=9)];
    let group = group.map(|(scope, ids)| Write {
        scope: scope.clone(),
        batches: vec![batch(&ids.collect::<Vec<_>>(), b"x")],
    });
    let answers = open.writer.write(group.into(), 5);
    let answers: Vec<_> = answers.into_iter().map(|answer| answer.unwrap()).collect();
    let placed: Vec<_> = answers.iter().map(|written| written.placed[0].clone()).collect();
    assert_eq!(placed, [stored(1), stored(1), stored(4), stored(4)]);
    assert_eq!(answers.iter().map(|written| written.head).collect::<Vec<_>>(), [3, 3, 4, 4]);
    assert_eq!(answers[2].batches, [batch(&[4], b"x")]);
    assert_eq!(open.reader.head(&a).unwrap(), 4);
    assert_eq!(read_all(&mut *open.reader, &b, 1, 1).iter().map(|row| row.0).collect::<Vec<_>>(), [1, 4]);
}

pub(crate) fn a_batch_of_known_ids_is_not_stored_again(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let (a, b, c) = (0xa, 0xb, 0xc);
    let batches = [batch(&[a, b], b"1"), batch(&[b, c], b"2"), batch(&[a, b], b"3")];
    let written = write(&mut *open.writer, &scope, &batches);
    assert_eq!(written.placed, [stored(1), stored(3), known(&[1, 2])]);
    assert_eq!(written.head, 4);
    let written = write(&mut *open.writer, &scope, &[batch(&[c, a], b"4"), batch(&[c, 0xd], b"5")]);
    assert_eq!(written.placed, [known(&[4, 1]), stored(5)]);
    let written = write(&mut *open.writer, &scope, &[batch(&[c], b"6")]);
    assert_eq!((written.placed, written.head), (vec![known(&[4])], 6));
}

pub(crate) fn a_repeated_id_takes_a_position(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let written =
        write(&mut *open.writer, &scope, &[batch(&[5, 5], b"1"), batch(&[5], b"2"), batch(&[6], b"3")]);
    assert_eq!(written.placed, [stored(1), known(&[1]), stored(3)]);
}

pub(crate) fn scopes_are_not_confused(place: &impl Place) {
    let mut open = open(place);
    let scopes =
        [("P/x", "y"), ("P", "x/y"), ("", "P/x/y"), ("P\0", "x"), ("P", "\0x"), ("p", "X/Y"), ("P", "")];
    for (n, (public_key, store)) in scopes.into_iter().enumerate() {
        let sealed = [n as u8];
        let written = write(&mut *open.writer, &scope(public_key, store), &[batch(&[1], &sealed)]);
        assert_eq!(written.placed, [stored(1)], "{public_key:?} {store:?}");
    }
    for (n, (public_key, store)) in scopes.into_iter().enumerate() {
        let all = read_all(&mut *open.reader, &scope(public_key, store), 1, 1);
        assert_eq!(all, [(1, 1, wire_row(1, &batch(&[1], &[n as u8])))]);
    }
}

pub(crate) fn a_bad_batch_hurts_no_other_write(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let good = |id| Write { scope: scope.clone(), batches: vec![batch(&[id], b"x")] };
    let bad =
        |entry_ids: &[u8], count| Batch { count, entry_ids: entry_ids.to_vec().into(), ..batch(&[1], b"x") };
    let bad = [bad(&[], 1), bad(&[0], 0), bad(&[1, 16], 1), bad(&[2, 16], u32::MAX), bad(&[1, 2, 3, 4], 1)];
    for bad in bad {
        let head = open.reader.head(&scope).unwrap();
        let half_bad = Write { scope: scope.clone(), batches: vec![batch(&[0xbad], b"x"), bad.clone()] };
        let ids = [100 + u128::from(head), 200 + u128::from(head)];
        let answers = open.writer.write(vec![good(ids[0]), half_bad, good(ids[1])], 1);
        assert!(matches!(answers[1], Err(StorageError::Refused(_))), "{bad:?}");
        assert_eq!(answers[0].as_ref().unwrap().placed, [stored(head + 1)]);
        assert_eq!(answers[2].as_ref().unwrap().placed, [stored(head + 2)]);
        assert_eq!(open.reader.head(&scope).unwrap(), head + 2);
    }
    assert_eq!(write(&mut *open.writer, &scope, &[batch(&[0xbad], b"x")]).placed, [stored(11)]);
}

pub(crate) fn rows_have_their_wire_form(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let ids = |range: std::ops::Range<u64>| range.map(scrambled).collect::<Vec<_>>();
    let batches = [
        batch(&ids(0..1), b""),
        batch(&ids(1..100), &[1; 300]),
        batch(&ids(100..101), &[2; 1_000]),
        batch(&ids(101..102), &[3; 3_000]),
        batch(&ids(102..20_000), &[4; 70_000]),
    ];
    let firsts = [1, 2, 101, 102, 103];
    let written = write(&mut *open.writer, &scope, &batches);
    assert_eq!(written.placed, firsts.map(stored));
    let expected: Vec<_> =
        firsts.iter().zip(&batches).map(|(first, batch)| wire_row(*first, batch)).collect();
    let all = read_all(&mut *open.reader, &scope, 1, usize::MAX);
    assert_eq!(all.iter().map(|row| &row.2).collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    assert_eq!(all.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>()[..2], [(1, 1), (2, 100)]);
    assert_eq!(wire_row(1, &batches[0])[..5], [36, 1, 2, 2, 24]);
}

pub(crate) fn pages_keep_to_their_budget(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let sizes = [10, 2_000, 10, 50_000, 10, 10, 900];
    for (n, size) in sizes.into_iter().enumerate() {
        let ids = [scrambled(2 * n as u64), scrambled(2 * n as u64 + 1)];
        write(&mut *open.writer, &scope, &[batch(&ids, &vec![n as u8; size])]);
    }
    let whole = read_all(&mut *open.reader, &scope, 1, usize::MAX);
    assert_eq!(whole.len(), sizes.len());
    for budget in [0, 1, 100, 2_100, 3_000, 60_000] {
        assert_eq!(read_all(&mut *open.reader, &scope, 0, budget), whole);
        let mut from = 1;
        while from <= 14 {
            let page = open.reader.page(&scope, from, budget).unwrap();
            assert!(page.rows.len() == 1 || page.bytes.len() <= budget);
            assert_eq!(page.head, 14);
            from = page.next;
        }
    }
    for from in 1..=14 {
        let page = open.reader.page(&scope, from, usize::MAX).unwrap();
        assert_eq!(page.rows[0].last, from.next_multiple_of(2), "from {from}");
    }
    let beyond = open.reader.page(&scope, 1_000, 1).unwrap();
    assert_eq!((beyond.rows.len(), beyond.next, beyond.end), (0, 15, true));
}

pub(crate) fn large_batches_come_back_whole(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let ciphertext = |size: u32| (0..size).map(|n| (n / 1_000) as u8).collect::<Vec<_>>();
    let batches = [4 << 20, (4 << 20) - 21, 9_000_000].map(|size| batch(&[size.into()], &ciphertext(size)));
    write(&mut *open.writer, &scope, &batches);
    let all = read_all(&mut *open.reader, &scope, 1, 1 << 20);
    assert_eq!(all.len(), 3);
    for ((first, _, row), batch) in all.into_iter().zip(&batches) {
        assert!(row == wire_row(first, batch), "row {first}");
    }
    assert!(read_all(&mut *open.reader, &scope, 1, usize::MAX).len() == 3, "or as rows, where they fit");
}

pub(crate) fn slices_are_exact(place: &impl Place) {
    let mut open = open(place);
    let scope = scope("P", "s");
    let batch = batch(&[1, 2], &(0..5_000_000_u32).map(|n| (n / 999) as u8).collect::<Vec<_>>());
    write(&mut *open.writer, &scope, std::slice::from_ref(&batch));
    let size = batch.sealed.len();
    let page = open.reader.page(&scope, 1, 1_000).unwrap();
    let large = page.large.unwrap();
    assert_eq!((large.first, large.last, large.sealed), (1, 2, size as u64));
    for (offset, length) in
        [(0, 1), (0, size), (size - 1, 1), (size, 0), ((4 << 20) - 3, 10), (100, 4_500_000)]
    {
        let slice = open.reader.slice(&scope, 2, offset as u64, length).unwrap();
        assert!(slice == batch.sealed[offset..offset + length], "{length} from {offset}");
    }
    for (last, offset, length) in [(2, size as u64, 1), (2, 1, size), (2, u64::MAX, 1), (1, 0, 1), (3, 0, 1)]
    {
        assert!(open.reader.slice(&scope, last, offset, length).is_err());
    }
}

pub(crate) fn the_first_signing_key_stays_bound(place: &impl Place) {
    let mut open = open(place);
    assert_eq!(open.writer.bind("P", [1; 32]).unwrap(), [1; 32]);
    assert_eq!(open.writer.bind("P", [2; 32]).unwrap(), [1; 32]);
    assert_eq!(open.writer.bind("Q", [2; 32]).unwrap(), [2; 32]);
    assert_eq!(open.reader.binding("P").unwrap(), Some([1; 32]));
}

pub(crate) fn there_is_one_writing_half(place: &impl Place) {
    let storage: Box<dyn Storage> = place.open();
    let _writer = storage.writer().unwrap();
    assert!(storage.writer().is_err());
    assert_eq!(storage.remote_id().0, [7; 16]);
}

/// More ids than are kept in memory, in time order, in random order and mixed; some repeated.
pub(crate) fn many_ids_stay_known<P: Place>(place: &P) {
    let mut open = open(place);
    type Order = fn(u64) -> u128;
    let orders: [(&str, Order); 3] = [
        ("time", |n| version_7(1_700_000_000_000 + n / 3, n)),
        ("random", scrambled),
        ("mixed", |n| if n % 2 == 0 { scrambled(n) } else { version_7(n, n) }),
    ];
    for (name, id) in orders {
        let scope = scope("P", name);
        let count = 15_000;
        for chunk in (0..count).collect::<Vec<_>>().chunks(100) {
            let ids: Vec<_> = chunk.iter().map(|n| id(*n)).collect();
            let written = write(&mut *open.writer, &scope, &[batch(&ids, b"x")]);
            assert_eq!(written.placed, [stored(chunk[0] + 1)], "{name}");
        }
        // A batch with one new id is stored again; its known ids keep their first sequence.
        let ids = [id(3), id(count), id(9_000), id(14_999)];
        assert_eq!(write(&mut *open.writer, &scope, &[batch(&ids, b"x")]).placed, [stored(count + 1)]);
        // So many more that those, too, leave memory.
        for part in 0..50 {
            let ids: Vec<_> = (0..100).map(|n| id(20_000 + 100 * part + n)).collect();
            write(&mut *open.writer, &scope, &[batch(&ids, b"x")]);
        }
    }
    if P::DURABLE {
        drop(open);
        open = crate::material::open(place);
    }
    for (name, id) in orders {
        let ids: Vec<_> = (0..15_000).map(id).collect();
        let sequences: Vec<_> = (1..=15_000).collect();
        let written =
            write(&mut *open.writer, &scope("P", name), &[batch(&ids, b"x"), batch(&[id(15_000)], b"x")]);
        assert_eq!(written.placed, [known(&sequences), known(&[15_002])], "{name}");
    }
}

pub(crate) fn what_was_stored_is_there_after_a_restart<P: Place>(place: &P) {
    if !P::DURABLE {
        return;
    }
    let scope = scope("P", "s");
    let batches = [batch(&[1, 2], b"one"), batch(&[3], &[7; 5_000])];
    let before = {
        let mut open = open(place);
        write(&mut *open.writer, &scope, &batches);
        open.writer.bind("P", [3; 32]).unwrap();
        read_all(&mut *open.reader, &scope, 1, 1)
    };
    let mut open = open(place);
    assert_eq!(open.storage.remote_id().0, [7; 16]);
    assert_eq!(open.reader.binding("P").unwrap(), Some([3; 32]));
    assert_eq!(read_all(&mut *open.reader, &scope, 1, 1), before);
    assert_eq!(before.len(), 2);
    let again = write(&mut *open.writer, &scope, &batches);
    assert_eq!(again.placed, [known(&[1, 2]), known(&[3])]);
    assert_eq!(write(&mut *open.writer, &scope, &[batch(&[4], b"two")]).placed, [stored(4)]);
}
