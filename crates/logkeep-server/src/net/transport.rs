//! The two ways envelopes travel: as WebSocket messages, or back to back on a byte stream (WIRE-010…020).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_util::io::poll_read_buf;

use super::io::Io;
use crate::connection::{Close, Outbox};

/// A long WebSocket message is sent in fragments of so many bytes, so that no write buffer grows to the size
/// of the message and stays there.
const FRAGMENT: usize = 16 * 1024;

/// How much is read from a byte stream at once.
const READ: usize = 16 * 1024;

/// What came from the peer.
pub(super) enum Received {
    /// Some bytes of the stream of envelopes.
    Bytes(Bytes),
    /// Something larger than the transport takes; says what.
    TooLarge(String),
    /// The peer closed the connection, or it broke.
    End,
}

/// A peer, as the driver of a connection sees it.
pub(super) trait Transport: Send {
    /// The next bytes from the peer.
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Received>;

    /// Sends what is in `outbox`; ready when nothing is left to send, or the connection is broken.
    fn poll_send(&mut self, context: &mut Context<'_>, outbox: &mut Outbox) -> Poll<io::Result<()>>;

    /// Tells the peer why the connection ends, and ends it.
    fn poll_close(&mut self, context: &mut Context<'_>, close: Option<&Close>) -> Poll<()>;
}

/// Envelopes as binary WebSocket messages.
pub(super) struct WebSocket {
    socket: WebSocketStream<Io>,
    /// What is left of the message being sent, and whether its first fragment has gone.
    sending: Option<(Bytes, bool)>,
    close_sent: bool,
}

impl WebSocket {
    pub(super) const fn new(socket: WebSocketStream<Io>) -> Self {
        Self { socket, sending: None, close_sent: false }
    }

    fn next_fragment(&mut self, outbox: &mut Outbox) -> Option<Message> {
        let (mut rest, begun) = match self.sending.take() {
            Some(sending) => sending,
            None => (Bytes::from(outbox.next_frame()?), false),
        };
        let fragment = rest.split_to(rest.len().min(FRAGMENT));
        let last = rest.is_empty();
        if !last {
            self.sending = Some((rest, true));
        }
        let kind = if begun { Data::Continue } else { Data::Binary };
        Some(Message::Frame(Frame::message(fragment, OpCode::Data(kind), last)))
    }
}

impl Transport for WebSocket {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Received> {
        loop {
            let message = ready!(Pin::new(&mut self.socket).poll_next(context));
            return Poll::Ready(match message {
                Some(Ok(Message::Binary(bytes))) => Received::Bytes(bytes),
                Some(Ok(Message::Text(text))) => Received::Bytes(text.into()),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(Error::Capacity(CapacityError::MessageTooLong { size, max_size }))) => {
                    Received::TooLarge(format!(
                        "a message of {size} bytes exceeds the limit of {max_size} bytes"
                    ))
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => Received::End,
            });
        }
    }

    fn poll_send(&mut self, context: &mut Context<'_>, outbox: &mut Outbox) -> Poll<io::Result<()>> {
        loop {
            if self.sending.is_none() && outbox.is_empty() {
                return Pin::new(&mut self.socket).poll_flush(context).map_err(io::Error::other);
            }
            ready!(Pin::new(&mut self.socket).poll_ready(context)).map_err(io::Error::other)?;
            let Some(fragment) = self.next_fragment(outbox) else { continue };
            Pin::new(&mut self.socket).start_send(fragment).map_err(io::Error::other)?;
        }
    }

    fn poll_close(&mut self, context: &mut Context<'_>, close: Option<&Close>) -> Poll<()> {
        if let Some(close) = close
            && !self.close_sent
        {
            if ready!(Pin::new(&mut self.socket).poll_ready(context)).is_err() {
                return Poll::Ready(());
            }
            let frame = CloseFrame { code: close.code.into(), reason: close.reason.as_ref().into() };
            let _ = Pin::new(&mut self.socket).start_send(Message::Close(Some(frame)));
            self.close_sent = true;
        }
        if ready!(Pin::new(&mut self.socket).poll_flush(context)).is_err() {
            return Poll::Ready(());
        }
        poll_farewell(self.socket.get_mut(), context)
    }
}

/// Ends the sending side, then takes what the peer still sends until it ends as well: closing a socket with
/// bytes unread would discard what was sent last, the reason of the end among it. Nothing is parsed or kept.
fn poll_farewell(socket: &mut Io, context: &mut Context<'_>) -> Poll<()> {
    if ready!(Pin::new(&mut *socket).poll_shutdown(context)).is_err() {
        return Poll::Ready(());
    }
    let mut scratch = [0; 4096];
    loop {
        let mut buffer = ReadBuf::new(&mut scratch);
        match ready!(Pin::new(&mut *socket).poll_read(context, &mut buffer)) {
            Ok(()) if !buffer.filled().is_empty() => {}
            _ => return Poll::Ready(()),
        }
    }
}

/// Envelopes on a byte stream.
pub(super) struct ByteStream {
    socket: Io,
    sending: Bytes,
}

impl ByteStream {
    pub(super) const fn new(socket: Io) -> Self {
        Self { socket, sending: Bytes::new() }
    }
}

impl Transport for ByteStream {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Received> {
        let mut buffer = BytesMut::with_capacity(READ);
        Poll::Ready(match ready!(poll_read_buf(Pin::new(&mut self.socket), context, &mut buffer)) {
            Ok(0) | Err(_) => Received::End,
            Ok(_) => Received::Bytes(buffer.freeze()),
        })
    }

    fn poll_send(&mut self, context: &mut Context<'_>, outbox: &mut Outbox) -> Poll<io::Result<()>> {
        loop {
            if self.sending.is_empty() {
                match outbox.next_frame() {
                    Some(frame) => self.sending = frame.into(),
                    None => return Pin::new(&mut self.socket).poll_flush(context),
                }
            }
            let written = ready!(Pin::new(&mut self.socket).poll_write(context, &self.sending))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            drop(self.sending.split_to(written));
        }
    }

    fn poll_close(&mut self, context: &mut Context<'_>, _close: Option<&Close>) -> Poll<()> {
        poll_farewell(&mut self.socket, context)
    }
}
