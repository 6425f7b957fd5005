//! A message that is too long for one Chunk: its parts travel one Chunk after another (WIRE-110).

use bytes::Bytes;
use logkeep_protocol::{Item, LargeMessage, MAX_PART, Malformed};

use crate::storage::LargeBatch;

/// Parts are never smaller, however slow the link.
const MIN_PART: usize = 16 * 1024;

/// A message on its way in parts.
pub(super) struct CutMessage {
    bytes: Content,
    /// The number that tells the receiver which parts belong together.
    pub(super) number: u64,
    part: usize,
    total: usize,
    sent: usize,
    /// The stream's cursor once all of it is sent.
    pub(super) after: u64,
}

enum Content {
    Memory(Bytes),
    /// Read as it is sent, so that it never is in memory as a whole.
    Stored {
        message: LargeMessage,
        last: u64,
        slice: Slice,
    },
}

/// What is known of the sealed bytes that the next parts need.
enum Slice {
    Needed,
    Asked { parts: usize },
    Read { parts: usize, bytes: Bytes },
}

/// Sealed bytes that are needed before parts can be sent.
pub(super) enum Missing {
    /// They were asked for.
    Asked,
    /// They have to be read.
    Slice { last: u64, offset: u64, length: usize },
}

impl CutMessage {
    /// Cuts a message whose rows are in memory.
    pub(super) fn in_memory(message: &Item<'_>, budget: usize, after: u64) -> Self {
        let mut bytes = Vec::with_capacity(message.data_len());
        bytes.extend_from_slice(&message.head);
        message.body.iter().for_each(|slice| bytes.extend_from_slice(slice));
        Self::new(bytes.len(), Content::Memory(bytes.into()), budget, after)
    }

    /// Cuts the message of a batch that is read in slices.
    pub(super) fn stored(batch: &LargeBatch, budget: usize, after: u64) -> Result<Self, Malformed> {
        let message = LargeMessage::new(batch.first, &batch.iv, batch.sealed, &batch.entry_ids);
        let length = usize::try_from(message.len()).map_err(|error| Malformed::because(&error))?;
        let content = Content::Stored { message, last: batch.last, slice: Slice::Needed };
        Ok(Self::new(length, content, budget, after))
    }

    fn new(length: usize, bytes: Content, budget: usize, after: u64) -> Self {
        // Several parts a Chunk: the budget may change while the message is on its way.
        let part = (budget / 4).clamp(MIN_PART, MAX_PART);
        Self { bytes, number: 0, part, total: length.div_ceil(part), sent: 0, after }
    }

    pub(super) const fn is_sent(&self) -> bool {
        self.sent >= self.total
    }

    /// Notes the slice that was asked for.
    pub(super) fn supply(&mut self, bytes: Bytes) {
        if let Content::Stored { slice, .. } = &mut self.bytes
            && let Slice::Asked { parts } = *slice
        {
            *slice = Slice::Read { parts, bytes };
        }
    }

    /// What has to be read before the parts that fit `budget` can be sent. It counts as asked for then.
    pub(super) fn missing(&mut self, budget: usize) -> Option<Missing> {
        let parts = self.parts_within(budget);
        let (from, to) = self.range(parts);
        let Content::Stored { message, last, slice } = &mut self.bytes else { return None };
        match slice {
            Slice::Read { .. } => None,
            Slice::Asked { .. } => Some(Missing::Asked),
            Slice::Needed => {
                *slice = Slice::Asked { parts };
                let sealed = message.sealed_within(from..to);
                let length = (sealed.end - sealed.start) as usize;
                Some(Missing::Slice { last: *last, offset: sealed.start, length })
            }
        }
    }

    /// The next parts: those that fit `budget`, one at least, or those whose bytes were read.
    pub(super) fn take_parts(&mut self, budget: usize) -> Vec<Item<'static>> {
        let parts = match &self.bytes {
            Content::Stored { slice: Slice::Read { parts, .. }, .. } => *parts,
            _ => self.parts_within(budget),
        };
        let (from, to) = self.range(parts);
        let bytes = match &mut self.bytes {
            Content::Memory(bytes) => bytes.slice(from as usize..to as usize),
            Content::Stored { message, slice, .. } => {
                let read = std::mem::replace(slice, Slice::Needed);
                let Slice::Read { bytes, .. } = read else { return Vec::new() };
                message.bytes(from..to, &bytes).into()
            }
        };
        let items = bytes.chunks(self.part).zip(self.sent as u64..).map(|(data, index)| Item {
            part: Some((self.number, index, self.total as u64)),
            head: data.to_vec(),
            body: Vec::new(),
        });
        let items = items.collect();
        self.sent += parts;
        items
    }

    fn parts_within(&self, budget: usize) -> usize {
        (budget / self.part).clamp(1, (self.total - self.sent).max(1))
    }

    /// The bytes of the message that the next `parts` parts hold.
    fn range(&self, parts: usize) -> (u64, u64) {
        let length = match &self.bytes {
            Content::Memory(bytes) => bytes.len() as u64,
            Content::Stored { message, .. } => message.len(),
        };
        let at = |part: usize| (part as u64 * self.part as u64).min(length);
        (at(self.sent), at(self.sent + parts))
    }
}
