//! How much a stream sends at once.
//!
//! A client drops a server from which nothing decodes for about 10 seconds (WIRE-092), and a message decodes
//! only when all of it has arrived. So a Chunk has to be small enough for the link, and large enough that
//! waiting for its Ack does not matter. The time from Chunk to Ack tells.

use crate::storage::Millis;

const FLOOR: usize = 16 * 1024;
const FIRST: usize = 32 * 1024;

/// The largest Chunk of any stream, in bytes.
pub(super) const CEILING: usize = 4 * 1024 * 1024;

/// How long a Chunk and its Ack should take on a slow link: much longer than a round trip, which is lost
/// time, and safely below the 5 seconds after which a client may give up.
const TARGET: Millis = 3_000;

/// After so long without a Chunk the link may be another one.
const FORGET: Millis = 60_000;

/// The size of a stream's Chunks, adapted to the link.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    budget: usize,
    sent: Option<(Millis, usize)>,
    last: Millis,
}

impl Pace {
    /// Starts small: nothing is known of the link.
    pub(super) const fn new(now: Millis) -> Self {
        Self { budget: FIRST, sent: None, last: now }
    }

    /// How many bytes the next Chunk should have, if at most `ceiling` are to be spent.
    pub(super) fn budget(&self, ceiling: usize) -> usize {
        self.budget.min(ceiling.max(FLOOR))
    }

    /// Whether a Chunk waits for its Ack.
    pub(super) const fn is_waiting(&self) -> bool {
        self.sent.is_some()
    }

    /// Notes that a Chunk of `bytes` was sent.
    pub(super) fn sent(&mut self, bytes: usize, now: Millis) {
        self.sent = Some((now, bytes));
        self.last = now;
    }

    /// Notes an Ack; `false` if none was due (it came early and means nothing, WIRE-081).
    pub(super) fn acked(&mut self, now: Millis) -> bool {
        let Some((since, bytes)) = self.sent.take() else { return false };
        let elapsed = now.saturating_sub(since).max(1);
        // A small Chunk that arrives in time says nothing about what a large one would take.
        if bytes >= self.budget / 2 || elapsed > TARGET {
            let fitting = usize::try_from(bytes as Millis * TARGET / elapsed).unwrap_or(CEILING);
            self.budget = fitting.clamp(self.budget / 2, self.budget * 2).clamp(FLOOR, CEILING);
        }
        self.last = now;
        true
    }

    /// Forgets what is known of the link if that was long ago.
    pub(super) fn refresh(&mut self, now: Millis) {
        if self.sent.is_none() && now.saturating_sub(self.last) > FORGET {
            self.budget = self.budget.min(FIRST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_chunks_that_are_acknowledged_quickly_grow_to_the_ceiling() {
        let mut pace = Pace::new(0);
        for round in 0..20 {
            pace.sent(pace.budget(CEILING), round * 10);
            assert!(pace.acked(round * 10 + 5));
        }
        assert_eq!(pace.budget(CEILING), CEILING);
        assert_eq!(pace.budget(100_000), 100_000, "others need memory, too");
    }

    #[test]
    fn a_link_of_32_kilobytes_a_second_and_200_ms_is_used_to_85_percent() {
        let mut pace = Pace::new(0);
        let mut now = 0;
        for _ in 0..20 {
            let bytes = pace.budget(CEILING);
            pace.sent(bytes, now);
            now += bytes as Millis * 1000 / 32_000 + 400;
            pace.acked(now);
        }
        let sending = pace.budget(CEILING) * 1000 / 32_000;
        assert!(sending * 100 / (sending + 400) >= 85, "{sending} ms of sending, 400 ms of waiting");
        assert!(sending < 3_000);
    }

    #[test]
    fn small_chunks_teach_nothing_and_early_acks_are_ignored() {
        let mut pace = Pace::new(0);
        assert!(!pace.acked(1));
        pace.sent(100, 10);
        assert!(pace.acked(11));
        assert_eq!(pace.budget(CEILING), FIRST);
    }

    #[test]
    fn a_slow_ack_halves_and_a_long_pause_forgets() {
        let mut pace = Pace::new(0);
        pace.sent(FIRST, 0);
        pace.acked(6_000);
        assert_eq!(pace.budget(CEILING), FLOOR);
        for round in 0..9 {
            pace.sent(pace.budget(CEILING), 10_000 + round);
            pace.acked(10_000 + round);
        }
        pace.refresh(200_000);
        assert_eq!(pace.budget(CEILING), FIRST);
    }
}
