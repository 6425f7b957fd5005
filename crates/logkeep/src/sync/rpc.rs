//! Calls over a link: requests are numbered, answers find their request (rpc-wire section 6).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use logkeep_protocol::{
    Call, Envelope, FrameReader, MAX_ENVELOPE, PayloadMode, Request, RequestId, read_defect,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::error::SyncError;
use super::link::{Link, LinkError, Traffic};

/// How often the server is asked whether it is there, and how long it may be silent (WIRE-092).
const PING: Duration = Duration::from_secs(5);

/// A stream has one Chunk that is not acknowledged, and then its Exit.
const STREAM_EVENTS: usize = 2;

/// The calling half of a connection. All calls fail when the connection ends.
pub(super) struct Rpc {
    outgoing: mpsc::Sender<Bytes>,
    next_id: AtomicU32,
    pending: Mutex<Pending>,
}

/// Who waits for what. `None` once the connection has ended.
type Pending = Option<HashMap<RequestId, Waiting>>;

enum Waiting {
    Exit(oneshot::Sender<Bytes>),
    Stream(mpsc::Sender<StreamEvent>),
}

/// What arrives on a stream.
#[derive(Debug)]
pub(super) enum StreamEvent {
    /// The hole of a Chunk; to be acknowledged.
    Chunk(Bytes),
    /// The hole of the Exit that ended the stream.
    End(Bytes),
}

/// The connection ended before an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone;

/// The receiving half of a connection.
pub(super) struct Incoming {
    traffic: Arc<Traffic>,
    messages: mpsc::Receiver<Result<Bytes, LinkError>>,
    frames: FrameReader,
}

impl Rpc {
    /// Splits a link. The incoming half must be driven by [`Rpc::run`].
    pub(super) fn new(link: Link) -> (Self, Incoming) {
        let rpc = Self {
            outgoing: link.outgoing,
            next_id: AtomicU32::new(0),
            pending: Mutex::new(Some(HashMap::new())),
        };
        (
            rpc,
            Incoming {
                traffic: link.traffic,
                messages: link.incoming,
                frames: FrameReader::new(MAX_ENVELOPE),
            },
        )
    }

    /// Makes a call and waits for its Exit hole. Dropping the future interrupts the call.
    pub(super) async fn call(&self, call: &Call<'_>) -> Result<Bytes, SyncError> {
        let (sender, receiver) = oneshot::channel();
        let mut request = self.request(call, Waiting::Exit(sender)).await?;
        let exit = receiver.await.map_err(|_| Gone)?;
        request.ended = true;
        Ok(exit)
    }

