//! One change stream: from a page of stored batches to Chunks, one at a time (SV-065…071, WIRE-080…085).

use std::sync::Arc;

use bytes::Bytes;
use logkeep_protocol::{Item, MAX_PART, Malformed, RequestId, Scope, batch_list, write_chunk};

use super::echo::OwnSequences;
use super::pace::Pace;
use crate::hub::Subscription;
use crate::memory::Kept;
use crate::service::{Sending, Service};
use crate::storage::{Millis, Page};

/// The parts of a message are never smaller, however slow the link.
const MIN_PART: usize = 16 * 1024;

/// Chunks above this count against the memory of all streams.
const LARGE_CHUNK: usize = 256 * 1024;

/// What a stream may keep without asking.
const SMALL: usize = 64 * 1024;

/// The state of one stream.
pub(super) struct Changes {
    pub(super) request: RequestId,
    pub(super) scope: Scope,
    pub(super) subscription: Subscription,
    /// The first sequence not delivered yet.
    pub(super) cursor: u64,
    pub(super) pace: Pace,
    pub(super) own: OwnSequences,
    pub(super) source: Source,
    /// A message that is too long for one Chunk and under way.
    cut: Option<CutMessage>,
    next_message: u64,
    sending: Option<Sending>,
    kept: Option<Kept>,
}

/// Where the next batches come from.
pub(super) enum Source {
    /// Storage has some that have not been asked for.
    Behind,
    /// A page is being read.
    Reading,
    /// A page that may hold batches of writes of this connection that are not answered yet: operations
    /// numbered below `barrier` have to end first.
    Held { page: Arc<Page>, taken: usize, barrier: u64 },
    /// Nothing more is stored; the hub tells when there is, once it was asked to.
    Caught { armed: bool },
}

struct CutMessage {
    /// All of it; `None` if it was forgotten.
    bytes: Option<Bytes>,
    number: u64,
    part: usize,
    sent: usize,
    /// The cursor once all of it is sent.
    after: u64,
}

/// What a stream wants next.
pub(super) enum Step {
    /// This Chunk is to be sent.
    Send(Vec<u8>),
    /// A page.
    Read { from: u64, budget: usize },
    /// An event as soon as the head is above `after`.
    Arm { after: u64 },
    /// Nothing, until something happens.
    Wait,
}

impl Changes {
    pub(super) fn new(
        request: RequestId,
        scope: Scope,
        subscription: Subscription,
        cursor: u64,
        now: Millis,
    ) -> Self {
        Self {
            request,
            scope,
            subscription,
            cursor,
            pace: Pace::new(now),
            own: OwnSequences::default(),
            source: Source::Behind,
            cut: None,
            next_message: 0,
            sending: None,
            kept: None,
        }
    }

    /// Takes a page to deliver from.
    pub(super) fn supply(&mut self, page: Arc<Page>, barrier: u64) -> Result<(), Malformed> {
        let mut taken = 0;
        if let Some(cut) = self.cut.as_mut().filter(|cut| cut.bytes.is_none()) {
            taken = cut.recall(&page)?;
        }
        self.source = Source::Held { page, taken, barrier };
        Ok(())
    }

    /// Takes the news of a commit, with what was committed if it is just what comes next.
    pub(super) fn published(&mut self, page: Option<Arc<Page>>, barrier: u64, now: Millis) {
        self.pace.refresh(now);
        if !matches!(self.source, Source::Caught { .. }) {
            return;
        }
        match page {
            Some(page) if page.rows.first().is_some_and(|row| row.first == self.cursor) => {
                self.source = Source::Held { page, taken: 0, barrier };
            }
            _ => self.source = Source::Behind,
        }
    }

    /// Takes an Ack; `false` if none was due.
    pub(super) fn acked(&mut self, now: Millis) -> bool {
        self.sending = None;
        self.kept = None;
        self.pace.acked(now)
    }

    /// Notes that a Chunk of `bytes` is on its way.
    pub(super) fn sent(&mut self, service: &Service, bytes: usize) {
        self.sending = (bytes > LARGE_CHUNK).then(|| service.begin_sending());
        self.keep_or_forget(service);
    }

