//! Listeners, and the life of a server from its first connection to its last.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::Instrument;

use super::driver::{Driver, Watch};
use super::http;
use super::io::{Activity, Io};
use super::registry::Registry;
use super::transport::{ByteStream, Transport};
use crate::connection::Connection;
use crate::environment::Clock;
use crate::mailbox::Mailbox;
use crate::service::Service;

/// How long a client may take for the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long connections have to finish what they are at when the server shuts down.
const DRAIN: Duration = Duration::from_secs(8);

/// A server with its listeners.
pub struct Server {
    shared: Shared,
    stop: watch::Sender<bool>,
    listeners: JoinSet<()>,
}

/// What every connection needs.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    registry: Arc<Registry>,
    clock: Arc<dyn Clock>,
    stopping: watch::Receiver<bool>,
}

/// How a listener's bytes are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP that is upgraded to WebSocket.
    WebSocket,
    /// Envelopes back to back.
    ByteStream,
}

impl Server {
    /// A server without listeners.
    pub fn new(service: Arc<Service>, clock: Arc<dyn Clock>) -> Self {
        let (stop, stopping) = watch::channel(false);
        let shared = Shared { service, registry: Arc::default(), clock, stopping };
        Self { shared, stop, listeners: JoinSet::new() }
    }

    /// Listens on `address`, encrypted if there is a `tls`; gives the address with its real port.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub async fn listen(
        &mut self,
        address: SocketAddr,
        protocol: Protocol,
        tls: Option<TlsAcceptor>,
    ) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        self.listeners.spawn(accept(self.shared.clone(), listener, protocol, tls));
        Ok(address)
    }

    /// Stops accepting, lets connections finish their writes, and closes them.
    pub async fn shut_down(mut self) {
        let _ = self.stop.send(true);
        while self.listeners.join_next().await.is_some() {}
        self.shared.registry.shut_down();
        let drained = async {
            while self.shared.registry.len() > 0 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        if timeout(DRAIN, drained).await.is_err() {
            tracing::warn!(connections = self.shared.registry.len(), "connections were cut off");
        }
    }
}

impl Shared {
    pub(super) fn is_ready(&self) -> bool {
        !*self.stopping.borrow() && self.service.health.is_good()
    }

    /// Runs a connection of the service over `transport`.
    pub(super) async fn run(self, peer: IpAddr, activity: Arc<Activity>, transport: impl Transport) {
        let mailbox = Arc::new(Mailbox::default());
        let limits = &self.service.limits;
        let registered = self.registry.enter(peer, Arc::clone(&mailbox), limits);
        let span = tracing::info_span!("connection", number = registered.number(), %peer);
        let driver = Driver {
            transport,
            connection: Connection::new(Arc::clone(&self.service), Arc::clone(&mailbox)),
            mailbox,
            registered,
            activity,
            clock: Arc::clone(&self.clock),
            stalled: limits.stalled,
            watch: Watch::default(),
        };
        async {
            tracing::debug!("connected");
            driver.run().await;
            tracing::debug!("disconnected");
        }
        .instrument(span)
        .await;
    }
}

async fn accept(shared: Shared, listener: TcpListener, protocol: Protocol, tls: Option<TlsAcceptor>) {
    let mut stopping = shared.stopping.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stopping| *stopping) => return,
        };
        match accepted {
            Ok((socket, peer)) => {
                tokio::spawn(greet(shared.clone(), socket, peer.ip(), protocol, tls.clone()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: others have to leave first.
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn greet(
    shared: Shared,
    socket: TcpStream,
    peer: IpAddr,
    protocol: Protocol,
    tls: Option<TlsAcceptor>,
) {
    if let Err(error) = prepare(&socket) {
        tracing::debug!(%error, "cannot set the options of a socket");
    }
    let io = match tls {
        None => Io::plain(socket),
        Some(acceptor) => match timeout(HANDSHAKE, acceptor.accept(socket)).await {
            Ok(Ok(socket)) => Io::tls(socket),
            Ok(Err(error)) => return tracing::debug!(%error, %peer, "a TLS handshake failed"),
            Err(_) => return tracing::debug!(%peer, "a TLS handshake took too long"),
        },
    };
    match protocol {
        Protocol::WebSocket => http::serve(shared, peer, io).await,
        Protocol::ByteStream => {
            let activity = io.activity();
            shared.run(peer, activity, ByteStream::new(io)).await;
        }
    }
}

/// Small envelopes go out at once; a peer that vanished is noticed after some minutes.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(60))
        .with_interval(Duration::from_secs(20));
    socket2::SockRef::from(socket).set_tcp_keepalive(&keepalive)
}
