//! How long to wait before the next try.

use std::time::Duration;

use logkeep_crypto::Random;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(10);

/// Delays that grow by half each time, from 200 ms to 10 s (EL-162), until something works again.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next: FIRST }
    }

    /// The delay before the next try: up to a fifth shorter than planned, so that many devices do
    /// not come back at the same moment.
    pub(super) fn next(&mut self, random: &dyn Random) -> Duration {
        let planned = self.next;
        self.next = (planned * 3 / 2).min(LONGEST);
        let mut byte = [0];
        let spread = if random.fill(&mut byte).is_ok() { u32::from(byte[0]) } else { 0 };
        planned - planned / 5 * spread / 256
    }

    pub(super) fn reset(&mut self) {
        self.next = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use logkeep_crypto::RandomError;

    struct Zero;
    impl Random for Zero {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
            bytes.fill(0);
            Ok(())
        }
    }

    #[test]
    fn delays_grow_to_ten_seconds_and_start_again() {
        let mut backoff = Backoff::new();
        let delays: Vec<u128> = (0..12).map(|_| backoff.next(&Zero).as_millis()).collect();
        assert_eq!(delays, [200, 300, 450, 675, 1012, 1518, 2278, 3417, 5125, 7688, 10_000, 10_000]);
        backoff.reset();
        assert_eq!(backoff.next(&Zero).as_millis(), 200);
        for _ in 0..50 {
            assert!(backoff.next(&logkeep_crypto::OsRandom).as_millis() >= 160);
        }
    }
}
