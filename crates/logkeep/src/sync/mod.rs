//! The exchange of a journal with a server: everything pending goes up, everything new comes down,
//! for as long as it runs.
//!
//! A [`Sync`] belongs to one server. Several can share a [`Replica`], which relays entries between
//! their servers: an import from one wakes the upload to the others.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use logkeep::ids::IdSource;
//! use logkeep::sync::{Replica, Server, Sync, Until};
//! use logkeep::{Identity, Journal};
//! use logkeep_crypto::OsRandom;
//!
//! let identity = Identity::generate(&OsRandom)?;
//! let journal = Journal::open("journal", IdSource::process())?;
//! let replica = Arc::new(Replica::new(journal, identity, "notes", Arc::new(OsRandom))?);
//! let server = Server::new("wss://sync.example.com", None)?;
//! Sync::new(replica, Arc::new(server)).run(Until::CaughtUp).await?;
//! # Ok(())
//! # }
//! ```

mod backoff;
mod consume;
mod direct;
mod error;
pub mod link;
mod net;
mod open;
mod pace;
mod receive;
mod replica;
mod rpc;
mod session;
mod state;
mod upload;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use backoff::Backoff;
use consume::Consume;
use link::{Connector, Traffic};
use rpc::Rpc;
use session::Session;
use state::StateCell;
use upload::Upload;

pub use direct::{Found, RemoteStore};
pub use error::SyncError;
pub use net::{Server, ServerError};
pub use replica::{BoxReplay, Replica};
pub use state::{Notice, SyncState};

/// A connection that lived this long counts as healthy: the next failure starts with short delays.
const HEALTHY: Duration = Duration::from_secs(10);

/// How often in a row an exchange that is to end by itself fails to log in before it gives up.
const MAX_FAILURES: u32 = 3;

/// How long a stop waits for the last upload.
const FLUSH: Duration = Duration::from_secs(5);

/// How often the state is brought up to date while nothing happens.
const REFRESH: Duration = Duration::from_millis(50);

/// When a sync ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// When both sides have everything, or an error is lasting.
    CaughtUp,
    /// When it is told to.
    Stopped,
}

/// The exchange of a replica with one server.
pub struct Sync {
    replica: Arc<Replica>,
    connector: Arc<dyn Connector>,
    state: StateCell,
    stopping: watch::Sender<bool>,
}

impl Sync {
    /// An exchange that has not begun.
    pub fn new(replica: Arc<Replica>, connector: Arc<dyn Connector>) -> Self {
        Self { replica, connector, state: StateCell::new(), stopping: watch::Sender::new(false) }
    }

    /// Tells what is going on.
    pub fn state(&self) -> watch::Receiver<SyncState> {
        self.state.subscribe()
    }

    /// Asks a running exchange to end, after what is pending has been uploaded or five seconds.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Connects, exchanges, and connects again when the connection fails, with growing delays.
    ///
    /// # Errors
    /// Only with [`Until::CaughtUp`]: an error that trying again does not cure, or the third failure in
    /// a row to log in.
    pub async fn run(&self, until: Until) -> Result<(), SyncError> {
        let (mut backoff, mut failures) = (Backoff::new(), 0);
        loop {
            let start = Instant::now();
            let error = match self.connection(until).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            tracing::info!(server = self.connector.address(), "sync: {error}");
            failures = if self.state.disconnected(&error) { 0 } else { failures + 1 };
            if until == Until::CaughtUp && (error.is_lasting() || failures == MAX_FAILURES) {
                return Err(error);
            }
            if start.elapsed() > HEALTHY {
                backoff.reset();
            }
            tokio::select! {
                () = self.stopped() => return Ok(()),
                () = sleep(backoff.next(self.replica.random())) => {}
            }
        }
    }

