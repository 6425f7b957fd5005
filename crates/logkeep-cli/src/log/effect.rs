//! `logkeep log import-effect` and `export-effect`: journals of apps built on effect.

use std::path::PathBuf;

use clap::Args;
use logkeep::journal::EffectTables;
use serde::Serialize;

use super::progress;
use crate::device::Device;
use crate::failure::Failure;
use crate::output;

/// The options of `logkeep log import-effect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Entries, where each came from, cursors and checkpoints are taken over; the file is not changed.\nImporting it again adds only what is new."
)]
pub(super) struct ImportOptions {
    /// The SQLite database that holds the journal
    file: PathBuf,

    #[command(flatten)]
    tables: TableOptions,
}

/// The options of `logkeep log export-effect`.
#[derive(Debug, Args)]
#[command(after_help = "The database is complete when the file appears. An existing file is left alone.")]
pub(super) struct ExportOptions {
    /// The SQLite database to write
    file: PathBuf,

    #[command(flatten)]
    tables: TableOptions,
}

/// The names of the tables, where the app chose its own.
#[derive(Debug, Args)]
struct TableOptions {
    /// The table of entries
    #[arg(long, value_name = "NAME", default_value = "effect_event_journal")]
    entry_table: String,

    /// The table of remotes
    #[arg(long, value_name = "NAME", default_value = "effect_event_remotes")]
    remotes_table: String,

    /// The table of cursors [default: the table of remotes with `_cursors`]
    #[arg(long, value_name = "NAME")]
    cursors_table: Option<String>,
}

impl TableOptions {
    fn tables(&self) -> EffectTables {
        EffectTables {
            entries: self.entry_table.clone(),
            remotes: self.remotes_table.clone(),
            cursors: self.cursors_table.clone(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Imported {
    stored: u64,
    duplicates: u64,
    remotes: u64,
}

#[derive(Debug, Serialize)]
struct Exported {
    entries: u64,
    remotes: u64,
}

pub(super) fn import(options: &ImportOptions, device: &Device, json: bool) -> Result<(), Failure> {
    let mut journal = device.journal()?;
    let bar = progress::bar("importing");
    let done = journal.import_effect(&options.file, &options.tables.tables(), &mut |read, total| {
        bar.set_length(total);
        bar.set_position(read);
    });
    bar.finish_and_clear();
    let done = done.map_err(Failure::new)?;
    journal.sync_to_disk().map_err(Failure::new)?;
    let (stored, duplicates, remotes) = (done.stored, done.duplicates, done.remotes);
    if json {
        return output::json(&Imported { stored, duplicates, remotes }).map(drop);
    }
    output::line(&format!(
        "imported {stored} entries and the progress of {remotes} remotes; {duplicates} entries were here already"
    ))
    .map(drop)
}

pub(super) fn export(options: &ExportOptions, device: &Device, json: bool) -> Result<(), Failure> {
    let journal = device.journal()?;
    let bar = progress::bar("exporting");
    let done = journal.export_effect(&options.file, &options.tables.tables(), &mut |written, total| {
        bar.set_length(total);
        bar.set_position(written);
    });
    bar.finish_and_clear();
    let done = done.map_err(Failure::new)?;
    let (entries, remotes) = (done.entries, done.remotes);
    if json {
        return output::json(&Exported { entries, remotes }).map(drop);
    }
    output::line(&format!("exported {entries} entries and the progress of {remotes} remotes")).map(drop)
}
