//! The options of `logkeep serve`. Each can also be set by an environment variable.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use logkeep_server::limits::Limits;
use logkeep_server::storage::sqlite::Durability;

use super::size::Size;

/// The options of `logkeep serve`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where WebSocket clients connect; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070", env = "LOGKEEP_LISTEN")]
    pub(super) listen: SocketAddr,

    /// Where clients connect that speak the same protocol without HTTP
    #[arg(long, value_name = "ADDR", env = "LOGKEEP_LISTEN_TCP")]
    pub(super) listen_tcp: Option<SocketAddr>,

    /// Where everything is kept; `:memory:` keeps it only while the server runs [default: the data
    /// directory of this platform]
    #[arg(long, value_name = "DIR", env = "LOGKEEP_DATA")]
    pub(super) data: Option<PathBuf>,

    /// The certificate chain, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "LOGKEEP_TLS_CERT")]
    pub(super) tls_cert: Option<PathBuf>,

    /// The certificate's private key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", env = "LOGKEEP_TLS_KEY")]
    pub(super) tls_key: Option<PathBuf>,

    /// What an acknowledged write survives
    #[arg(long, value_enum, default_value = "full", env = "LOGKEEP_DURABILITY")]
    durability: DurabilityOption,

    /// How logs are written to stderr; RUST_LOG chooses which
    #[arg(long, value_enum, default_value = "text", env = "LOGKEEP_LOG_FORMAT")]
    pub(super) log_format: LogFormat,

    #[command(flatten, next_help_heading = "Limits")]
    limits: LimitOptions,
}

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum DurabilityOption {
    /// A crash and a power cut: every write is synced to disk before it is acknowledged
    Full,
    /// A crash of the server only: a power cut may lose the writes of the last moments
    Relaxed,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// An object a line
    Json,
}

/// What one client may do.
#[derive(Debug, Args)]
struct LimitOptions {
    /// Longest message
    #[arg(long, value_name = "SIZE", default_value = "16MiB", env = "LOGKEEP_LIMIT_ENVELOPE")]
    limit_envelope: Size,

    /// Longest message of a client that is not logged in
    #[arg(long, value_name = "SIZE", default_value = "1MiB", env = "LOGKEEP_LIMIT_ENVELOPE_BEFORE_LOGIN")]
    limit_envelope_before_login: Size,

    /// Largest write, put together from parts
    #[arg(long, value_name = "SIZE", default_value = "4GiB", env = "LOGKEEP_LIMIT_WRITE")]
    limit_write: Size,

    /// Chunked messages of a connection that are not complete
    #[arg(long, value_name = "N", default_value_t = 64, env = "LOGKEEP_LIMIT_OPEN_CHUNKS")]
    limit_open_chunks: usize,

    /// Incomplete messages of a connection that are kept in memory; the rest waits on disk
    #[arg(long, value_name = "SIZE", default_value = "2MiB", env = "LOGKEEP_LIMIT_CHUNK_MEMORY")]
    limit_chunk_memory: Size,

    /// Change streams of a connection
    #[arg(long, value_name = "N", default_value_t = 256, env = "LOGKEEP_LIMIT_STREAMS")]
    limit_streams: usize,

    /// Identities logged in on a connection
    #[arg(long, value_name = "N", default_value_t = 64, env = "LOGKEEP_LIMIT_IDENTITIES")]
    limit_identities: usize,

    /// Longest store id
    #[arg(long, value_name = "SIZE", default_value = "1KiB", env = "LOGKEEP_LIMIT_STORE_ID")]
    limit_store_id: Size,

    /// Connections of one address that are not logged in; the oldest gives way
    #[arg(long, value_name = "N", default_value_t = 256, env = "LOGKEEP_LIMIT_ANONYMOUS_PER_ADDRESS")]
    limit_anonymous_per_address: usize,

    /// Connections of all addresses that are not logged in; the oldest gives way
    #[arg(long, value_name = "N", default_value_t = 4096, env = "LOGKEEP_LIMIT_ANONYMOUS")]
    limit_anonymous: usize,
}

impl Options {
    pub(super) const fn durability(&self) -> Durability {
        match self.durability {
            DurabilityOption::Full => Durability::Full,
            DurabilityOption::Relaxed => Durability::Relaxed,
        }
    }

    /// The limits, or what makes no sense about them.
    pub(super) fn limits(&self) -> Result<Limits, String> {
        let options = &self.limits;
        let least = |name: &str, value: u64, least: u64| {
            if value < least { Err(format!("--{name} must be at least {least}")) } else { Ok(()) }
        };
        // Below these no client of the protocol could work at all.
        least("limit-envelope", options.limit_envelope.0, 4096)?;
        least("limit-envelope-before-login", options.limit_envelope_before_login.0, 4096)?;
        least("limit-write", options.limit_write.0, 4096)?;
        least("limit-open-chunks", options.limit_open_chunks as u64, 1)?;
        least("limit-streams", options.limit_streams as u64, 1)?;
        least("limit-identities", options.limit_identities as u64, 1)?;
        least("limit-store-id", options.limit_store_id.0, 1)?;
        least("limit-anonymous-per-address", options.limit_anonymous_per_address as u64, 1)?;
        least("limit-anonymous", options.limit_anonymous as u64, 1)?;
        Ok(Limits {
            envelope: options.limit_envelope.bytes(),
            envelope_before_login: options.limit_envelope_before_login.bytes(),
            write: options.limit_write.0,
            open_messages: options.limit_open_chunks,
            parts_in_memory: options.limit_chunk_memory.bytes(),
            streams: options.limit_streams,
            identities: options.limit_identities,
            store_id: options.limit_store_id.bytes(),
            anonymous_per_address: options.limit_anonymous_per_address,
            anonymous: options.limit_anonymous,
            ..Limits::default()
        })
    }
}
