//! The `logkeep` command.

mod documents;
mod failure;
mod serve;
mod sessions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Keeps a log of what happened on your devices and carries it between them, encrypted.
#[derive(Debug, Parser)]
#[command(name = "logkeep", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the sync server: it stores ciphertext and streams changes
    Serve(serve::Options),
    Documents(documents::Documents),
    Sessions(sessions::Sessions),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    match cli.command {
        Command::Serve(options) => {
            serve::run(&options).map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
        }
        Command::Documents(arguments) => documents::run(arguments),
        Command::Sessions(arguments) => sessions::run(arguments),
    }
}
