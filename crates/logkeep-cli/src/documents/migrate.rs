//! `logkeep documents migrate`.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use logkeep_sessions::documents::DocumentStore;
use logkeep_sessions::documents::migrate::{MigrationOptions, MigrationReport};

use super::{Root, print, warn_of_network};

#[derive(Debug, Args)]
pub(super) struct Migrate {
    #[command(flatten)]
    root: Root,
    /// Work tree of a legacy project folder, instead of what its messages say
    #[arg(long, value_name = "SLUG=DIR", value_parser = slug_and_directory)]
    worktree: Vec<(String, String)>,
    /// Project id of a work tree, instead of asking git
    #[arg(long, value_name = "DIR=ID", value_parser = directory_and_id)]
    root_commit: Vec<(String, String)>,
    /// Time that new project documents carry, in milliseconds since 1970 [default: now]
    #[arg(long, value_name = "MS")]
    now: Option<i64>,
    /// Run all migrations again, whatever the marker says
    #[arg(long)]
    again: bool,
    /// Give up the copies that migrations kept of what they changed
    #[arg(long)]
    confirm: bool,
}

pub(super) fn run(arguments: Migrate) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let store = DocumentStore::open(&arguments.root.directory)?;
    warn_of_network(&store);
    let options = MigrationOptions {
        worktrees: arguments.worktree.into_iter().collect::<HashMap<_, _>>(),
        root_commits: arguments.root_commit.into_iter().collect::<HashMap<_, _>>(),
        root_commit: &first_root_commit,
        now: arguments.now.unwrap_or_else(now),
        again: arguments.again,
    };
    let report = store.migrate(&options)?;
    tell(&store, &report)?;
    if !report.failures.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    if arguments.confirm {
        store.confirm_migrations()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(store: &DocumentStore, report: &MigrationReport) -> io::Result<()> {
    report.kept.iter().for_each(|key| eprintln!("kept {key}: it differs from what would be written"));
    report.left_behind.iter().for_each(|what| eprintln!("left behind {what}"));
    report.failures.iter().for_each(|failure| eprintln!("error: {failure}"));
    if store.migration_backup().exists() {
        eprintln!("changed documents are kept in {} until --confirm", store.migration_backup().display());
    }
    let state =
        if report.failures.is_empty() { "done" } else { "not finished; run again once this is mended" };
    print(&format!(
        "migration {} to {}: {} documents written, {state}",
        report.from, report.to, report.written
    ))
}

/// The smallest id among the root commits of all branches, as the reference chooses (DS-065).
fn first_root_commit(worktree: &Path) -> io::Result<Option<String>> {
    let output = Command::new("git")
        .args(["rev-list", "--max-parents=0", "--all"])
        .current_dir(worktree)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).min().map(str::to_owned))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn slug_and_directory(text: &str) -> Result<(String, String), String> {
    pair(text.split_once('='))
}

fn directory_and_id(text: &str) -> Result<(String, String), String> {
    pair(text.rsplit_once('='))
}

fn pair(parts: Option<(&str, &str)>) -> Result<(String, String), String> {
    let (left, right) = parts.ok_or("expected two values joined by '='")?;
    Ok((left.to_owned(), right.to_owned()))
}
