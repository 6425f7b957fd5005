//! A connection as sync sees it: messages in, messages out. The network is passed in.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use tokio::sync::mpsc;

/// How many outgoing messages wait for the network at most.
const WAITING: usize = 2;

/// One connection to a server.
///
/// Messages of a direction are one stream of bytes; where one ends has no meaning.
#[derive(Debug)]
pub struct Link {
    /// What the server sends. Ends with the connection; an error says why it ended.
    pub incoming: mpsc::Receiver<Result<Bytes, LinkError>>,
    /// What goes to the server. Dropping it closes the connection.
    pub outgoing: mpsc::Sender<Bytes>,
    /// Bytes that have passed, the parts of unfinished messages included.
    pub traffic: Arc<Traffic>,
}

/// Counts the bytes of a connection.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Bytes from the server.
    pub received: AtomicU64,
    /// Bytes to the server.
    pub sent: AtomicU64,
}

/// The other end of a [`Link`], held by whatever moves the bytes.
#[derive(Debug)]
pub struct LinkEnd {
    /// To hand over what arrived.
    pub incoming: mpsc::Sender<Result<Bytes, LinkError>>,
    /// What is to be sent.
    pub outgoing: mpsc::Receiver<Bytes>,
    /// To be counted up by whatever moves the bytes.
    pub traffic: Arc<Traffic>,
}

/// Why a connection could not be made, or ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LinkError(pub String);

/// A future without a name.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes connections to one server.
pub trait Connector: Send + Sync {
    /// Connects once. Whoever calls decides how often to try.
    fn connect(&self) -> BoxFuture<'_, Result<Link, LinkError>>;

    /// The server's address, to tell servers apart and to show.
    fn address(&self) -> &str;
}

/// A link and its other end.
pub fn link() -> (Link, LinkEnd) {
    let (to_us, incoming) = mpsc::channel(WAITING);
    let (outgoing, to_server) = mpsc::channel(WAITING);
    let traffic = Arc::<Traffic>::default();
    let link = Link { incoming, outgoing, traffic: traffic.clone() };
    (link, LinkEnd { incoming: to_us, outgoing: to_server, traffic })
}
