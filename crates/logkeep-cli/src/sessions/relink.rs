//! `logkeep sessions relink`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use logkeep_sessions::json::Json;
use logkeep_sessions::store::RelinkOptions;

use super::{Context, Outcome};

/// File sessions under the project their directory belongs to today
///
/// A project's id changes with its git history; sessions then seem to be gone
/// although their directory is the same.
#[derive(Debug, Args)]
pub(super) struct Relink {
    /// Only sessions of this directory
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// File them under this project, instead of the one that covers their directory
    #[arg(long, value_name = "PROJECT", requires = "directory")]
    to: Option<String>,
    /// Tell what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(command: &Relink, context: &Context) -> Outcome {
    let options = RelinkOptions {
        directory: command.directory.clone(),
        project: command.to.clone(),
        dry_run: command.dry_run,
    };
    let moves = context.store()?.relink(&options)?;
    let mut out = io::stdout().lock();
    for moved in &moves {
        if context.json {
            let line = Json::object([
                ("id", Json::from(moved.session.as_str())),
                ("directory", Json::from(moved.directory.as_str())),
                ("from", Json::from(moved.from.as_str())),
                ("to", Json::from(moved.to.as_str())),
            ]);
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{} ({}): {} -> {}", moved.session, moved.directory, moved.from, moved.to)?;
        }
    }
    if !context.json {
        writeln!(out, "{} sessions {}", moves.len(), if command.dry_run { "would move" } else { "moved" })?;
    }
    Ok(ExitCode::SUCCESS)
}
