//! Putting messages together again that were cut into parts (WIRE-110…113).

use std::collections::{BTreeMap, HashMap};

/// What one connection may leave unfinished.
#[derive(Debug, Clone, Copy)]
pub struct JoinLimits {
    /// Messages that have begun and not ended.
    pub open_messages: usize,
    /// Parts of one message.
    pub parts: u64,
    /// Bytes of one message.
    pub message_bytes: u64,
}

/// Why a part was refused. Its message is dropped, so its id is free again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// Too many messages have begun.
    #[error("{0} chunked messages are open, which is the limit")]
    OpenMessages(usize),
    /// The message would have too many parts.
    #[error("a message of {total} parts exceeds the limit of {limit} parts")]
    Parts {
        /// What the part announced.
        total: u64,
        /// The limit that was set.
        limit: u64,
    },
    /// The message would be too long.
    #[error("a message of {length} bytes exceeds the limit of {limit} bytes")]
    Length {
        /// The bytes so far, this part included.
        length: u64,
        /// The limit that was set.
        limit: u64,
    },
    /// Parts of one message announce different totals (SV-X04).
    #[error("a part announces {found} parts where the first announced {expected}")]
    Total {
        /// What the first part announced.
        expected: u64,
        /// What this part announced.
        found: u64,
    },
}

/// What became of a part.
#[derive(Debug, PartialEq, Eq)]
pub enum Joined<P> {
    /// It was kept; more are to come.
    Kept,
    /// Its index was filled already, so it was ignored (SV-031).
    Repeated,
    /// It was the last: all parts in order.
    Complete(Vec<P>),
}

/// The unfinished messages of a connection. `P` is wherever the owner keeps a part's bytes.
#[derive(Debug)]
pub struct Joining<P> {
    limits: JoinLimits,
    open: HashMap<i64, Message<P>>,
}

#[derive(Debug)]
struct Message<P> {
    total: u64,
    bytes: u64,
    parts: BTreeMap<u64, P>,
}

impl<P> Joining<P> {
    /// Starts with nothing unfinished.
    pub fn new(limits: JoinLimits) -> Self {
        Self { limits, open: HashMap::new() }
    }

    /// Whether the part `index` of message `id` is still wanted.
    pub fn wants(&self, id: i64, index: u64) -> bool {
        self.open.get(&id).is_none_or(|message| !message.parts.contains_key(&index))
    }

    /// Whether no message is unfinished.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The parts of all unfinished messages.
    pub fn kept(&self) -> impl Iterator<Item = &P> {
        self.open.values().flat_map(|message| message.parts.values())
    }

    /// Drops everything unfinished (SV-013).
    pub fn clear(&mut self) {
        self.open.clear();
    }

    /// Checks a part of `length` bytes before its bytes are kept. A refused part ends its message.
    ///
    /// # Errors
    /// If a limit is exceeded or the totals disagree.
    pub fn admit(&mut self, id: i64, total: u64, length: usize) -> Result<(), JoinError> {
        self.check(id, total, length as u64).inspect_err(|_| {
            self.open.remove(&id);
        })
    }

    fn check(&self, id: i64, total: u64, length: u64) -> Result<(), JoinError> {
        let limits = self.limits;
        let message = self.open.get(&id);
        if message.is_none() && self.open.len() >= limits.open_messages {
            return Err(JoinError::OpenMessages(limits.open_messages));
        }
        if total > limits.parts {
            return Err(JoinError::Parts { total, limit: limits.parts });
        }
        let expected = message.map_or(total, |message| message.total);
        if expected != total {
            return Err(JoinError::Total { expected, found: total });
        }
        let length = message.map_or(0, |message| message.bytes).saturating_add(length);
        if length > limits.message_bytes {
            return Err(JoinError::Length { length, limit: limits.message_bytes });
        }
        Ok(())
    }

    /// Takes an admitted part.
    pub fn add(&mut self, id: i64, index: u64, total: u64, length: usize, part: P) -> Joined<P> {
        let message =
            self.open.entry(id).or_insert_with(|| Message { total, bytes: 0, parts: BTreeMap::new() });
        if message.parts.contains_key(&index) {
            return Joined::Repeated;
        }
        message.parts.insert(index, part);
        message.bytes += length as u64;
        if (message.parts.len() as u64) < message.total {
            return Joined::Kept;
        }
        let parts = self.open.remove(&id).map(|message| message.parts).unwrap_or_default();
        Joined::Complete(parts.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: JoinLimits = JoinLimits { open_messages: 2, parts: 4, message_bytes: 10 };

    fn offer(joining: &mut Joining<u8>, id: i64, index: u64, total: u64, part: u8) -> Joined<u8> {
        joining.admit(id, total, 1).unwrap();
        joining.add(id, index, total, 1, part)
    }

    #[test]
    fn parts_join_in_index_order_whatever_order_they_come_in() {
        let mut joining = Joining::new(LIMITS);
        assert_eq!(offer(&mut joining, 1, 2, 3, b'c'), Joined::Kept);
        assert_eq!(offer(&mut joining, 7, 0, 1, b'z'), Joined::Complete(vec![b'z']));
        assert_eq!(offer(&mut joining, 1, 0, 3, b'a'), Joined::Kept);
        assert_eq!(offer(&mut joining, 1, 0, 3, b'x'), Joined::Repeated);
        assert_eq!(offer(&mut joining, 1, 1, 3, b'b'), Joined::Complete(vec![b'a', b'b', b'c']));
        assert_eq!(offer(&mut joining, 1, 0, 1, b'n'), Joined::Complete(vec![b'n']), "the id is free again");
    }

    #[test]
    fn limits_name_what_was_exceeded_and_drop_the_message() {
        let mut joining = Joining::new(LIMITS);
        assert_eq!(joining.admit(1, 5, 1), Err(JoinError::Parts { total: 5, limit: 4 }));
        offer(&mut joining, 1, 0, 2, 0);
        offer(&mut joining, 2, 0, 2, 0);
        assert_eq!(joining.admit(3, 2, 1), Err(JoinError::OpenMessages(2)));
        assert_eq!(joining.admit(1, 3, 1), Err(JoinError::Total { expected: 2, found: 3 }));
        assert_eq!(joining.admit(2, 2, 10), Err(JoinError::Length { length: 11, limit: 10 }));
        assert!(joining.wants(1, 0) && joining.wants(2, 0), "both messages were dropped");
    }
}