    async fn stopped(&self) {
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// One connection from its beginning to its end.
    async fn connection(&self, until: Until) -> Result<(), SyncError> {
        let link = tokio::select! {
            () = self.stopped() => return Ok(()),
            link = self.connector.connect() => link?,
        };
        let traffic = link.traffic.clone();
        let (rpc, incoming) = Rpc::new(link);
        tokio::select! {
            biased;
            ended = rpc.run(incoming) => Err(ended.into()),
            result = self.exchange(&rpc, &traffic, until) => result,
            () = self.count(&traffic) => Ok(()),
        }
    }

    async fn exchange(&self, rpc: &Rpc, traffic: &Traffic, until: Until) -> Result<(), SyncError> {
        let session = Session::open(rpc, self.replica.identity(), self.replica.store()).await?;
        let head = self.recognize(&session).await?;
        let (gate, opened) = watch::channel(false);
        let (replica, state) = (&*self.replica, &self.state);
        let consume = Consume { session: &session, replica, state, head, gate: &gate, traffic };
        let upload = Upload { session: &session, replica, state, until };
        tokio::select! {
            failed = async { tokio::try_join!(consume.run(), upload.run(opened)) } => failed.map(|_| ()),
            done = self.done(&session, until) => done,
        }
    }

    /// Finds out whether the server is the one it was, and has what it had. Returns its head.
    async fn recognize(&self, session: &Session<'_>) -> Result<Option<i64>, SyncError> {
        let (address, now) = (self.connector.address().to_owned(), session.remote);
        let before =
            self.replica.with_journal(move |journal| journal.remember_server(&address, now)).await??;
        if let Some(before) = before {
            self.state.notice(Notice::ServerChanged { before, now });
        }
        let head = session.head().await?;
        let cursor = self.replica.with_journal(move |journal| journal.next_sequence(now)).await??;
        let seen = i64::try_from(cursor).unwrap_or(i64::MAX) - 1;
        if let Some(head) = head.filter(|head| cursor > session.first_sequence && seen > *head) {
            self.replica.with_journal(move |journal| journal.forget_progress(now)).await??;
            self.state.notice(Notice::WentBack { head, seen });
        }
        let pending = self.replica.with_journal(move |journal| journal.pending_count(now)).await??;
        self.state.update(|state| {
            (state.connected, state.caught_up) = (true, false);
            (state.remote, state.head) = (Some(now), head.and_then(|head| u64::try_from(head).ok()));
            (state.pending, state.cursor, state.last_error) = (pending, 0, None);
        });
        Ok(head)
    }

    /// Waits until the exchange may end.
    async fn done(&self, session: &Session<'_>, until: Until) -> Result<(), SyncError> {
        let mut state = self.state();
        let caught_up = async {
            if until == Until::Stopped {
                std::future::pending::<()>().await;
            }
            let _ = state.wait_for(|state| state.caught_up).await;
            self.uploaded(session).await
        };
        tokio::select! {
            done = caught_up => done,
            () = self.stopped() => timeout(FLUSH, self.uploaded(session)).await.unwrap_or(Ok(())),
        }
    }

    async fn uploaded(&self, session: &Session<'_>) -> Result<(), SyncError> {
        let remote = session.remote;
        while self.replica.with_journal(move |journal| journal.pending_count(remote)).await?? > 0 {
            sleep(REFRESH).await;
        }
        Ok(())
    }

    /// Keeps the byte counts of the state up to date, for ever.
    async fn count(&self, traffic: &Traffic) {
        let (mut received, mut sent) = (0, 0);
        loop {
            sleep(REFRESH * 4).await;
            let now = (traffic.received.load(Ordering::Relaxed), traffic.sent.load(Ordering::Relaxed));
            if now != (received, sent) {
                self.state.update(|state| {
                    state.bytes_received += now.0 - received;
                    state.bytes_sent += now.1 - sent;
                });
            }
            (received, sent) = now;
        }
    }
}

impl std::fmt::Debug for Sync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sync").field("server", &self.connector.address()).finish_non_exhaustive()
    }
}
