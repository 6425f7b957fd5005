//! One thread that writes, some that read.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::writing::Writing;
use super::{Command, Executor, Reply, read};
use crate::environment::Clock;
use crate::health::Health;
use crate::hub::Hub;
use crate::storage::{Batch, Reader, Storage, StorageError};

/// Commands in one transaction at most, and the bytes after which a transaction takes no more.
const GROUP_COMMANDS: usize = 4096;
const GROUP_BYTES: usize = 16 * 1024 * 1024;

type Job = (Command, Reply);

/// The executor of a server. Dropping it finishes what was submitted and then ends its threads.
pub struct ThreadedExecutor {
    writes: Option<Sender<Job>>,
    reads: Option<Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
}

impl ThreadedExecutor {
    /// Starts the writing thread and `readers` reading threads on `storage`; commits are announced to `hub`, the end of
    /// storage to `health`.
    ///
    /// # Errors
    /// If a half of the storage or a thread cannot be had.
    pub fn start(
        storage: &dyn Storage,
        readers: usize,
        hub: Arc<Hub>,
        clock: Arc<dyn Clock>,
        health: Arc<Health>,
    ) -> Result<Self, StorageError> {
        let (writes, write_queue) = channel();
        let (reads, read_queue) = channel();
        let writing = Writing::new(storage.writer()?, hub, clock, health);
        let writer = spawn("storage-writer", move || write_loop(writing, &write_queue))?;
        let read_queue = Arc::new(Mutex::new(read_queue));
        let read = |_| {
            let reader = storage.reader()?;
            let queue = Arc::clone(&read_queue);
            spawn("storage-reader", move || read_loop(reader, &queue))
        };
        let readers = (0..readers).map(read).collect::<Result<_, _>>()?;
        Ok(Self { writes: Some(writes), reads: Some(reads), writer: Some(writer), readers })
    }
}

impl Executor for ThreadedExecutor {
    fn submit(&self, command: Command, reply: Reply) {
        let queue = if command.changes() { &self.writes } else { &self.reads };
        if let Some(queue) = queue {
            // A thread ends before its queue only if it panicked; the connection then gets no answer, and
            // the panic has been reported.
            let _ = queue.send((command, reply));
        }
    }
}

impl Drop for ThreadedExecutor {
    fn drop(&mut self) {
        // The writer last: whichever connection to a database is closed last applies the write-ahead log, and
        // of two that are closed at once neither does.
        self.reads = None;
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        self.writes = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StorageError> {
    let failed = |error: std::io::Error| StorageError::Failed(format!("cannot start a thread: {error}"));
    Builder::new().name(name.into()).spawn(run).map_err(failed)
}

fn write_loop(mut writing: Writing, queue: &Receiver<Job>) {
    loop {
        let first = if writing.is_uploading() || writing.is_untidy() {
            match queue.try_recv() {
                Ok(job) => Some(job),
                // The upload under way was submitted before the end, so it is finished.
                Err(TryRecvError::Disconnected) if !writing.is_uploading() => return,
                Err(_) => None,
            }
        } else {
            match queue.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            }
        };
        if let Some(first) = first {
            writing.run(group(first, queue));
        }
        if writing.is_uploading() {
            writing.step();
        } else if writing.is_untidy() {
            writing.tidy();
        }
    }
}

/// Everything that has come in while the last transaction was committed.
fn group(first: Job, queue: &Receiver<Job>) -> Vec<Job> {
    let mut bytes = size(&first.0);
    let mut jobs = vec![first];
    while jobs.len() < GROUP_COMMANDS && bytes < GROUP_BYTES {
        let Ok(job) = queue.try_recv() else { break };
        bytes += size(&job.0);
        jobs.push(job);
    }
    jobs
}

fn size(command: &Command) -> usize {
    let batch = |batch: &Batch| batch.sealed.len() + batch.entry_ids.len();
    match command {
        Command::Write(write) => write.batches.iter().map(batch).sum(),
        _ => 0,
    }
}

fn read_loop(mut reader: Box<dyn Reader>, queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((command, reply)) = job else { return };
        if let Ok(outcome) = read(reader.as_mut(), command) {
            reply(outcome);
        }
    }
}
