//! How a run of entries is cut into batches (WIRE-135).

/// Most entries in a batch.
pub const MAX_BATCH_ENTRIES: usize = 100;

/// Most payload bytes in a batch of more than one entry. Tags, keys and ids do not count.
pub const MAX_BATCH_PAYLOAD_BYTES: usize = 256 * 1024;

/// Decides entry by entry where a batch ends, so that a run of any length can be cut while it
/// is read.
#[derive(Debug, Default)]
pub struct BatchCutter {
    entries: usize,
    payload_bytes: usize,
}

impl BatchCutter {
    /// Whether no entry was taken yet.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Takes the next entry, of which only the payload's length matters. True if the batch so far
    /// is complete and this entry opens a new one.
    pub fn starts_batch(&mut self, payload_bytes: usize) -> bool {
        let sum = self.payload_bytes.saturating_add(payload_bytes);
        let full = self.entries == MAX_BATCH_ENTRIES || sum > MAX_BATCH_PAYLOAD_BYTES;
        let starts = full && self.entries > 0;
        if starts {
            (self.entries, self.payload_bytes) = (1, payload_bytes);
        } else {
            (self.entries, self.payload_bytes) = (self.entries + 1, sum);
        }
        starts
    }
}

/// The number of entries in each batch of a run, given the lengths of its payloads.
pub fn batch_lengths(payload_lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut cutter = BatchCutter::default();
    let mut lengths = Vec::new();
    let mut current = 0;
    for payload in payload_lengths {
        if cutter.starts_batch(payload) {
            lengths.push(std::mem::take(&mut current));
        }
        current += 1;
    }
    if current > 0 {
        lengths.push(current);
    }
    lengths
}