    /// Opens a stream. Dropping it interrupts the call.
    pub(super) async fn stream(&self, call: &Call<'_>) -> Result<Stream<'_>, SyncError> {
        let (sender, events) = mpsc::channel(STREAM_EVENTS);
        let request = self.request(call, Waiting::Stream(sender)).await?;
        Ok(Stream { request, events })
    }

    async fn request(&self, call: &Call<'_>, waiting: Waiting) -> Result<OpenRequest<'_>, SyncError> {
        let id = RequestId::number(self.next_id.fetch_add(1, Ordering::Relaxed));
        let payload = call.write(PayloadMode::Plain)?;
        let envelope = Envelope::Request(Request::new(id.clone(), call.tag(), &payload));
        self.pending().as_mut().ok_or(Gone)?.insert(id.clone(), waiting);
        let request = OpenRequest { rpc: self, id, ended: false };
        self.outgoing.send(envelope.write().into()).await.map_err(|_| Gone)?;
        Ok(request)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives until the connection ends and says why it did.
    pub(super) async fn run(&self, mut incoming: Incoming) -> LinkError {
        let ended = self.receive(&mut incoming).await;
        *self.pending() = None;
        ended
    }

    async fn receive(&self, incoming: &mut Incoming) -> LinkError {
        let mut life = Life::new(incoming.traffic.clone());
        let mut ticks = interval_at(Instant::now() + PING, PING);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let message = tokio::select! {
                message = incoming.messages.recv() => message,
                _ = ticks.tick() => match life.tick(&self.outgoing) {
                    true => continue,
                    false => return LinkError("server does not answer".to_owned()),
                },
            };
            match message {
                Some(Ok(bytes)) => incoming.frames.push(bytes),
                Some(Err(error)) => return error,
                None => return LinkError("connection ended".to_owned()),
            }
            if let Err(error) = self.dispatch_all(&mut incoming.frames) {
                return error;
            }
        }
    }

    fn dispatch_all(&self, frames: &mut FrameReader) -> Result<(), LinkError> {
        while let Some(frame) = frames.next_frame().map_err(|error| LinkError(error.to_string()))? {
            self.dispatch(&frame)?;
        }
        Ok(())
    }

    /// Answers with unknown ids are ignored (WIRE-097).
    fn dispatch(&self, frame: &Bytes) -> Result<(), LinkError> {
        let unreadable = |error| LinkError(format!("server sent an unreadable message: {error}"));
        match Envelope::read(frame).map_err(unreadable)? {
            Envelope::Exit { id, exit } => {
                let exit = frame.slice_ref(exit);
                match self.pending().as_mut().and_then(|pending| pending.remove(&id)) {
                    Some(Waiting::Exit(waiting)) => drop(waiting.send(exit)),
                    Some(Waiting::Stream(stream)) => hand_over(&stream, StreamEvent::End(exit))?,
                    None => {}
                }
                Ok(())
            }
            Envelope::Chunk { id, values } => {
                match self.pending().as_ref().and_then(|pending| pending.get(&id)) {
                    Some(Waiting::Stream(stream)) => {
                        hand_over(stream, StreamEvent::Chunk(frame.slice_ref(values)))
                    }
                    _ => Ok(()),
                }
            }
            Envelope::Defect { defect } => Err(defect_text(defect)),
            _ => Ok(()),
        }
    }
}

/// Whether the other side is there. Every byte that arrives is a sign of life, and so is every byte
/// that leaves while more are waiting: a slow link is not a dead one.
struct Life {
    traffic: Arc<Traffic>,
    received: u64,
    sent: u64,
    pinged: bool,
}

impl Life {
    fn new(traffic: Arc<Traffic>) -> Self {
        Self { traffic, received: 0, sent: 0, pinged: false }
    }

    /// False if there was none since the last Ping; else asks for one.
    fn tick(&mut self, outgoing: &mpsc::Sender<Bytes>) -> bool {
        let received = self.traffic.received.load(Ordering::Relaxed);
        let sent = self.traffic.sent.load(Ordering::Relaxed);
        let waiting = outgoing.capacity() < outgoing.max_capacity();
        let alive = received != self.received || (waiting && sent != self.sent);
        if !alive && self.pinged {
            return false;
        }
        (self.received, self.sent) = (received, sent);
        self.pinged = outgoing.try_send(Envelope::Ping.write().into()).is_ok() || waiting;
        true
    }
}

/// A server that keeps to the protocol never fills the channel.
fn hand_over(stream: &mpsc::Sender<StreamEvent>, event: StreamEvent) -> Result<(), LinkError> {
    match stream.try_send(event) {
        Err(mpsc::error::TrySendError::Full(_)) => {
            Err(LinkError("server sent more than was acknowledged".to_owned()))
        }
        _ => Ok(()),
    }
}

/// A defect concerns every request of the connection (WIRE-096).
fn defect_text(hole: &[u8]) -> LinkError {
    let text = read_defect(hole).unwrap_or("it does not decode");
    LinkError(format!("server reports a defect: {text}"))
}

/// A request that interrupts itself unless it has ended.
struct OpenRequest<'a> {
    rpc: &'a Rpc,
    id: RequestId,
    ended: bool,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.rpc.pending().as_mut() {
            pending.remove(&self.id);
        }
        if !self.ended {
            // Without room the server learns it from the end of the connection.
            let _ = self.rpc.outgoing.try_send(Envelope::Interrupt { id: self.id.clone() }.write().into());
        }
    }
}

/// An open stream.
pub(super) struct Stream<'a> {
    request: OpenRequest<'a>,
    events: mpsc::Receiver<StreamEvent>,
}

impl Stream<'_> {
    /// What comes next.
    pub(super) async fn next(&mut self) -> Result<StreamEvent, Gone> {
        let event = self.events.recv().await.ok_or(Gone)?;
        self.request.ended |= matches!(event, StreamEvent::End(_));
        Ok(event)
    }

    /// Asks for the next Chunk.
    pub(super) async fn acknowledge(&self) -> Result<(), Gone> {
        let ack = Envelope::Ack { id: self.request.id.clone() }.write();
        self.request.rpc.outgoing.send(ack.into()).await.map_err(|_| Gone)
    }
}
