//! The `logkeep` command.

mod device;
mod documents;
mod failure;
mod generate;
mod identity;
mod log;
mod output;
mod serve;
mod sessions;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

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
    /// Make, show and move the identity of this device
    Identity(identity::Options),
    /// Read, write and sync logs
    Log(log::Options),
    Documents(documents::Documents),
    Sessions(sessions::Sessions),
    /// Print a completion script for a shell
    Completions(generate::CompletionOptions),
    /// Write the manual pages
    Man(generate::ManOptions),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    let result = match cli.command {
        Command::Serve(options) => serve::run(&options),
        Command::Identity(options) => identity::run(&options),
        Command::Log(options) => log::run(&options),
        Command::Completions(options) => generate::completions(&options, Cli::command()),
        Command::Man(options) => generate::man(&options, Cli::command()),
        Command::Documents(arguments) => return documents::run(arguments),
        Command::Sessions(arguments) => return sessions::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