    /// Counts what is kept until the Ack against the memory of all streams. Without room for it, it is
    /// forgotten, and read again after the Ack: so peers that never acknowledge cost next to nothing.
    pub(super) fn keep_or_forget(&mut self, service: &Service) {
        if !self.pace.is_waiting() {
            return;
        }
        let cut = self.cut.as_ref().and_then(|cut| cut.bytes.as_ref()).map_or(0, Bytes::len);
        let page = match &self.source {
            Source::Held { page, .. } => page.bytes.len(),
            _ => 0,
        };
        self.kept = None;
        if cut + page <= SMALL {
            return;
        }
        self.kept = service.memory.reserve(cut + page);
        if self.kept.is_none() {
            if let Some(cut) = &mut self.cut {
                cut.bytes = None;
            }
            if page > 0 || cut > 0 {
                self.source = Source::Behind;
            }
        }
    }

    /// Goes one step on. `oldest_write` is the oldest unanswered write of this connection to this store,
    /// `ceiling` the most bytes a Chunk may have. The next page is read while a Chunk waits for its Ack, if
    /// `room` bytes are enough for it.
    pub(super) fn advance(
        &mut self,
        oldest_write: Option<u64>,
        ceiling: usize,
        room: usize,
        now: Millis,
    ) -> Result<Step, Malformed> {
        let budget = self.pace.budget(ceiling);
        let forgotten = self.cut.as_ref().is_some_and(|cut| cut.bytes.is_none());
        if self.pace.is_waiting() && (forgotten || budget > room) {
            return Ok(Step::Wait);
        }
        if matches!(self.source, Source::Behind) {
            self.source = Source::Reading;
            return Ok(Step::Read { from: self.reading_position(), budget });
        }
        if self.pace.is_waiting() || forgotten {
            return Ok(Step::Wait);
        }
        if self.cut.is_some() {
            return Ok(self.send_parts(budget, now));
        }
        match &mut self.source {
            Source::Caught { armed } if !*armed => {
                *armed = true;
                Ok(Step::Arm { after: self.cursor.saturating_sub(1) })
            }
            Source::Held { barrier, .. } if oldest_write.is_none_or(|write| write >= *barrier) => {
                match self.deliver(budget, now)? {
                    Some(step) => Ok(step),
                    None => self.advance(oldest_write, ceiling, room, now),
                }
            }
            _ => Ok(Step::Wait),
        }
    }

    /// Delivers from the page that is held; `None` if the next rows are all withheld.
    fn deliver(&mut self, budget: usize, now: Millis) -> Result<Option<Step>, Malformed> {
        let Source::Held { page, taken, .. } = &mut self.source else { return Ok(None) };
        let selection = Selection::of(page, *taken, budget, &self.own);
        *taken = selection.taken;
        let page = Arc::clone(page);
        let mut cursor = selection.cursor.unwrap_or(self.cursor).max(self.cursor);
        if selection.taken == page.rows.len() {
            if page.end {
                // Also for a stream that began beyond the head: what is written next is below its start,
                // and it is delivered (SV-X05).
                cursor = page.head + 1;
            }
            self.source = if page.end { Source::Caught { armed: false } } else { Source::Behind };
        }
        let messages = selection.messages(&page)?;
        match messages.as_slice() {
            [] => {
                self.pass(cursor);
                Ok(None)
            }
            [long] if long.data_len() > budget.min(MAX_PART) => {
                self.cut = Some(CutMessage::new(long, self.next_message, budget, cursor));
                self.next_message += 1;
                Ok(Some(self.send_parts(budget, now)))
            }
            messages => {
                self.pass(cursor);
                Ok(Some(self.send(messages, now)))
            }
        }
    }

    /// Where reading goes on: behind a message that is being sent in parts, unless it was forgotten.
    fn reading_position(&self) -> u64 {
        self.cut.as_ref().filter(|cut| cut.bytes.is_some()).map_or(self.cursor, |cut| cut.after)
    }

