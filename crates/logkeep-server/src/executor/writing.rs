//! The writing side of every executor: groups of writes, and uploads between them.

use std::collections::VecDeque;
use std::sync::Arc;

use logkeep_protocol::Scope;

use super::{Command, Outcome, Reply};
use crate::environment::Clock;
use crate::health::Health;
use crate::hub::Hub;
use crate::storage::{StorageError, Write, Writer, Written};

/// Owns the writing half. Commits are answered first and then published.
pub(super) struct Writing {
    writer: Box<dyn Writer>,
    hub: Arc<Hub>,
    clock: Arc<dyn Clock>,
    health: Arc<Health>,
    uploading: Option<(Scope, Reply)>,
    /// What has to wait until the upload is over.
    waiting: VecDeque<(Command, Reply)>,
    /// Whether the storage may have work that is left over: at the start, and after each upload.
    untidy: bool,
}

impl Writing {
    pub(super) fn new(
        writer: Box<dyn Writer>,
        hub: Arc<Hub>,
        clock: Arc<dyn Clock>,
        health: Arc<Health>,
    ) -> Self {
        Self { writer, hub, clock, health, uploading: None, waiting: VecDeque::new(), untidy: true }
    }

    /// Whether [`Writing::step`] has something to do.
    pub(super) const fn is_uploading(&self) -> bool {
        self.uploading.is_some()
    }

    /// Whether [`Writing::tidy`] may have something to do.
    pub(super) const fn is_untidy(&self) -> bool {
        self.untidy
    }

    /// Does some of the work that is left over.
    pub(super) fn tidy(&mut self) {
        self.untidy = self.writer.tidy().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot tidy the storage");
            false
        });
    }

    /// Runs commands in their order: all writes before the first other command in one transaction.
    pub(super) fn run(&mut self, commands: impl IntoIterator<Item = (Command, Reply)>) {
        let mut group = Vec::new();
        for (command, reply) in commands {
            if self.must_wait(&command) {
                self.waiting.push_back((command, reply));
                continue;
            }
            match command {
                Command::Write(write) => group.push((write, reply)),
                other => {
                    self.write(std::mem::take(&mut group));
                    self.run_single(other, reply);
                }
            }
        }
        self.write(group);
    }

    /// Stores the next slice of the upload that is under way.
    pub(super) fn step(&mut self) {
        let result = match self.writer.upload_step(self.clock.now()) {
            Ok(None) => return,
            Ok(Some(written)) => Ok(written),
            Err(error) => Err(error),
        };
        self.untidy = true;
        if let Some((scope, reply)) = self.uploading.take() {
            self.answer(&scope, result, reply);
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.run(waiting);
    }

    fn must_wait(&self, command: &Command) -> bool {
        let Some((scope, _)) = &self.uploading else { return false };
        match command {
            Command::Write(write) => write.scope == *scope,
            Command::Upload(_) => true,
            _ => false,
        }
    }

    fn run_single(&mut self, command: Command, reply: Reply) {
        match command {
            Command::Bind { public_key, signing_key } => {
                reply(Outcome::Bound(self.writer.bind(&public_key, signing_key)));
            }
            Command::Upload(upload) => {
                let scope = upload.scope.clone();
                match self.writer.upload(upload) {
                    Ok(()) => self.uploading = Some((scope, reply)),
                    Err(error) => reply(Outcome::Written(Err(error))),
                }
            }
            Command::Write(write) => self.write(vec![(write, reply)]),
            // Reading commands never come here.
            Command::Binding { .. } | Command::Head(_) | Command::Page { .. } | Command::Slice { .. } => {}
        }
    }

    fn write(&mut self, group: Vec<(Write, Reply)>) {
        if group.is_empty() {
            return;
        }
        let (writes, waiting): (Vec<_>, Vec<_>) = group
            .into_iter()
            .map(|(write, reply)| {
                let scope = write.scope.clone();
                (write, (scope, reply))
            })
            .unzip();
        let results = self.writer.write(writes, self.clock.now());
        for (result, (scope, reply)) in results.into_iter().zip(waiting) {
            self.answer(&scope, result, reply);
        }
    }

    fn answer(&self, scope: &Scope, result: Result<Written, StorageError>, reply: Reply) {
        if let Err(StorageError::Poisoned(reason)) = &result {
            self.health.fail(reason);
        }
        // The writer's own connection must know which batches are its own before a stream brings them.
        let published = result.as_ref().ok().cloned();
        reply(Outcome::Written(result));
        if let Some(published) = published {
            self.hub.publish(scope, &published);
        }
    }
}
