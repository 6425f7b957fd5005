//! Sealing, opening, and the count of seals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use logkeep_crypto::batch::OpenError;
use logkeep_crypto::seals::{SEAL_LIMIT, SEAL_WARNING, SealError};
use logkeep_crypto::{Identity, OsRandom, SealCounter, Sealer};

/// A counter as a database would keep it: it survives its sealer.
struct Stored(Arc<AtomicU64>);

impl SealCounter for Stored {
    fn reserve(&mut self, seals: u64) -> Result<u64, Box<dyn Error + Send + Sync>> {
        Ok(self.0.fetch_add(seals, Ordering::SeqCst))
    }
}

struct Broken;

impl SealCounter for Broken {
    fn reserve(&mut self, _: u64) -> Result<u64, Box<dyn Error + Send + Sync>> {
        Err("disk full".into())
    }
}

fn identity() -> Identity {
    Identity::new("me", &[5; 32])
}

fn sealer(counter: &Arc<AtomicU64>) -> Sealer {
    Sealer::new(identity().batch_key(), Arc::new(OsRandom), Box::new(Stored(counter.clone())))
}

const IDS: [[u8; 16]; 2] = [[1; 16], [2; 16]];

#[test]
fn a_batch_opens_only_where_and_as_it_was_sealed() {
    let sealed = sealer(&Arc::default()).seal("notes", &IDS, b"entries".to_vec()).unwrap();
    let key = identity().batch_key();
    let open =
        |store: &str, ids: &[[u8; 16]], ciphertext: &[u8]| key.open(store, ids, &sealed.iv, ciphertext);
    assert_eq!(open("notes", &IDS, &sealed.ciphertext), Ok(b"entries".to_vec()));
    assert_eq!(sealed.ciphertext.len(), 7 + 16);

    let swapped = [IDS[1], IDS[0]];
    let mut damaged = sealed.ciphertext.clone();
    damaged[0] ^= 1;
    for refused in [
        open("other", &IDS, &sealed.ciphertext),
        open("notes", &swapped, &sealed.ciphertext),
        open("notes", &IDS[..1], &sealed.ciphertext),
        open("notes", &IDS, &damaged),
        open("notes", &IDS, &sealed.ciphertext[..15]),
        open("notes", &IDS, &[]),
        Identity::new("me", &[6; 32]).batch_key().open("notes", &IDS, &sealed.iv, &sealed.ciphertext),
    ] {
        assert_eq!(refused, Err(OpenError::NotAuthentic));
    }
    assert_eq!(
        key.open("notes", &IDS, &sealed.iv[..11], &sealed.ciphertext),
        Err(OpenError::InvalidNonceLength(11))
    );
}

#[test]
fn store_id_and_first_entry_id_cannot_trade_bytes() {
    // Without the length in front, ("a", id "b…") and ("ab", …) could mean the same.
    let sealed =
        sealer(&Arc::default()).seal("a", &[*b"bbbbbbbbbbbbbbbb", *b"cccccccccccccccc"], vec![]).unwrap();
    let moved = identity().batch_key().open(
        "abbbbbbbbbbbbbbbb",
        &[*b"cccccccccccccccc"],
        &sealed.iv,
        &sealed.ciphertext,
    );
    assert_eq!(moved, Err(OpenError::NotAuthentic));
}

#[test]
fn nonces_do_not_repeat() {
    let mut sealer = sealer(&Arc::default());
    let nonces: std::collections::HashSet<[u8; 12]> =
        (0..1000).map(|_| sealer.seal("s", &IDS, vec![]).unwrap().iv).collect();
    assert_eq!(nonces.len(), 1000);
}

#[test]
fn every_seal_is_counted_before_it_is_made() {
    let count = Arc::<AtomicU64>::default();
    let mut first = sealer(&count);
    for made in 1..=600 {
        first.seal("s", &IDS, vec![]).unwrap();
        assert!(count.load(Ordering::SeqCst) >= made);
    }
    drop(first);
    sealer(&count).seal("s", &IDS, vec![]).unwrap();
    assert!(count.load(Ordering::SeqCst) > 600, "a restart goes on where the last run stopped");

    let mut broken = Sealer::new(identity().batch_key(), Arc::new(OsRandom), Box::new(Broken));
    assert!(matches!(broken.seal("s", &IDS, vec![]), Err(SealError::Counter(_))));
}

#[test]
fn a_worn_key_warns_and_then_refuses() {
    let count = Arc::new(AtomicU64::new(SEAL_WARNING - 2));
    let mut sealer1 = sealer(&count);
    sealer1.seal("s", &IDS, vec![]).unwrap();
    assert!(!sealer1.nears_limit());
    sealer1.seal("s", &IDS, vec![]).unwrap();
    assert!(sealer1.nears_limit());

    let count = Arc::new(AtomicU64::new(SEAL_LIMIT - 1));
    let mut sealer2 = sealer(&count);
    sealer2.seal("s", &IDS, vec![]).unwrap();
    for _ in 0..1000 {
        assert!(matches!(sealer2.seal("s", &IDS, vec![]), Err(SealError::LimitReached)));
    }
}

#[test]
fn an_empty_batch_is_refused() {
    assert!(matches!(sealer(&Arc::default()).seal("s", &[], vec![]), Err(SealError::NoEntries)));
}
