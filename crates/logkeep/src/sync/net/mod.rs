//! Connections over `ws://`, `wss://` and `tcp://`.

mod counted;
mod pump;
mod tls;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;
use tokio_tungstenite::client_async_with_config;
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use counted::Counted;

use super::link::{BoxFuture, Connector, Link, LinkError, link};

/// How long a connection may take to open (WIRE-016).
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest message a server may send; an envelope has at most 16 MiB.
const MAX_MESSAGE: usize = 17 * 1024 * 1024;

/// A server by its URL.
#[derive(Debug)]
pub struct Server {
    url: String,
    scheme: Scheme,
    host: String,
    port: u16,
    /// For `wss://`: whose certificates are trusted.
    tls: Option<Arc<ClientConfig>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    WebSocket,
    Tcp,
}

/// Why a URL names no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// It is none of the three forms.
    #[error("{0}: expected ws://HOST[:PORT][/PATH], wss://HOST[:PORT][/PATH] or tcp://HOST:PORT")]
    Url(String),
    /// The file with the trusted certificates cannot be used.
    #[error("{file}: {1}", file = .0.display())]
    Ca(PathBuf, String),
    /// The system has no certificates to trust.
    #[error("no trusted certificates found on this system; name a file with them")]
    NoRoots,
}

impl Server {
    /// A server by its URL. `ca` names a PEM file whose certificates are trusted for `wss://`
    /// instead of the system's.
    ///
    /// # Errors
    /// If the URL has another form, or no certificates can be loaded.
    pub fn new(url: &str, ca: Option<&Path>) -> Result<Self, ServerError> {
        let wrong = || ServerError::Url(url.to_owned());
        let parsed: Uri = url.parse().map_err(|_| wrong())?;
        let host = parsed.host().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
        let explicit = parsed.port_u16().map(|port| format!("{host}:{port}"));
        if parsed.authority().map(|authority| authority.as_str()) != Some(explicit.as_deref().unwrap_or(host))
        {
            return Err(wrong());
        }
        let (scheme, port) = match (parsed.scheme_str(), parsed.port_u16()) {
            (Some("ws"), port) => (Scheme::WebSocket, port.unwrap_or(80)),
            (Some("wss"), port) => (Scheme::WebSocket, port.unwrap_or(443)),
            (Some("tcp"), Some(port)) => (Scheme::Tcp, port),
            _ => return Err(wrong()),
        };
        let tls = (parsed.scheme_str() == Some("wss")).then(|| tls::client_config(ca)).transpose()?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { url: url.to_owned(), scheme, host, port, tls })
    }

    async fn open(&self) -> Result<Link, LinkError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let (link, end) = link();
        let stream = Counted::new(stream, end.traffic.clone());
        match (self.scheme, &self.tls) {
            (Scheme::Tcp, _) => drop(tokio::spawn(pump::bytes(stream, end))),
            (Scheme::WebSocket, None) => drop(tokio::spawn(pump::messages(self.upgrade(stream).await?, end))),
            (Scheme::WebSocket, Some(config)) => {
                let secure = tls::connect(config, &self.host, stream).await?;
                drop(tokio::spawn(pump::messages(self.upgrade(secure).await?, end)));
            }
        }
        Ok(link)
    }

    async fn upgrade<S>(&self, stream: S) -> Result<tokio_tungstenite::WebSocketStream<S>, LinkError>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE))
            .write_buffer_size(0);
        let (socket, _) = client_async_with_config(&self.url, stream, Some(config)).await.map_err(failed)?;
        Ok(socket)
    }
}

impl Connector for Server {
    fn connect(&self) -> BoxFuture<'_, Result<Link, LinkError>> {
        Box::pin(async {
            let opened = timeout(OPEN_TIMEOUT, self.open()).await;
            opened.unwrap_or_else(|_| Err(LinkError("no answer within 10 s".to_owned())))
        })
    }

    fn address(&self) -> &str {
        &self.url
    }
}

fn failed(error: impl std::fmt::Display) -> LinkError {
    LinkError(error.to_string())
}
