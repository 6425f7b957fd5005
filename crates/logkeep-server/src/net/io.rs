//! A socket, encrypted or not, that counts what passes through it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// How many bytes passed a socket in each direction.
#[derive(Debug, Default)]
pub(super) struct Activity {
    received: AtomicU64,
    sent: AtomicU64,
}

impl Activity {
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

/// The socket of a connection.
pub(super) struct Io {
    socket: Socket,
    activity: Arc<Activity>,
}

enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Io {
    pub(super) fn plain(socket: TcpStream) -> Self {
        Self { socket: Socket::Plain(socket), activity: Arc::default() }
    }

    pub(super) fn tls(socket: TlsStream<TcpStream>) -> Self {
        Self { socket: Socket::Tls(Box::new(socket)), activity: Arc::default() }
    }

    pub(super) fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.activity)
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = match &mut self.socket {
            Socket::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Socket::Tls(socket) => Pin::new(socket).poll_read(context, buffer),
        };
        let read = (buffer.filled().len() - before) as u64;
        self.activity.received.fetch_add(read, Ordering::Relaxed);
        result
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = match &mut self.socket {
            Socket::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Socket::Tls(socket) => Pin::new(socket).poll_write(context, bytes),
        };
        if let Poll::Ready(Ok(written)) = &result {
            self.activity.sent.fetch_add(*written as u64, Ordering::Relaxed);
        }
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(socket) => Pin::new(socket).poll_flush(context),
            Socket::Tls(socket) => Pin::new(socket).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Socket::Tls(socket) => Pin::new(socket).poll_shutdown(context),
        }
    }
}
