//! `logkeep log append`: one entry, straight to a server.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use logkeep::ids::IdSource;
use logkeep::sync::RemoteStore;
use logkeep::{Entry, Journal};
use logkeep_crypto::{OsRandom, SealCounter, Sealer};
use serde::Serialize;

use super::schemas::Schemas;
use super::{Remote, runtime};
use crate::device::Device;
use crate::failure::Failure;
use crate::output;

/// The options of `logkeep log append`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  logkeep log append --remote ws://127.0.0.1:7070 --store notes --event note.added \\\n    --primary-key n1 --payload '{\"text\":\"hello\"}' --schema notes.json\n\nPrints the new entry's id and sequence; as JSON if stdout is no terminal."
)]
pub(super) struct Options {
    #[command(flatten)]
    remote: Remote,

    /// The tag of the event
    #[arg(long, value_name = "TAG")]
    event: String,

    /// What the event is about
    #[arg(long, value_name = "TEXT")]
    primary_key: String,

    /// The encoded payload, as hex digits
    #[arg(long, value_name = "HEX", conflicts_with = "payload", required_unless_present = "payload")]
    payload_hex: Option<String>,

    /// The payload as JSON, encoded by the event's schema
    #[arg(long, value_name = "JSON", requires = "schema")]
    payload: Option<String>,

    /// A JSON file from event tag to schema description
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Appended {
    id: String,
    sequence: u64,
}

pub(super) fn run(options: &Options, device: &Device, json: bool) -> Result<(), Failure> {
    let payload = options.payload()?;
    let server = options.remote.server()?;
    let identity = device.identity()?;
    let ids = IdSource::process().draw(1, None).map_err(Failure::new)?;
    let id = ids.first().copied().ok_or_else(|| Failure::new("no entry id"))?;
    let (event, primary_key) = (options.event.clone(), options.primary_key.clone());
    let entry = Entry { id, event, primary_key, payload };
    let counter = Counter { journal: device.journal()?, key: identity.public_key().to_owned() };
    let mut sealer = Sealer::new(identity.batch_key(), Arc::new(OsRandom), Box::new(counter));
    let store = RemoteStore::new(server, identity, &options.remote.store);
    let sequence = runtime()?.block_on(store.append(&mut sealer, &entry)).map_err(Failure::new)?;
    if json || !output::for_people() {
        return output::json(&Appended { id: id.to_string(), sequence }).map(drop);
    }
    output::line(&format!("added {id} as sequence {sequence}")).map(drop)
}

impl Options {
    fn payload(&self) -> Result<Vec<u8>, Failure> {
        match (&self.payload_hex, &self.payload, &self.schema) {
            (Some(hex), ..) => unhex(hex),
            (None, Some(payload), Some(schema)) => Schemas::read(schema)?.encode(&self.event, payload),
            _ => Err(Failure::usage("name the payload with --payload-hex, or with --payload and --schema")),
        }
    }
}

fn unhex(text: &str) -> Result<Vec<u8>, Failure> {
    let wrong = || Failure::usage("payload: expected pairs of hex digits");
    let digits =
        text.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    Ok(pairs.iter().map(|[high, low]| (high * 16 + low) as u8).collect())
}

/// Counts seals in the device's journal.
struct Counter {
    journal: Journal,
    key: String,
}

impl SealCounter for Counter {
    fn reserve(&mut self, seals: u64) -> Result<u64, Box<dyn Error + Send + Sync>> {
        Ok(self.journal.reserve_seals(&self.key, seals)?)
    }
}
