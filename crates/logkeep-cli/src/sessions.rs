//! `logkeep sessions`: sessions of coding agents, taken over and kept.

mod export;
mod import;
mod list;
mod relink;
mod show;

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use etcetera::BaseStrategy;
use logkeep_sessions::store::SessionStore;

use crate::failure::Failure;

/// Take over sessions of coding agents, and look at them
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// Where this device keeps its state [default: the platform's data directory]
    #[arg(long, global = true, value_name = "DIR", env = "LOGKEEP_DATA")]
    data: Option<PathBuf>,
    /// Print JSON, one object a line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::Import),
    List(list::List),
    Show(show::Show),
    Export(export::Export),
    Relink(relink::Relink),
}

/// What a command works with.
struct Context {
    data: PathBuf,
    json: bool,
}

type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Runs a command and prints its failure.
pub(crate) fn run(arguments: Sessions) -> ExitCode {
    match execute(arguments) {
        Ok(code) => code,
        // Whoever read the output has seen enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => Failure::new(error).report(),
    }
}

fn execute(arguments: Sessions) -> Outcome {
    let data = arguments.data.or_else(default_data).ok_or("no data directory is known; give --data DIR")?;
    let context = Context { data, json: arguments.json };
    match arguments.command {
        Command::Import(command) => import::run(&command, &context),
        Command::List(command) => list::run(&command, &context),
        Command::Show(command) => show::run(&command, &context),
        Command::Export(command) => export::run(&command, &context),
        Command::Relink(command) => relink::run(&command, &context),
    }
}

impl Context {
    fn store(&self) -> Result<SessionStore, Box<dyn Error>> {
        Ok(SessionStore::open(&self.data)?)
    }
}

/// `logkeep/device` in the platform's folder for application data.
fn default_data() -> Option<PathBuf> {
    let platform = etcetera::choose_base_strategy().ok()?;
    Some(platform.data_dir().join("logkeep/device"))
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
