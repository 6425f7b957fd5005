//! `logkeep sessions import`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use logkeep_sessions::import::{ImportOptions, Progress, Report, import};
use logkeep_sessions::json::Json;
use logkeep_sessions::store::{FILE_NAME, SessionStore};

use super::{Context, Outcome};

/// Take over the sessions of OpenCode, iroder and their kin
///
/// Reads a data directory in whatever state it is and leaves it as it is. Run it
/// again to take over what changed since.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The data directory, for instance ~/.local/share/opencode
    path: PathBuf,
    /// Tell what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave out the diffs of sessions
    #[arg(long)]
    no_diffs: bool,
    /// Shorten documents larger than this many MiB, and leave out larger diffs
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    document_limit: u16,
}

pub(super) fn run(command: &Import, context: &Context) -> Outcome {
    let exists = context.data.join(FILE_NAME).exists();
    let mut store = if command.dry_run && !exists { SessionStore::temporary()? } else { context.store()? };
    let scratch = if exists || !command.dry_run {
        context.data.join("import")
    } else {
        std::env::temp_dir().join(format!("logkeep-import-{}", std::process::id()))
    };
    let options = ImportOptions {
        dry_run: command.dry_run,
        diffs: !command.no_diffs,
        limit: usize::from(command.document_limit) << 20,
        scratch,
    };
    let report = import(&command.path, &mut store, &options, &mut progress())?;
    tell(&report, context.json, command.dry_run)?;
    Ok(if report.is_failure() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A line that counts up, where someone may be looking.
fn progress() -> impl FnMut(Progress) {
    let shows = io::stderr().is_terminal();
    move |progress| {
        let last = progress.current == progress.total;
        if shows && (last || progress.current.is_multiple_of(50)) {
            eprint!("\r{} of {} sessions", progress.current, progress.total);
            if last {
                eprintln!();
            }
        }
    }
}

fn tell(report: &Report, json: bool, dry_run: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        for finding in &report.findings {
            writeln!(out, "{}", finding.to_json())?;
        }
        let mut summary = report.counts.to_json();
        summary.set("findings", Json::from(report.findings.len() as i64));
        summary.set("dryRun", Json::from(dry_run));
        return writeln!(out, "{}", Json::object([("summary", summary)]));
    }
    for finding in &report.findings {
        writeln!(out, "{}: {}", finding.place, finding.reason)?;
    }
    let counts = &report.counts;
    let verb = if dry_run { "would import" } else { "imported" };
    let (sessions, messages, parts) = (counts.sessions, counts.messages, counts.parts);
    let (events, findings) = (counts.events, report.findings.len());
    writeln!(
        out,
        "{verb} {sessions} sessions ({messages} messages, {parts} parts); new events: {events}; findings: {findings}"
    )
}
