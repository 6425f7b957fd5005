//! Memory that all connections share for what they could read again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many bytes may be kept in all.
const LIMIT: usize = 8 * 1024 * 1024;

/// Counts what is kept.
#[derive(Debug, Default)]
pub struct Memory {
    used: AtomicUsize,
}

/// Bytes that count as kept until this is dropped.
#[derive(Debug)]
pub struct Kept {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Memory {
    /// How many bytes can still be kept.
    pub fn room(&self) -> usize {
        LIMIT.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Counts `bytes` as kept; `None` if there is no room for them.
    pub fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Kept> {
        let add = |used: usize| used.checked_add(bytes).filter(|used| *used <= LIMIT);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(Kept { memory: Arc::clone(self), bytes })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_kept_by_others() {
        let memory = Arc::new(Memory::default());
        let kept = memory.reserve(LIMIT - 10).unwrap();
        assert!(memory.reserve(11).is_none());
        assert_eq!(memory.room(), 10);
        drop(kept);
        assert_eq!(memory.room(), LIMIT);
        assert!(memory.reserve(usize::MAX).is_none());
    }
}
