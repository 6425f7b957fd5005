//! How often a key may seal.
//!
//! Random 12-byte nonces are safe for 2^32 seals under one key; beyond, a repeated nonce becomes
//! likely enough to matter. So every seal is counted, durably, before it is made. A device counts
//! its own seals only; devices that share an identity share the key, which is why a warning comes
//! at half the limit.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::batch::{BatchKey, SealedBatch};
use crate::random::{Random, RandomError, random_bytes};

/// No key seals more often than this.
pub const SEAL_LIMIT: u64 = 1 << 32;

/// From here on [`Sealer::nears_limit`] asks for a new identity.
pub const SEAL_WARNING: u64 = 1 << 31;

/// Seals are counted in advance in portions of this size, to save writes. A crash loses the
/// rest of a portion, which only counts too many.
const PORTION: u64 = 256;

/// Remembers how often a key has sealed, across restarts.
pub trait SealCounter: Send {
    /// Adds `seals` durably and returns the count before. Must not return before the new count
    /// would survive a crash.
    fn reserve(&mut self, seals: u64) -> Result<u64, Box<dyn Error + Send + Sync>>;
}

/// Why a batch is not sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// A batch holds at least one entry.
    #[error("a batch without entries cannot be sealed")]
    NoEntries,
    /// The key has sealed [`SEAL_LIMIT`] times. Only a new identity helps.
    #[error("this identity's key has sealed {SEAL_LIMIT} batches, the most that is safe; use a new identity")]
    LimitReached,
    /// The plaintext exceeds the cipher's 64 GiB.
    #[error("batch is too large to seal")]
    TooLarge,
    /// No nonce could be drawn.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The count could not be stored.
    #[error("seals of the key could not be counted: {0}")]
    Counter(Box<dyn Error + Send + Sync>),
}

/// Seals batches of one identity and counts them.
pub struct Sealer {
    key: BatchKey,
    random: Arc<dyn Random>,
    counter: Box<dyn SealCounter>,
    /// Seals that are counted but not made yet.
    reserved: Range<u64>,
}

impl Sealer {
    /// A sealer that draws nonces from `random` and counts in `counter`.
    pub fn new(key: BatchKey, random: Arc<dyn Random>, counter: Box<dyn SealCounter>) -> Self {
        Self { key, random, counter, reserved: 0..0 }
    }

    /// Seals the encoded entries of a batch, whose ids are given in the same order, for `store_id`.
    pub fn seal(
        &mut self,
        store_id: &str,
        entry_ids: &[[u8; 16]],
        plaintext: Vec<u8>,
    ) -> Result<SealedBatch, SealError> {
        if entry_ids.is_empty() {
            return Err(SealError::NoEntries);
        }
        self.count()?;
        let iv = random_bytes(&*self.random)?;
        self.key.seal(store_id, entry_ids, iv, plaintext).ok_or(SealError::TooLarge)
    }

    /// Whether the key should be replaced soon: it has sealed [`SEAL_WARNING`] times.
    pub fn nears_limit(&self) -> bool {
        self.reserved.start >= SEAL_WARNING
    }

    /// The key, to open what others sealed.
    pub fn key(&self) -> &BatchKey {
        &self.key
    }

    fn count(&mut self) -> Result<(), SealError> {
        if self.reserved.is_empty() {
            let before = self.counter.reserve(PORTION).map_err(SealError::Counter)?;
            self.reserved = before..before.saturating_add(PORTION);
        }
        match self.reserved.next() {
            Some(seal) if seal < SEAL_LIMIT => Ok(()),
            _ => Err(SealError::LimitReached),
        }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("reserved", &self.reserved).finish_non_exhaustive()
    }
}
