//! Runs every command at once, on the caller's thread.

use std::sync::{Arc, Mutex, PoisonError};

use super::writing::Writing;
use super::{Command, Executor, Reply, read};
use crate::environment::Clock;
use crate::health::Health;
use crate::hub::Hub;
use crate::storage::{Reader, Storage, StorageError};

/// For deterministic tests: when `submit` returns, the outcome was given.
pub struct InlineExecutor(Mutex<Halves>);

struct Halves {
    writing: Writing,
    reader: Box<dyn Reader>,
}

impl InlineExecutor {
    /// Takes the writing half of `storage`; commits are announced to `hub`, the end of
    /// storage to `health`.
    ///
    /// # Errors
    /// If a half cannot be had.
    pub fn new(
        storage: &dyn Storage,
        hub: Arc<Hub>,
        clock: Arc<dyn Clock>,
        health: Arc<Health>,
    ) -> Result<Self, StorageError> {
        let writing = Writing::new(storage.writer()?, hub, clock, health);
        Ok(Self(Mutex::new(Halves { writing, reader: storage.reader()? })))
    }
}

impl Executor for InlineExecutor {
    fn submit(&self, command: Command, reply: Reply) {
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match read(halves.reader.as_mut(), command) {
            Ok(outcome) => reply(outcome),
            Err(command) => {
                halves.writing.run([(command, reply)]);
                while halves.writing.is_uploading() {
                    halves.writing.step();
                }
            }
        }
    }
}
