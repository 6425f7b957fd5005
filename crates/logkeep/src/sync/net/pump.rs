//! Moving bytes between a socket and a link, until either side ends.

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::select;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::counted::Counted;
use super::failed;
use crate::sync::link::{LinkEnd, LinkError};

/// How much is read from a TCP socket at once.
const READ: usize = 64 * 1024;

/// Moves raw bytes over TCP.
pub(super) async fn bytes(stream: Counted, end: LinkEnd) {
    let LinkEnd { incoming, mut outgoing, .. } = end;
    let (mut reader, mut writer) = tokio::io::split(stream);
    let read = async {
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(READ);
            let arrived = match reader.read_buf(&mut buffer).await {
                Ok(0) => return,
                Ok(_) => Ok(buffer.split().freeze()),
                Err(error) => Err(failed(error)),
            };
            if !hand_over(&incoming, arrived).await {
                return;
            }
        }
    };
    let write = async {
        while let Some(message) = outgoing.recv().await {
            if writer.write_all(&message).await.is_err() {
                return;
            }
        }
        let _ = writer.shutdown().await;
    };
    select! { () = read => {}, () = write => {} }
}

/// Moves WebSocket messages; text counts as its UTF-8 bytes (WIRE-012).
pub(super) async fn messages<S>(socket: WebSocketStream<S>, end: LinkEnd)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let LinkEnd { incoming, mut outgoing, .. } = end;
    let (mut writer, mut reader) = socket.split();
    let read = async {
        while let Some(message) = reader.next().await {
            let arrived = match message {
                Ok(Message::Binary(bytes)) => Ok(bytes),
                Ok(Message::Text(text)) => Ok(Bytes::from(text)),
                Ok(Message::Close(frame)) => Err(closed(frame.as_ref())),
                Ok(_) => continue,
                Err(error) => Err(failed(error)),
            };
            if !hand_over(&incoming, arrived).await {
                return;
            }
        }
    };
    let write = async {
        while let Some(message) = outgoing.recv().await {
            if writer.send(Message::Binary(message)).await.is_err() {
                return;
            }
        }
        let _ = writer.close().await;
    };
    select! { () = read => {}, () = write => {} }
}

fn closed(frame: Option<&tokio_tungstenite::tungstenite::protocol::CloseFrame>) -> LinkError {
    LinkError(match frame {
        Some(frame) if frame.reason.is_empty() => {
            format!("server closed with code {}", u16::from(frame.code))
        }
        Some(frame) => format!("server closed with code {}: {}", u16::from(frame.code), frame.reason),
        None => "server closed".to_owned(),
    })
}

/// False if the connection is over: it failed, or nobody listens any more.
async fn hand_over(
    incoming: &mpsc::Sender<Result<Bytes, LinkError>>,
    arrived: Result<Bytes, LinkError>,
) -> bool {
    let alive = arrived.is_ok();
    incoming.send(arrived).await.is_ok() && alive
}
