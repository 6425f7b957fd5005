//! `logkeep log sync`: the device's journal and a server, both ways.

use std::sync::Arc;

use clap::Args;
use logkeep::sync::{Replica, Sync, SyncError, SyncState, Until};
use logkeep_crypto::OsRandom;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use super::{Remote, progress, runtime};
use crate::device::Device;
use crate::failure::Failure;
use crate::output;

/// The options of `logkeep log sync`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  logkeep log sync --remote wss://sync.example.com --store notes --once\n\nThe journal belongs to the store and identity it is first synced with, and refuses others.\nWithout --once the command runs until it is interrupted, and uploads what is pending before it ends."
)]
pub(super) struct Options {
    #[command(flatten)]
    remote: Remote,

    /// End when both sides have everything
    #[arg(long)]
    once: bool,
}

/// The state of a sync in JSON.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    connected: bool,
    caught_up: bool,
    remote_id: Option<String>,
    cursor: u64,
    pending: u64,
    received: u64,
    uploaded: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
}

pub(super) fn run(options: &Options, device: &Device, json: bool) -> Result<(), Failure> {
    let server = options.remote.server()?;
    let (identity, journal) = (device.identity()?, device.journal()?);
    let replica = Replica::new(journal, identity, &options.remote.store, Arc::new(OsRandom));
    let sync = Sync::new(Arc::new(replica.map_err(Failure::new)?), server);
    let until = if options.once { Until::CaughtUp } else { Until::Stopped };
    runtime()?.block_on(async {
        tokio::select! {
            result = sync.run(until) => result.map_err(Failure::new),
            failed = stop_on_signal(&sync) => Err(failed),
            failed = report(&sync, json && !options.once) => Err(failed),
        }
    })?;
    let state = sync.state().borrow().clone();
    if json {
        return output::json(&Line::of(&state)).map(drop);
    }
    summary(&state)
}

fn summary(state: &SyncState) -> Result<(), Failure> {
    let SyncState { received, uploaded, cursor, pending, .. } = state;
    output::line(&format!(
        "received {received}, uploaded {uploaded}, next sequence {cursor}, {pending} pending"
    ))
    .map(drop)
}

/// Ends the sync at the first signal; returns only if there are no signals to be had.
async fn stop_on_signal(sync: &Sync) -> Failure {
    let (mut terminate, mut interrupt) =
        match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
            (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
            (Err(error), _) | (_, Err(error)) => {
                return Failure::new(format_args!("cannot wait for signals: {error}"));
            }
        };
    loop {
        tokio::select! {
            _ = terminate.recv() => sync.stop(),
            _ = interrupt.recv() => sync.stop(),
        }
    }
}

/// Shows what is going on, as a bar for people or as lines; returns only if it cannot.
async fn report(sync: &Sync, lines: bool) -> Failure {
    let bar = progress::bar("syncing");
    let (mut states, mut last) = (sync.state(), None);
    loop {
        let state = states.borrow_and_update().clone();
        show(&bar, &state);
        let line = Line::of(&state);
        if lines && last.as_ref() != Some(&line) {
            if let Err(failure) = output::json(&line) {
                return failure;
            }
            last = Some(line);
        }
        if states.changed().await.is_err() {
            return Failure::new(SyncError::Failed("the sync ended".to_owned()));
        }
        // Not more often than an eye can follow.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

fn show(bar: &indicatif::ProgressBar, state: &SyncState) {
    let down = state.head.map_or(0, |head| (head + 1).saturating_sub(state.cursor));
    bar.set_length(state.received + state.uploaded + down + state.pending);
    bar.set_position(state.received + state.uploaded);
    let message = match (&state.last_error, state.connected) {
        (Some(error), _) => error.to_string(),
        (None, false) => "connecting".to_owned(),
        (None, true) if state.caught_up && state.pending == 0 => "up to date".to_owned(),
        (None, true) => format!("{} up, {down} down to go", state.pending),
    };
    bar.set_message(message);
}

impl Line {
    fn of(state: &SyncState) -> Self {
        Self {
            connected: state.connected,
            caught_up: state.caught_up,
            remote_id: state.remote.map(|remote| format!("{remote:?}")),
            cursor: state.cursor,
            pending: state.pending,
            received: state.received,
            uploaded: state.uploaded,
            error: state.last_error.as_deref().map(str::to_owned),
            notices: state.notices.iter().map(ToString::to_string).collect(),
        }
    }
}
