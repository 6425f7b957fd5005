//! Where the time comes from.

use std::time::{SystemTime, UNIX_EPOCH};

/// A wall clock. Tests pass one that stands still, jumps or runs backwards.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_millis(&self) -> u64;
}

/// The operating system's clock. A time before 1970 counts as 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_millis(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
