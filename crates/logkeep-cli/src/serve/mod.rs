//! `logkeep serve`: puts the parts of a server together and runs it until a signal.

mod allocator;
mod options;
mod size;

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy;
use logkeep_protocol::RemoteId;
use logkeep_server::environment::{Random, System};
use logkeep_server::executor::ThreadedExecutor;
use logkeep_server::health::Health;
use logkeep_server::hub::Hub;
use logkeep_server::net::{Protocol, Server, tls};
use logkeep_server::service::Service;
use logkeep_server::storage::Storage;
use logkeep_server::storage::sqlite::{self, Durability, SqliteStorage};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use self::options::LogFormat;
pub(crate) use self::options::Options;
use crate::failure::Failure;

/// Threads that read the database.
const READERS: usize = 2;

/// Runs the server until it is told to stop.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    allocator::give_memory_back();
    start_logging(options.log_format);
    let limits = options.limits().map_err(Failure::usage)?;
    let tls = match (&options.tls_cert, &options.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::acceptor(certificate, key).map_err(Failure::new)?),
        _ => None,
    };
    let (storage, directory) = open_storage(options)?;
    let health = Arc::new(Health::default());
    let hub = Arc::new(Hub::default());
    let clock = Arc::new(System);
    let executor =
        ThreadedExecutor::start(&storage, READERS, Arc::clone(&hub), clock.clone(), health.clone())
            .map_err(Failure::new)?;
    let remote_id = storage.remote_id();
    let service = Service {
        remote_id,
        executor: Arc::new(executor),
        hub,
        random: Arc::new(System),
        limits,
        spool_directory: directory,
        health: health.clone(),
        memory: Arc::default(),
        sending: Arc::default(),
    };
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::new)?;
    let result = runtime.block_on(async {
        let mut server = Server::new(Arc::new(service), clock);
        let encrypted = tls.is_some();
        // Before anybody is told: who sees the first line may send a signal at once.
        let signals = Signals::catch()?;
        listen(&mut server, options, tls).await?;
        tracing::info!(?remote_id, open_files = raise_file_limit(), "serving");
        warn_of_risks(options, encrypted);
        let stopped = wait(signals, &health).await;
        server.shut_down().await;
        stopped
    });
    // Whatever connections were cut off are dropped here, and with the last of them the executor, which
    // finishes what it was given.
    drop(runtime);
    result
}

async fn listen(
    server: &mut Server,
    options: &Options,
    tls: Option<tokio_rustls::TlsAcceptor>,
) -> Result<(), Failure> {
    let scheme = if tls.is_some() { "wss" } else { "ws" };
    let address = bind(server, options.listen, Protocol::WebSocket, tls.clone()).await?;
    let mut lines = vec![format!("listening on {scheme}://{address}")];
    if let Some(address) = options.listen_tcp {
        let scheme = if tls.is_some() { "tls" } else { "tcp" };
        let address = bind(server, address, Protocol::ByteStream, tls).await?;
        lines.push(format!("listening on {scheme}://{address}"));
    }
    lines.iter().try_for_each(|line| announce(line))
}

async fn bind(
    server: &mut Server,
    address: SocketAddr,
    protocol: Protocol,
    tls: Option<tokio_rustls::TlsAcceptor>,
) -> Result<SocketAddr, Failure> {
    let bound = server.listen(address, protocol, tls).await;
    bound.map_err(|error| Failure::new(format_args!("cannot listen on {address}: {error}")))
}

/// A line on stdout, for whoever started the server.
fn announce(line: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    written.map_err(|error| Failure::new(format_args!("cannot write to stdout: {error}")))
}

/// The signals that ask the server to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn catch() -> Result<Self, Failure> {
        let failed = |error| Failure::new(format_args!("cannot wait for signals: {error}"));
        let catch = |kind| signal(kind).map_err(failed);
        Ok(Self { terminate: catch(SignalKind::terminate())?, interrupt: catch(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Waits for a signal, after which a second one ends the process at once, or for storage to fail for good.
async fn wait(mut signals: Signals, health: &Health) -> Result<(), Failure> {
    tokio::select! {
        () = signals.next() => {}
        reason = health.failed() => {
            return Err(Failure::new(format_args!("storage stopped: {reason}")));
        }
    }
    tracing::info!("shutting down");
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(1);
    });
    Ok(())
}

/// Opens the storage; gives the directory for temporary files as well.
fn open_storage(options: &Options) -> Result<(SqliteStorage, Option<PathBuf>), Failure> {
    let mut fresh = [0; 16];
    System.fill(&mut fresh).map_err(Failure::new)?;
    // A random UUID, version 4 (EL-015).
    fresh[6] = fresh[6] & 0x0f | 0x40;
    fresh[8] = fresh[8] & 0x3f | 0x80;
    let fresh = RemoteId(fresh);
    if options.data.as_deref() == Some(Path::new(":memory:")) {
        return Ok((SqliteStorage::in_memory(fresh).map_err(Failure::new)?, None));
    }
    let directory = match &options.data {
        Some(directory) => directory.clone(),
        None => default_directory()?,
    };
    let sqlite_options = sqlite::Options { durability: options.durability() };
    let storage = SqliteStorage::open(&directory, sqlite_options, fresh).map_err(Failure::new)?;
    Ok((storage, Some(directory)))
}

fn default_directory() -> Result<PathBuf, Failure> {
    let platform = etcetera::choose_base_strategy()
        .map_err(|error| Failure::new(format_args!("{error}; name a data directory with --data")))?;
    Ok(platform.data_dir().join("logkeep").join("server"))
}

fn warn_of_risks(options: &Options, encrypted: bool) {
    let addresses = [Some(options.listen), options.listen_tcp];
    let reachable = addresses.into_iter().flatten().find(|address| !address.ip().is_loopback());
    if let Some(address) = reachable.filter(|_| !encrypted) {
        tracing::warn!(%address, "other machines can connect, and without TLS the network sees who talks to whom");
    }
    if options.durability() == Durability::Relaxed {
        tracing::warn!("relaxed durability: a power cut may lose writes that were acknowledged");
    }
}

/// Allows as many open files, and so connections, as this process may have; gives their number.
fn raise_file_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "cannot raise the limit of open files");
            limit.current
        }
    }
}

fn start_logging(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let subscriber = subscriber.with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().init(),
    }
}
