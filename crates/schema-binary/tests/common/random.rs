//! Numbers from a seed.

/// A small generator (SplitMix64): the same seed gives the same numbers everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    pub(crate) fn bytes(&mut self, max: usize) -> Vec<u8> {
        (0..self.below(max + 1)).map(|_| self.next() as u8).collect()
    }

    /// Bytes that differ from `bytes` a little: flipped, cut, doubled, overwritten, or with lengths made absurd.
    pub(crate) fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        for _ in 0..1 + self.below(3) {
            let at = self.below(damaged.len().max(1)).min(damaged.len().saturating_sub(1));
            match self.below(7) {
                0 if !damaged.is_empty() => damaged[at] ^= 1 << self.below(8),
                1 if !damaged.is_empty() => damaged[at] = self.next() as u8,
                2 => damaged.truncate(at),
                3 => damaged.insert(at, self.next() as u8),
                4 if !damaged.is_empty() => drop(damaged.remove(at)),
                5 => {
                    let end = (at + 1 + self.below(8)).min(damaged.len());
                    let piece = damaged.get(at..end).unwrap_or_default().to_vec();
                    damaged.splice(at..at, piece);
                }
                _ => drop(damaged.splice(at..at, [0xff, 0xff, 0xff, 0x7f])),
            }
        }
        if self.one_in(2) { reframed(&damaged) } else { damaged }
    }
}

/// The bytes with a frame length that fits again, so that damage reaches the inside.
fn reframed(bytes: &[u8]) -> Vec<u8> {
    let header = bytes.iter().take(10).position(|byte| byte & 0x80 == 0).map_or(0, |last| last + 1);
    let body = &bytes[header..];
    let mut frame = Vec::with_capacity(bytes.len() + 2);
    schema_binary::wire::put_sized(&mut frame, body);
    frame
}
