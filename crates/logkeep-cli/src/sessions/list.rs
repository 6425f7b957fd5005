//! `logkeep sessions list`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use logkeep_sessions::json::Json;
use logkeep_sessions::store::SessionLine;

use super::{Context, Outcome};

/// List sessions, the one that changed last first
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only sessions of this directory, whatever project they are filed under
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
}

pub(super) fn run(command: &List, context: &Context) -> Outcome {
    let lines = context.store()?.list(command.directory.as_deref())?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in &lines {
        if context.json {
            writeln!(out, "{}", to_json(line))?;
        } else {
            let state = if line.archived.is_some() { ", archived" } else { "" };
            writeln!(out, "{}  {}", line.id, line.title)?;
            writeln!(out, "    {}, {} messages, {} parts{state}", line.directory, line.messages, line.parts)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn to_json(line: &SessionLine) -> Json {
    Json::object([
        ("id", Json::from(line.id.as_str())),
        ("title", Json::from(line.title.as_str())),
        ("directory", Json::from(line.directory.as_str())),
        ("messages", Json::from(line.messages)),
        ("parts", Json::from(line.parts)),
        ("updated", Json::from(line.updated)),
        ("created", Json::from(line.created)),
        ("archived", Json::from(line.archived)),
        ("project", Json::from(line.project.as_str())),
        ("parent", Json::from(line.parent.as_deref())),
    ])
}
