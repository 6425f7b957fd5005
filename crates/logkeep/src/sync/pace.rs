//! How much to upload at once: as much as the link carries in about a second.

use std::time::Duration;

const SMALLEST: usize = 16 * 1024;
const FIRST: usize = 64 * 1024;
const LARGEST: usize = 4 * 1024 * 1024;

/// A size that follows how long the last upload took.
#[derive(Debug)]
pub(super) struct Pace {
    bytes: usize,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { bytes: FIRST }
    }

    /// Payload bytes for the next upload.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Learns from an upload of this size.
    pub(super) fn took(&mut self, elapsed: Duration) {
        if elapsed < Duration::from_secs(1) {
            self.bytes = (self.bytes * 2).min(LARGEST);
        } else if elapsed > Duration::from_millis(2500) {
            self.bytes = (self.bytes / 2).max(SMALLEST);
        }
    }
}
