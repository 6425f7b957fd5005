//! `logkeep sessions export`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use logkeep_sessions::export;

use super::{Context, Outcome};

/// Write a session as JSON, Markdown, or its log of events
#[derive(Debug, Args)]
pub(super) struct Export {
    /// Id of the session
    id: String,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One value with the session, its messages and their parts
    Json,
    /// For reading
    Markdown,
    /// One event a line
    Events,
}

pub(super) fn run(command: &Export, context: &Context) -> Outcome {
    let store = context.store()?;
    let format = match command.format {
        Format::Json => export::Format::Json,
        Format::Markdown => export::Format::Markdown,
        Format::Events => export::Format::Events,
    };
    let mut out: Box<dyn Write> = match &command.output {
        Some(file) => Box::new(BufWriter::new(File::create(file)?)),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    export::export(&store, &command.id, format, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
