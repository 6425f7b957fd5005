//! What all connections of a server share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use logkeep_protocol::RemoteId;

use crate::environment::Random;
use crate::executor::Executor;
use crate::health::Health;
use crate::hub::Hub;
use crate::limits::Limits;
use crate::memory::Memory;

/// All streams together hold about so many bytes of Chunks, beside the small ones each may have.
const CHUNK_MEMORY: usize = 16 * 1024 * 1024;

/// The parts of a server, put together by whoever starts it.
pub struct Service {
    /// The storage's id, as Hello answers it.
    pub remote_id: RemoteId,
    /// Runs storage commands.
    pub executor: Arc<dyn Executor>,
    /// Announces commits.
    pub hub: Arc<Hub>,
    /// Makes challenges.
    pub random: Arc<dyn Random>,
    /// What clients may do.
    pub limits: Limits,
    /// Where large uploads wait for their last part; the system's temporary directory if `None`.
    pub spool_directory: Option<PathBuf>,
    /// Whether storage still works.
    pub health: Arc<Health>,
    /// What streams keep while they wait for an Ack.
    pub memory: Arc<Memory>,
    /// How many streams have a large Chunk on the way.
    pub sending: Arc<AtomicUsize>,
}

impl Service {
    /// The most bytes a Chunk may have now: less, the more streams are sending.
    pub fn chunk_ceiling(&self) -> usize {
        CHUNK_MEMORY / self.sending.load(Ordering::Relaxed).max(1)
    }

    /// Counts a large Chunk until the result is dropped.
    pub fn begin_sending(&self) -> Sending {
        self.sending.fetch_add(1, Ordering::Relaxed);
        Sending(Arc::clone(&self.sending))
    }
}

/// A large Chunk that is on its way.
pub struct Sending(Arc<AtomicUsize>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
