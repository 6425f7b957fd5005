//! What the device commands share: where a device keeps its identity and its journal.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use etcetera::BaseStrategy as _;
use logkeep::ids::IdSource;
use logkeep::{Identity, Journal};

use crate::failure::Failure;

/// Where the device's state is.
#[derive(Debug, Args)]
pub(crate) struct Device {
    /// Where this device keeps its identity and journal [default: the data directory of this
    /// platform]
    #[arg(long, global = true, value_name = "DIR", env = "LOGKEEP_DEVICE_DATA")]
    data: Option<PathBuf>,

    /// The file with the identity [default: `identity` in the data directory]
    #[arg(long, global = true, value_name = "FILE", env = "LOGKEEP_IDENTITY")]
    identity: Option<PathBuf>,
}

impl Device {
    /// The data directory, made if it is missing, for this user only.
    fn directory(&self) -> Result<PathBuf, Failure> {
        let directory = match &self.data {
            Some(directory) => directory.clone(),
            None => etcetera::choose_base_strategy()
                .map_err(|error| Failure::new(format_args!("{error}; name a data directory with --data")))?
                .data_dir()
                .join("logkeep")
                .join("device"),
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(about(&directory))?;
        Ok(directory)
    }

    /// The file of the identity, whether it exists or not.
    pub(crate) fn identity_file(&self) -> Result<PathBuf, Failure> {
        match &self.identity {
            Some(file) => Ok(file.clone()),
            None => Ok(self.directory()?.join("identity")),
        }
    }

    /// The identity of this device.
    pub(crate) fn identity(&self) -> Result<Identity, Failure> {
        let file = self.identity_file()?;
        let text =
            fs::read_to_string(&file).map(zeroize::Zeroizing::new).map_err(|error| match error.kind() {
                ErrorKind::NotFound => Failure::new(format_args!(
                    "{}: there is no identity yet; make one with `logkeep identity new` or import one",
                    file.display()
                )),
                _ => about(&file)(error),
            })?;
        warn_if_open(&file);
        Identity::from_identity_string(text.trim()).map_err(about(&file))
    }

    /// Keeps `identity` on this device.
    pub(crate) fn keep(&self, identity: &Identity) -> Result<PathBuf, Failure> {
        let file = self.identity_file()?;
        let mut options = OpenOptions::new();
        let created = options.write(true).create_new(true).mode(0o600).open(&file);
        let mut target = created.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::new(format_args!(
                "{}: there is an identity already; whoever replaces it loses access to its logs, so move \
                 the file away first",
                file.display()
            )),
            _ => about(&file)(error),
        })?;
        let text = identity.to_identity_string();
        target.write_all(text.as_bytes()).and_then(|()| target.sync_all()).map_err(about(&file))?;
        Ok(file)
    }

    /// The journal of this device.
    pub(crate) fn journal(&self) -> Result<Journal, Failure> {
        let file = self.directory()?.join("journal.db");
        Journal::open(file, IdSource::process()).map_err(Failure::new)
    }
}

/// Names the file that something is wrong with.
pub(crate) fn about<E: std::fmt::Display>(file: &Path) -> impl Fn(E) -> Failure {
    move |error| Failure::new(format_args!("{}: {error}", file.display()))
}

fn warn_if_open(file: &Path) {
    let mode = file.metadata().map(|file| file.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o077 != 0) {
        eprintln!("warning: {}: others can read this secret; run `chmod 600` on it", file.display());
    }
}
