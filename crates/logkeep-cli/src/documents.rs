//! `logkeep documents`: the JSON documents of a coding agent's data directory.

mod migrate;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use logkeep_sessions::documents::{DocumentError, DocumentStore, Key, Order, Prefix, network_file_system};
use logkeep_sessions::json::{self, Json};

use crate::failure::Failure;

/// Read and change the JSON documents of a data directory
///
/// Never reaches outside its `storage` folder. Values are JSON on standard input
/// and output; keys are printed as JSON arrays, one a line.
#[derive(Debug, Args)]
pub(crate) struct Documents {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a document
    Read(OneDocument),
    /// Write standard input as a document
    Write(OneDocument),
    /// Apply a JSON merge patch from standard input and print the result
    Update(OneDocument),
    /// Print the keys of all documents below a prefix
    List {
        #[command(flatten)]
        root: Root,
        /// Sort as the Unicode root locale does, instead of by bytes
        #[arg(long)]
        locale_order: bool,
        /// Elements of the prefix
        #[arg(value_name = "ELEMENT")]
        prefix: Vec<String>,
    },
    /// Remove a document
    Remove(OneDocument),
    /// Bring documents of an older layout up to date
    Migrate(migrate::Migrate),
    /// Move a damaged document out of the way, below `storage/.logkeep/quarantine`
    Quarantine(OneDocument),
}

#[derive(Debug, Args)]
struct OneDocument {
    #[command(flatten)]
    root: Root,
    /// Elements of the key: folders, then the document, without `.json`
    #[arg(value_name = "ELEMENT")]
    key: Vec<String>,
}

#[derive(Debug, Args)]
struct Root {
    /// The data directory that holds `storage`
    #[arg(long = "root", value_name = "DIR")]
    directory: PathBuf,
}

/// Runs a command and prints its failure.
pub(crate) fn run(arguments: Documents) -> ExitCode {
    match execute(arguments.command) {
        Ok(code) => code,
        Err(error) => Failure::new(error).report(),
    }
}

fn execute(command: Command) -> Result<ExitCode, Box<dyn std::error::Error>> {
    match command {
        Command::Read(document) => {
            let (store, key) = document.open()?;
            print(&store.read(&key)?.pretty())?;
        }
        Command::Write(document) => {
            let (store, key) = document.open_for_writing()?;
            store.write(&key, &value_from_input()?)?;
        }
        Command::Update(document) => {
            let (store, key) = document.open_for_writing()?;
            let patch = value_from_input()?;
            let updated = store.update::<io::Error>(&key, |value| {
                value.merge_patch(patch);
                Ok(())
            })?;
            print(&updated.pretty())?;
        }
        Command::Remove(document) => {
            let (store, key) = document.open_for_writing()?;
            store.remove(&key)?;
        }
        Command::Quarantine(document) => {
            let (store, key) = document.open_for_writing()?;
            match store.quarantine(&key)? {
                Some(moved) => {
                    print(&format!("{key}: {}; moved to {}", moved.reason, moved.folder.display()))?
                }
                None => print(&format!("{key} is intact"))?,
            }
        }
        Command::Migrate(arguments) => return migrate::run(arguments),
        Command::List { root, locale_order, prefix } => return list(&root, locale_order, prefix),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(
    root: &Root,
    locale_order: bool,
    prefix: Vec<String>,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let prefix = Prefix::new(prefix)?;
    let order = if locale_order { Order::Locale } else { Order::Bytes };
    let listing = DocumentStore::open(&root.directory)?.list(&prefix, order)?;
    let mut out = io::stdout().lock();
    for key in &listing.keys {
        let elements = key.elements().iter().map(|element| Json::from(element.as_str())).collect();
        writeln!(out, "{}", Json::Array(elements))?;
    }
    listing.ignored.iter().for_each(|name| eprintln!("passed over {name}"));
    listing.failures.iter().for_each(|failure| eprintln!("error: {failure}"));
    Ok(if listing.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl OneDocument {
    fn open(self) -> Result<(DocumentStore, Key), DocumentError> {
        let key = Key::new(self.key)?;
        Ok((DocumentStore::open(&self.root.directory)?, key))
    }

    fn open_for_writing(self) -> Result<(DocumentStore, Key), DocumentError> {
        let (store, key) = self.open()?;
        warn_of_network(&store);
        Ok((store, key))
    }
}

fn warn_of_network(store: &DocumentStore) {
    if let Some(kind) = network_file_system(store.root()) {
        eprintln!(
            "warning: the documents lie on a network file system ({kind}); write them from one machine only"
        );
    }
}

fn value_from_input() -> Result<Json, Box<dyn std::error::Error>> {
    let parsed = json::parse_reader(io::stdin().lock(), json::Limits::NONE);
    Ok(parsed.map_err(|error| format!("standard input is no JSON: {error}"))?.value)
}

fn print(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}
