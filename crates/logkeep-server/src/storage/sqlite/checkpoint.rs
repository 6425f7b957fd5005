//! Keeping the write-ahead log short.
//!
//! A thread of its own copies committed pages into the database file while the writer goes on appending. Only
//! when all of the log is copied and nobody reads it does it begin anew, which under constant load never
//! happens by itself; so once the log is long the writer copies the rest and begins it anew.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::Options;
use super::open::open_writer;
use crate::storage::StorageError;

/// How many pages are written to the log until the thread copies them: 4 MiB.
const COPY_PAGES: u32 = 512;
/// How many pages the log holds when the writer begins it anew: 24 MiB.
const LONG_PAGES: u32 = 3_072;
/// How many pages it may hold at most before writes are refused: 48 MiB. A single group may exceed it.
const MAX_PAGES: u32 = 6_144;

/// Why nothing may be acknowledged any more, once a sync to disk has failed anywhere.
pub(super) type Poison = Arc<OnceLock<String>>;

/// The writer's side.
pub(super) struct Checkpoints {
    /// How many pages the log holds; counted by SQLite's hook after each commit.
    pages: Arc<AtomicU32>,
    copied_at: u32,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Held by whoever checkpoints: SQLite does not wait for another checkpoint.
    turn: Arc<Mutex<()>>,
}

impl Checkpoints {
    /// Takes over checkpointing for the database at `path`, which `writer` writes to.
    pub(super) fn start(
        writer: &mut Connection,
        path: &Path,
        options: &Options,
        poison: Poison,
    ) -> Result<Self, StorageError> {
        let pages = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&pages);
        writer.wal_hook(Some(move |_: &mut _, pages| {
            counter.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        let copier = open_writer(path, options)?;
        let turn = Arc::new(Mutex::new(()));
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("checkpoint".into())
            .spawn({
                let turn = Arc::clone(&turn);
                move || copy_when_woken(&copier, &woken, &turn, &poison)
            })
            .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { pages, copied_at: 0, wake: Some(wake), thread: Some(thread), turn })
    }

    /// To be called after each commit.
    pub(super) fn after_commit(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.copied_at {
            self.copied_at = 0;
        }
        if pages >= self.copied_at + COPY_PAGES
            && let Some(wake) = &self.wake
        {
            self.copied_at = pages;
            // If it is still at work it will find these pages, too, the next time.
            let _ = wake.try_send(());
        }
    }

    /// To be called before each transaction.
    pub(super) fn before_transaction(&self, writer: &Connection) -> Result<(), StorageError> {
        if self.pages.load(Ordering::Relaxed) < LONG_PAGES {
            return Ok(());
        }
        let begun_anew = {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            checkpoint(writer, "RESTART")
        };
        match begun_anew {
            Ok(true) => self.pages.store(0, Ordering::Relaxed),
            Err(poison @ StorageError::Poisoned(_)) => return Err(poison),
            problem if self.pages.load(Ordering::Relaxed) >= MAX_PAGES => {
                let reason = problem.err().map_or_else(|| "it is being read".to_owned(), |e| e.to_string());
                return Err(StorageError::Failed(format!("the write-ahead log cannot be emptied: {reason}")));
            }
            Ok(false) | Err(_) => {}
        }
        Ok(())
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by itself.
            let _ = thread.join();
        }
    }
}

fn copy_when_woken(copier: &Connection, woken: &Receiver<()>, turn: &Mutex<()>, poison: &Poison) {
    while woken.recv().is_ok() {
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        match checkpoint(copier, "PASSIVE") {
            Ok(_) => {}
            Err(StorageError::Poisoned(reason)) => {
                let _ = poison.set(reason);
                return;
            }
            Err(error) => tracing::warn!(%error, "cannot copy the write-ahead log into the database"),
        }
    }
}

/// Runs a checkpoint; `false` if something that was being read or written kept it from being complete.
fn checkpoint(db: &Connection, mode: &str) -> Result<bool, StorageError> {
    let busy: bool =
        db.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?.query_row([], |row| row.get(0))?;
    Ok(!busy)
}
