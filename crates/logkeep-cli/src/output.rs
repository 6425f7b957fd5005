//! What a command prints.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::failure::Failure;

/// Prints one line. False if nobody reads any more, which is no failure.
pub(crate) fn line(text: &str) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush())
    {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(format_args!("cannot write to stdout: {error}"))),
    }
}

/// Prints one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<bool, Failure> {
    line(&serde_json::to_string(value).map_err(Failure::new)?)
}

/// Whether a person looks at what is printed.
pub(crate) fn for_people() -> bool {
    io::stdout().is_terminal()
}
