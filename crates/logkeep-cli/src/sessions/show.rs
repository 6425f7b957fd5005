//! `logkeep sessions show`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use logkeep_sessions::export;

use super::{Context, Outcome};

/// Print a session for reading
///
/// With --json the whole session as one JSON value, as `export` writes it.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// Id of the session
    id: String,
}

pub(super) fn run(command: &Show, context: &Context) -> Outcome {
    let store = context.store()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let format = if context.json { export::Format::Json } else { export::Format::Markdown };
    export::export(&store, &command.id, format, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
