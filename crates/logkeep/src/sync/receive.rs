//! From the Chunks of a stream to whole messages.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use logkeep_protocol::{JoinLimits, Joined, Joining, Malformed, Received, read_items, read_void};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::error::SyncError;
use super::link::{LinkError, Traffic};
use super::rpc::{Stream, StreamEvent};
use super::session::success;

/// What unfinished messages may take. A batch is one entry at least, however large; servers send
/// one message after another.
const JOIN_LIMITS: JoinLimits =
    JoinLimits { open_messages: 2, parts: 65_536, message_bytes: 512 * 1024 * 1024 };

/// Takes Chunks, joins messages and asks for more once they are handed on.
pub(super) async fn receive(
    stream: &mut Stream<'_>,
    messages: mpsc::Sender<Vec<Bytes>>,
) -> Result<Infallible, SyncError> {
    let mut joining = Joining::new(JOIN_LIMITS);
    loop {
        let chunk = match stream.next().await? {
            StreamEvent::Chunk(chunk) => chunk,
            StreamEvent::End(exit) => {
                success(read_void(&exit))?;
                return Err(LinkError("server ended the stream".to_owned()).into());
            }
        };
        let complete = join(&mut joining, &chunk)?;
        if messages.send(complete).await.is_err() {
            return Err(LinkError("connection given up".to_owned()).into());
        }
        stream.acknowledge().await?;
    }
}

/// The messages that a Chunk completes.
fn join(joining: &mut Joining<Bytes>, chunk: &Bytes) -> Result<Vec<Bytes>, Malformed> {
    let mut complete = Vec::new();
    for item in read_items(chunk)? {
        match item {
            Received::Single(data) => complete.push(chunk.slice_ref(data)),
            Received::Chunked(part) => {
                if !joining.wants(part.id, part.index) {
                    continue;
                }
                joining
                    .admit(part.id, part.total, part.data.len())
                    .map_err(|error| Malformed::because(&error))?;
                let data = chunk.slice_ref(part.data);
                let joined = joining.add(part.id, part.index, part.total, part.data.len(), data);
                if let Joined::Complete(parts) = joined {
                    complete.push(parts.concat().into());
                }
            }
        }
    }
    Ok(complete)
}

/// What comes next, or `None` after so long without a single byte. A message that is still on its
/// way is no silence, however long it takes.
pub(super) async fn next_or_quiet(
    messages: &mut mpsc::Receiver<Vec<Bytes>>,
    traffic: &Traffic,
    quiet: Duration,
) -> Option<Option<Vec<Bytes>>> {
    loop {
        let before = traffic.received.load(Ordering::Relaxed);
        match timeout(quiet, messages.recv()).await {
            Ok(messages) => return Some(messages),
            Err(_) if traffic.received.load(Ordering::Relaxed) == before => return None,
            Err(_) => {}
        }
    }
}
