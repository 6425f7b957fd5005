//! `logkeep log tail`: the entries of a log, straight from a server.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use logkeep::sync::{Found, RemoteStore};
use logkeep::{Entry, RemoteEntry};

use super::schemas::Schemas;
use super::{Remote, runtime};
use crate::device::Device;
use crate::failure::Failure;
use crate::output;

/// The options of `logkeep log tail`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  logkeep log tail --remote ws://127.0.0.1:7070 --store notes --follow --schema notes.json\n\nPrints a line an entry; as JSON if stdout is no terminal."
)]
pub(super) struct Options {
    #[command(flatten)]
    remote: Remote,

    /// Begin at this sequence
    #[arg(long, value_name = "SEQUENCE", default_value_t = 0)]
    from: u64,

    /// Go on with what arrives later
    #[arg(long, short)]
    follow: bool,

    /// A JSON file from event tag to schema description; payloads of its events are decoded
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

pub(super) fn run(options: &Options, device: &Device, json: bool) -> Result<(), Failure> {
    let schemas = options.schema.as_deref().map(Schemas::read).transpose()?;
    let server = options.remote.server()?;
    let store = RemoteStore::new(server, device.identity()?, &options.remote.store);
    let mut printer = Printer { schemas, json: json || !output::for_people(), unopened: 0, failure: None };
    let mut visit = |found| printer.print(&found);
    let read = runtime()?.block_on(async {
        match options.follow {
            true => store.follow(options.from, &mut visit).await,
            false => store.read(options.from, false, &mut visit).await,
        }
    });
    printer.finish()?;
    read.map_err(Failure::new)
}

struct Printer {
    schemas: Option<Schemas>,
    json: bool,
    unopened: usize,
    failure: Option<Failure>,
}

impl Printer {
    fn print(&mut self, found: &Found) -> ControlFlow<()> {
        let line = match found {
            Found::Entry(found) if self.json => self.json_line(found),
            Found::Entry(found) => Ok(self.text_line(found)),
            Found::Unopened { sequence, entries, reason } => {
                self.unopened += 1;
                eprintln!("warning: {entries} entries from sequence {sequence} on: {reason}");
                return ControlFlow::Continue(());
            }
        };
        match line.map_err(Failure::new).and_then(|line| output::line(&line)) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match (self.failure, self.unopened) {
            (Some(failure), _) => Err(failure),
            (None, 0) => Ok(()),
            (None, count) => Err(Failure::new(format_args!("{count} batches did not open"))),
        }
    }

    fn payload(&self, entry: &Entry) -> Option<Result<String, String>> {
        self.schemas.as_ref()?.decode(&entry.event, &entry.payload)
    }

    fn json_line(&self, found: &RemoteEntry) -> Result<String, serde_json::Error> {
        let RemoteEntry { sequence, entry } = found;
        let text = |text: &str| serde_json::to_string(text);
        let mut line = format!(
            "{{\"sequence\":{sequence},\"id\":\"{}\",\"event\":{},\"primaryKey\":{},\"payloadHex\":\"{}\"",
            entry.id,
            text(&entry.event)?,
            text(&entry.primary_key)?,
            hex(&entry.payload)
        );
        match self.payload(entry) {
            Some(Ok(payload)) => line.push_str(&format!(",\"payload\":{payload}")),
            Some(Err(error)) => line.push_str(&format!(",\"payloadError\":{}", text(&error)?)),
            None => {}
        }
        line.push('}');
        Ok(line)
    }

    fn text_line(&self, found: &RemoteEntry) -> String {
        let RemoteEntry { sequence, entry } = found;
        let payload = match self.payload(entry) {
            Some(Ok(payload)) => payload,
            Some(Err(error)) => format!("(does not decode: {error}) {}", hex(&entry.payload)),
            None => hex(&entry.payload),
        };
        // Control characters in a log must not reach the terminal.
        let (event, key) = (entry.event.escape_debug(), entry.primary_key.escape_debug());
        format!("{sequence}  {}  {event}  {key}  {payload}", entry.id)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
