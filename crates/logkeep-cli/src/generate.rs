//! `logkeep completions` and `logkeep man`: what shells and manuals need to know.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::device::about;
use crate::failure::Failure;

/// The options of `logkeep completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  logkeep completions bash > ~/.local/share/bash-completion/completions/logkeep"
)]
pub(crate) struct CompletionOptions {
    /// The shell to write completions for
    shell: Shell,
}

/// The options of `logkeep man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  logkeep man ~/.local/share/man/man1")]
pub(crate) struct ManOptions {
    /// Where the pages go, one for each command; made if it is missing
    directory: PathBuf,
}

/// Prints a completion script.
pub(crate) fn completions(options: &CompletionOptions, mut command: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "logkeep", &mut script);
    match io::Write::write_all(&mut io::stdout().lock(), &script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(error)),
        _ => Ok(()),
    }
}

/// Writes the manual pages.
pub(crate) fn man(options: &ManOptions, command: Command) -> Result<(), Failure> {
    let directory = &options.directory;
    std::fs::create_dir_all(directory).map_err(about(directory))?;
    clap_mangen::generate_to(command, directory).map_err(about(directory))
}
