//! The ids of entries: UUIDs of version 7 that never go backwards on one device.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use logkeep_crypto::{OsRandom, Random, RandomError};
use logkeep_protocol::EntryId;

use crate::clock::{Clock, SystemClock};

/// The last millisecond an id can hold.
pub const MAX_MILLIS: u64 = (1 << 48) - 1;

/// The highest value of the counter within one millisecond.
const MAX_COUNTER: u16 = 0xfff;

/// Why no id could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The sequence is past the last millisecond and stays there (EL-009).
    #[error("entry ids have passed the last millisecond they can hold")]
    Exhausted,
    /// The random source failed.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// Makes ids in ascending order, whatever the clock does (EL-005…EL-007).
pub struct IdSource {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    last: Mutex<Position>,
}

/// The millisecond and counter of the last id made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    millis: u64,
    counter: u16,
}

impl IdSource {
    /// A source with a sequence of its own.
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { clock, random, last: Mutex::default() }
    }

    /// The source all journals of this process share, on system clock and system randomness.
    pub fn process() -> Arc<Self> {
        static SOURCE: LazyLock<Arc<IdSource>> =
            LazyLock::new(|| Arc::new(IdSource::new(Arc::new(SystemClock), Arc::new(OsRandom))));
        SOURCE.clone()
    }

    /// The clock that ids are taken from.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// `count` ids in ascending order, all after `floor` (EL-011).
    ///
    /// A floor ahead of the sequence is counted on from, but not kept: the sequence itself stays
    /// where it is (EL-012).
    pub fn draw(&self, count: usize, floor: Option<EntryId>) -> Result<Vec<EntryId>, IdError> {
        let mut random = vec![0; count * 8];
        self.random.fill(&mut random)?;
        let mut shared = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut private = floor.map(position_of).filter(|floor| *floor > *shared);
        let sequence = private.as_mut().unwrap_or(&mut shared);
        random.chunks_exact(8).map(|tail| Ok(id(sequence.next(self.clock.now_millis())?, tail))).collect()
    }

    /// An id in a given millisecond, random in all other bits. Reads no clock and moves no
    /// sequence (EL-010).
    pub fn at(&self, millis: u64) -> Result<EntryId, RandomError> {
        let mut random = [0; 10];
        self.random.fill(&mut random)?;
        let [high, low, tail @ ..] = random;
        let counter = u16::from_be_bytes([high, low]) & MAX_COUNTER;
        Ok(id(Position { millis: millis.min(MAX_MILLIS), counter }, &tail))
    }
}

impl fmt::Debug for IdSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdSource").field("last", &self.last).finish_non_exhaustive()
    }
}

impl Position {
    fn next(&mut self, now: u64) -> Result<Self, IdError> {
        if now > self.millis {
            *self = Self { millis: now, counter: 0 };
        } else if self.counter < MAX_COUNTER {
            self.counter += 1;
        } else {
            *self = Self { millis: self.millis + 1, counter: 0 };
        }
        if self.millis > MAX_MILLIS { Err(IdError::Exhausted) } else { Ok(*self) }
    }
}

fn position_of(id: EntryId) -> Position {
    let [_, _, _, _, _, _, high, low, ..] = id.0;
    Position { millis: id.millis(), counter: u16::from_be_bytes([high & 0x0f, low]) }
}

/// Lays out millisecond, version, counter, variant and random bits (EL-001, EL-006).
fn id(position: Position, tail: &[u8]) -> EntryId {
    let [_, _, millis @ ..] = position.millis.to_be_bytes();
    let [high, low] = position.counter.to_be_bytes();
    let version_and_counter = [0x70 | high, low];
    let fields = millis.iter().chain(&version_and_counter).chain(tail);
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(fields).for_each(|(byte, field)| *byte = *field);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    EntryId(bytes)
}
