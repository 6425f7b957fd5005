//! How a command ends that could not do its work.

use std::fmt::Display;
use std::process::ExitCode;

/// One line for a person, and an exit status: 1 for a failure, 2 for a command that makes no sense.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// What was asked for could not be done.
    pub(crate) fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), status: 1 }
    }

    /// What was asked for makes no sense.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { message: message.to_string(), status: 2 }
    }

    /// Tells the person.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("error: {}", self.message);
        ExitCode::from(self.status)
    }
}

/// Tells in one line what is wrong with the command line, or prints the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let what = text.split("\n\n").next().unwrap_or_default();
    let line: Vec<&str> = what.lines().map(str::trim).collect();
    eprintln!("{} (see --help)", line.join(" "));
    ExitCode::from(2)
}
