//! What a server takes from outside: time and randomness.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::storage::Millis;

/// A clock. Tests pass one they can turn.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
}

/// A source of unpredictable bytes.
pub trait Random: Send + Sync {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// If the source fails; nothing secret may be made then.
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()>;
}

/// The clock and the random source of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Clock for System {
    fn now(&self) -> Millis {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as Millis)
    }
}

impl Random for System {
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        getrandom::fill(bytes).map_err(std::io::Error::from)
    }
}
