//! The `logkeep` command.

mod documents;
mod sessions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Logkeep keeps a log of what happened on your devices and carries it between them.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Documents(documents::Documents),
    Sessions(sessions::Sessions),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Documents(arguments) => documents::run(arguments),
        Command::Sessions(arguments) => sessions::run(arguments),
    }
}
