//! `logkeep identity`: who this device is.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use clap::{Args, Subcommand};
use logkeep::Identity;
use logkeep_crypto::OsRandom;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::device::{Device, about};
use crate::failure::Failure;
use crate::output;

/// The options of `logkeep identity`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    device: Device,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a new identity and keep it on this device
    New,
    /// Show the public key and the fingerprint, never the secret
    Show,
    /// Print the identity string, which holds the secret, to take it to another device
    Export,
    /// Keep an identity that was exported, here or by an app built on effect
    Import {
        /// The identity string, or a file with it, or `-` for standard input
        #[arg(default_value = "-")]
        source: String,
    },
}

/// What can be said about an identity in public.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    public_key: &'a str,
    fingerprint: String,
    file: String,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let device = &options.device;
    match &options.command {
        Command::New => {
            let identity = Identity::generate(&OsRandom).map_err(Failure::new)?;
            let file = device.keep(&identity)?;
            show(&identity, &file, options.json)
        }
        Command::Show => show(&device.identity()?, &device.identity_file()?, options.json),
        Command::Export => export(&device.identity()?, options.json),
        Command::Import { source } => {
            let identity = read(source)?;
            let file = device.keep(&identity)?;
            show(&identity, &file, options.json)
        }
    }
}

fn show(identity: &Identity, file: &Path, json: bool) -> Result<(), Failure> {
    let (public_key, fingerprint) = (identity.public_key(), identity.fingerprint());
    let file = file.display().to_string();
    if json {
        return output::json(&Shown { public_key, fingerprint, file }).map(drop);
    }
    output::line(&format!("public key   {public_key}\nfingerprint  {fingerprint}\nkept in      {file}"))
        .map(drop)
}

fn export(identity: &Identity, json: bool) -> Result<(), Failure> {
    let text = identity.to_identity_string();
    if json {
        return output::json(&serde_json::json!({ "identity": text.as_str() })).map(drop);
    }
    output::line(&text).map(drop)
}

fn read(source: &str) -> Result<Identity, Failure> {
    let text = Zeroizing::new(match source {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(about(Path::new("standard input")))?;
            text
        }
        file if Path::new(file).exists() => fs::read_to_string(file).map_err(about(Path::new(file)))?,
        text => text.to_owned(),
    });
    Identity::from_identity_string(text.trim()).map_err(Failure::new)
}
