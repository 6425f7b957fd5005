//! Moves bytes and events between a transport and a connection until one of them ends.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use logkeep_protocol::Envelope;
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::io::Activity;
use super::registry::Registered;
use super::transport::{Received, Transport};
use crate::connection::{Close, Connection};
use crate::environment::Clock;
use crate::mailbox::Mailbox;

/// How often a connection on which something is under way is looked at. A peer gives up after about 10
/// seconds without an envelope (WIRE-092).
const TICK: Duration = Duration::from_secs(2);

/// So many messages are taken before others get their turn.
const TURN: usize = 32;

/// How long a peer has to take leave.
const FAREWELL: Duration = Duration::from_secs(5);

pub(super) struct Driver<T> {
    pub(super) transport: T,
    pub(super) connection: Connection,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) registered: Registered,
    pub(super) activity: Arc<Activity>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stalled: Duration,
    pub(super) watch: Watch,
}

/// Looks at a connection from time to time while an envelope is incomplete in either direction.
#[derive(Default)]
pub(super) struct Watch {
    timer: Option<Pin<Box<Sleep>>>,
    /// The bytes received when the last envelope was complete, and at the last look.
    complete: u64,
    received: u64,
    /// The bytes sent at the last look that saw progress, and when that was.
    sent: u64,
    progress: Option<Instant>,
}

/// How a connection came to its end.
enum End {
    /// The peer is gone.
    Gone,
    /// The connection is closed from here, as the outbox says.
    Closed,
}

impl<T: Transport> Driver<T> {
    /// Runs the connection to its end.
    pub(super) async fn run(mut self) {
        let end = poll_fn(|context| self.poll(context)).await;
        let close = match end {
            End::Gone => None,
            End::Closed => self.connection.outbox().closing().cloned(),
        };
        if let Some(close) = &close {
            tracing::debug!(code = close.code, reason = %close.reason, "closing a connection");
        }
        let farewell = poll_fn(|context| self.transport.poll_close(context, close.as_ref()));
        // Whoever does not take leave in time is left.
        let _ = timeout(FAREWELL, farewell).await;
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<End> {
        for _ in 0..TURN {
            let mut progress = self.take_events(context);
            let sent = self.transport.poll_send(context, self.connection.outbox());
            match sent {
                Poll::Ready(Err(_)) => return Poll::Ready(End::Gone),
                Poll::Ready(Ok(())) if self.connection.outbox().closing().is_some() => {
                    return Poll::Ready(End::Closed);
                }
                _ => {}
            }
            if self.connection.wants_input() {
                match self.transport.poll_receive(context) {
                    Poll::Ready(Received::End) => return Poll::Ready(End::Gone),
                    Poll::Ready(received) => {
                        self.receive(received);
                        progress = true;
                    }
                    Poll::Pending => {}
                }
            }
            if !progress {
                return self.look(context, sent.is_pending());
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn take_events(&mut self, context: &Context<'_>) -> bool {
        let Poll::Ready(events) = self.mailbox.poll_take(context) else { return false };
        let now = self.clock.now();
        events.into_iter().for_each(|event| self.connection.handle(event, now));
        if self.connection.is_logged_in() {
            self.registered.log_in();
        }
        true
    }

    fn receive(&mut self, received: Received) {
        match received {
            Received::Bytes(bytes) => self.connection.receive(bytes, self.clock.now()),
            Received::TooLarge(what) => self.connection.outbox().close(Close::too_large(what)),
            Received::End => {}
        }
        self.watch.complete = self.activity.received();
    }

    /// Keeps a peer alive whose long upload trickles in, and ends one that takes nothing.
    fn look(&mut self, context: &mut Context<'_>, sending: bool) -> Poll<End> {
        let receiving = self.connection.is_receiving() || self.activity.received() > self.watch.complete;
        if !receiving && !sending {
            self.watch.timer = None;
            return Poll::Pending;
        }
        let timer = self.watch.timer.get_or_insert_with(|| {
            self.watch.progress = Some(Instant::now());
            Box::pin(sleep(TICK))
        });
        if timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        timer.as_mut().reset(Instant::now() + TICK);
        let _ = timer.as_mut().poll(context);
        let received = self.activity.received();
        if receiving && received > self.watch.received {
            self.connection.outbox().push_urgent(Envelope::Pong.write());
            context.waker().wake_by_ref();
        }
        self.watch.received = received;
        self.end_if_stalled(sending)
    }

    fn end_if_stalled(&mut self, sending: bool) -> Poll<End> {
        let sent = self.activity.sent();
        if !sending || sent > self.watch.sent {
            self.watch.sent = sent;
            self.watch.progress = Some(Instant::now());
        }
        let since = self.watch.progress.map_or(Duration::ZERO, |progress| progress.elapsed());
        if since < self.stalled {
            return Poll::Pending;
        }
        tracing::info!(seconds = since.as_secs(), "ending a connection whose peer takes nothing");
        Poll::Ready(End::Gone)
    }
}
