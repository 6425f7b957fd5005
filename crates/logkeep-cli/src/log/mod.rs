//! `logkeep log`: what is in a log, on this device and on servers.

mod append;
mod effect;
mod progress;
mod schemas;
mod sync;
mod tail;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use logkeep::sync::{Server, ServerError};
use tokio::runtime::{Builder, Runtime};
use tracing_subscriber::EnvFilter;

use crate::device::Device;
use crate::failure::Failure;

/// The options of `logkeep log`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    device: Device,

    /// Print JSON, one object a line
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add one entry to a log on a server
    Append(append::Options),
    /// Print the entries of a log on a server
    Tail(tail::Options),
    /// Exchange entries between this device's journal and a server
    Sync(sync::Options),
    /// Take over the SQLite journal of an app built on effect
    ImportEffect(effect::ImportOptions),
    /// Write this device's journal as a SQLite journal for an app built on effect
    ExportEffect(effect::ExportOptions),
}

/// A log on a server.
#[derive(Debug, Args)]
struct Remote {
    /// The server: ws://HOST[:PORT], wss://HOST[:PORT] or tcp://HOST:PORT
    #[arg(long, value_name = "URL", env = "LOGKEEP_REMOTE")]
    remote: String,

    /// The name of the log
    #[arg(long, value_name = "NAME", env = "LOGKEEP_STORE")]
    store: String,

    /// Trust the certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", env = "LOGKEEP_CA")]
    ca: Option<PathBuf>,
}

impl Remote {
    fn server(&self) -> Result<Arc<Server>, Failure> {
        match Server::new(&self.remote, self.ca.as_deref()) {
            Ok(server) => Ok(Arc::new(server)),
            Err(error @ ServerError::Url(_)) => Err(Failure::usage(error)),
            Err(error) => Err(Failure::new(error)),
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    start_logging();
    let (device, json) = (&options.device, options.json);
    match &options.command {
        Command::Append(options) => append::run(options, device, json),
        Command::Tail(options) => tail::run(options, device, json),
        Command::Sync(options) => sync::run(options, device, json),
        Command::ImportEffect(options) => effect::import(options, device, json),
        Command::ExportEffect(options) => effect::export(options, device, json),
    }
}

/// Warnings go to stderr; RUST_LOG asks for more.
fn start_logging() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let ansi = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi).init();
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(Failure::new)
}