    /// Sends as many parts of the cut message as fit, one at least.
    fn send_parts(&mut self, budget: usize, now: Millis) -> Step {
        let Some(mut cut) = self.cut.take() else { return Step::Wait };
        let bytes = cut.bytes.clone().unwrap_or_default();
        let total = bytes.len().div_ceil(cut.part);
        let count = (budget / cut.part).clamp(1, total.saturating_sub(cut.sent).max(1));
        let items: Vec<Item<'_>> = bytes
            .chunks(cut.part)
            .enumerate()
            .skip(cut.sent)
            .take(count)
            .map(|(index, data)| Item {
                part: Some((cut.number, index as u64, total as u64)),
                head: Vec::new(),
                body: vec![data],
            })
            .collect();
        cut.sent += count;
        if cut.sent == total {
            self.pass(cut.after);
        } else {
            self.cut = Some(cut);
        }
        self.send(&items, now)
    }

    fn send(&mut self, items: &[Item<'_>], now: Millis) -> Step {
        let chunk = write_chunk(&self.request, items);
        self.pace.sent(chunk.len(), now);
        Step::Send(chunk)
    }

    fn pass(&mut self, cursor: u64) {
        self.cursor = cursor;
        self.own.pass(cursor);
    }
}

impl CutMessage {
    fn new(message: &Item<'_>, number: u64, budget: usize, after: u64) -> Self {
        let part = budget.clamp(MIN_PART, MAX_PART);
        Self { bytes: Some(joined(message)), number, part, sent: 0, after }
    }

    /// Takes the forgotten message from a page read again; gives how many rows of the page are used up.
    fn recall(&mut self, page: &Page) -> Result<usize, Malformed> {
        let start = |index: usize| match index.checked_sub(1).and_then(|before| page.rows.get(before)) {
            Some(before) => before.end,
            None => 0,
        };
        let position = page.rows.iter().position(|row| row.last + 1 == self.after);
        let found = position.and_then(|index| Some((index, page.rows.get(index)?.end)));
        let (index, end) = found.ok_or_else(|| Malformed::because(&"a batch is gone that was being sent"))?;
        let row = page.bytes.get(start(index)..end).unwrap_or_default();
        self.bytes = Some(joined(&batch_list(&[row], 1)?));
        Ok(index + 1)
    }
}

fn joined(message: &Item<'_>) -> Bytes {
    let mut bytes = Vec::with_capacity(message.data_len());
    bytes.extend_from_slice(&message.head);
    message.body.iter().for_each(|slice| bytes.extend_from_slice(slice));
    bytes.into()
}

/// The rows of a page that make up the next Chunk.
struct Selection {
    /// Byte ranges of the page and how many rows each has, in order; a range is one message at most.
    spans: Vec<(usize, usize, usize)>,
    taken: usize,
    cursor: Option<u64>,
}

impl Selection {
    /// Takes rows until `budget` is used up, one at least; leaves out those the connection wrote itself.
    fn of(page: &Page, taken: usize, budget: usize, own: &OwnSequences) -> Self {
        let mut selection = Self { spans: Vec::new(), taken, cursor: None };
        let mut start = taken.checked_sub(1).and_then(|last| page.rows.get(last)).map_or(0, |row| row.end);
        let mut size = 0;
        for row in page.rows.iter().skip(taken) {
            let withheld = own.contains(row.first, row.last);
            let length = row.end - start;
            if !withheld && size > 0 && size + length > budget {
                break;
            }
            if !withheld {
                size += length;
                selection.push(start, row.end);
            }
            start = row.end;
            selection.taken += 1;
            selection.cursor = Some(row.last + 1);
        }
        selection
    }

    /// Adds a row, to the last message if it stands right behind it and both fit one item.
    fn push(&mut self, start: usize, end: usize) {
        // The first row of a message declares the shape, which takes a few bytes more.
        const ROOM: usize = 64;
        match self.spans.last_mut() {
            Some((first, last, rows)) if *last == start && end - *first + ROOM <= MAX_PART => {
                *last = end;
                *rows += 1;
            }
            _ => self.spans.push((start, end, 1)),
        }
    }

    fn messages<'a>(&self, page: &'a Page) -> Result<Vec<Item<'a>>, Malformed> {
        let slice = |start: usize, end: usize| page.bytes.get(start..end).unwrap_or_default();
        self.spans.iter().map(|(start, end, rows)| batch_list(&[slice(*start, *end)], *rows)).collect()
    }
}
