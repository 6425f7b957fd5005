//! A server in this process, on free ports of the loopback.
#![allow(unreachable_pub)]

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use logkeep::RemoteId;
use logkeep_server::environment::System;
use logkeep_server::executor::ThreadedExecutor;
use logkeep_server::health::Health;
use logkeep_server::hub::Hub;
use logkeep_server::limits::Limits;
use logkeep_server::net::{Protocol, Server, tls};
use logkeep_server::service::Service;
use logkeep_server::storage::Storage;
use logkeep_server::storage::sqlite::{Durability, Options, SqliteStorage};

/// A server and its addresses.
pub struct TestServer {
    pub ws: SocketAddr,
    pub tcp: SocketAddr,
    pub wss: SocketAddr,
    running: Option<Server>,
}

impl TestServer {
    /// Starts on an empty or used directory; `fresh` is the remote id of an empty one.
    pub async fn start(directory: &Path, fresh: u8) -> Self {
        Self::start_at(directory, fresh, [0, 0, 0]).await
    }

    async fn start_at(directory: &Path, fresh: u8, [ws, tcp, wss]: [u16; 3]) -> Self {
        let options = Options { durability: Durability::Relaxed };
        let storage = SqliteStorage::open(directory, options, RemoteId([fresh; 16])).unwrap();
        let mut server = Server::new(Arc::new(service(&storage, directory)), Arc::new(System));
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let ws = server.listen(address(ws), Protocol::WebSocket, None).await.unwrap();
        let tcp = server.listen(address(tcp), Protocol::ByteStream, None).await.unwrap();
        let tls = tls::acceptor(&fixture("server.pem"), &fixture("server.key")).unwrap();
        let wss = server.listen(address(wss), Protocol::WebSocket, Some(tls)).await.unwrap();
        Self { ws, tcp, wss, running: Some(server) }
    }

    pub fn url(&self) -> String {
        format!("ws://{}/log", self.ws)
    }

    pub async fn stop(&mut self) {
        if let Some(server) = self.running.take() {
            server.shut_down().await;
        }
    }

    /// Starts again at the same addresses, on the same directory or another.
    pub async fn restart(&mut self, directory: &Path, fresh: u8) {
        self.stop().await;
        *self = Self::start_at(directory, fresh, [self.ws.port(), self.tcp.port(), self.wss.port()]).await;
    }
}

/// A file of the test certificates: an authority, and a server certificate of it for `localhost`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

fn service(storage: &SqliteStorage, directory: &Path) -> Service {
    let (hub, health) = (Arc::new(Hub::default()), Arc::new(Health::default()));
    let executor =
        ThreadedExecutor::start(storage, 1, hub.clone(), Arc::new(System), health.clone()).unwrap();
    Service {
        remote_id: storage.remote_id(),
        executor: Arc::new(executor),
        hub,
        random: Arc::new(System),
        limits: Limits::default(),
        spool_directory: Some(directory.to_owned()),
        health,
        memory: Arc::default(),
        sending: Arc::default(),
    }
}
