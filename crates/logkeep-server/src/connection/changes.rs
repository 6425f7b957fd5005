//! One change stream: from a page of stored batches to Chunks, one at a time (SV-065…071, WIRE-080…085).

use std::sync::Arc;

use bytes::Bytes;
use logkeep_protocol::{AnswerForm, Item, MAX_PART, Malformed, RequestId, Scope, batch_list, write_chunk};

use super::cut::{CutMessage, Missing};
use super::echo::OwnSequences;
use super::pace::Pace;
use crate::hub::Subscription;
use crate::memory::Kept;
use crate::service::{Sending, Service};
use crate::storage::{Millis, Page};

/// Chunks above this count against the memory of all streams.
const LARGE_CHUNK: usize = 256 * 1024;

/// What a stream may keep without asking.
const SMALL: usize = 64 * 1024;

/// The state of one stream.
pub(super) struct Changes {
    pub(super) request: RequestId,
    /// How its answers, and so its items, are written.
    pub(super) form: AnswerForm,
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

/// What a stream wants next.
pub(super) enum Step {
    /// This Chunk is to be sent.
    Send(Vec<u8>),
    /// A page.
    Read { from: u64, budget: usize },
    /// Sealed bytes of a large batch.
    Slice { last: u64, offset: u64, length: usize },
    /// An event as soon as the head is above `after`.
    Arm { after: u64 },
    /// Nothing, until something happens.
    Wait,
}

impl Changes {
    pub(super) fn new(
        request: RequestId,
        form: AnswerForm,
        scope: Scope,
        subscription: Subscription,
        cursor: u64,
        now: Millis,
    ) -> Self {
        Self {
            request,
            form,
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
    pub(super) fn supply(&mut self, page: Arc<Page>, barrier: u64) {
        self.source = Source::Held { page, taken: 0, barrier };
    }

    /// Takes the slice of a large batch that was asked for.
    pub(super) fn supply_slice(&mut self, slice: Bytes) {
        if let Some(cut) = &mut self.cut {
            cut.supply(slice);
        }
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

    /// Counts a page that is kept until the Ack against the memory of all streams. Without room for it, it
    /// is forgotten, and read again after the Ack: so peers that never acknowledge cost next to nothing.
    pub(super) fn keep_or_forget(&mut self, service: &Service) {
        self.kept = None;
        let Source::Held { page, .. } = &self.source else { return };
        if self.pace.is_waiting() && page.bytes.len() > SMALL {
            self.kept = service.memory.reserve(page.bytes.len());
            if self.kept.is_none() {
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
        if self.pace.is_waiting() && budget > room {
            return Ok(Step::Wait);
        }
        if matches!(self.source, Source::Behind) {
            self.source = Source::Reading;
            let from = self.cut.as_ref().map_or(self.cursor, |cut| cut.after);
            return Ok(Step::Read { from, budget });
        }
        if self.pace.is_waiting() {
            return Ok(Step::Wait);
        }
        if let Some(cut) = &mut self.cut {
            return Ok(match cut.missing(budget) {
                None => self.send_parts(budget, now)?,
                Some(Missing::Asked) => Step::Wait,
                Some(Missing::Slice { last, offset, length }) => Step::Slice { last, offset, length },
            });
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
        if let Some(large) = &page.large {
            if self.own.contains(large.first, large.last) {
                self.pass(cursor.max(page.next));
                return Ok(None);
            }
            self.begin_cut(CutMessage::stored(large, budget, cursor.max(page.next))?);
            return Ok(None);
        }
        let messages = selection.messages(&page)?;
        match messages.as_slice() {
            [] => {
                self.pass(cursor);
                Ok(None)
            }
            [long] if long.data_len() > budget.min(MAX_PART) => {
                self.begin_cut(CutMessage::in_memory(long, budget, cursor));
                Ok(Some(self.send_parts(budget, now)?))
            }
            messages => {
                self.pass(cursor);
                Ok(Some(self.send(messages, now)?))
            }
        }
    }

    fn begin_cut(&mut self, mut cut: CutMessage) {
        cut.number = self.next_message;
        self.next_message += 1;
        self.cut = Some(cut);
    }

    /// Sends as many parts of the cut message as fit, one at least.
    fn send_parts(&mut self, budget: usize, now: Millis) -> Result<Step, Malformed> {
        let Some(mut cut) = self.cut.take() else { return Ok(Step::Wait) };
        let parts = cut.take_parts(budget);
        if cut.is_sent() {
            self.pass(cut.after);
        } else {
            self.cut = Some(cut);
        }
        self.send(&parts, now)
    }

    fn send(&mut self, items: &[Item<'_>], now: Millis) -> Result<Step, Malformed> {
        let chunk = write_chunk(&self.request, self.form.mode, items)?;
        self.pace.sent(chunk.len(), now);
        Ok(Step::Send(chunk))
    }

    fn pass(&mut self, cursor: u64) {
        self.cursor = cursor;
        self.own.pass(cursor);
    }
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
