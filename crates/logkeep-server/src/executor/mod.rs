//! Runs storage commands: on threads of their own in a server, at once in a deterministic test.

mod inline;
mod threaded;
mod writing;

pub use inline::InlineExecutor;
pub use threaded::ThreadedExecutor;

use bytes::Bytes;
use logkeep_protocol::Scope;

use crate::storage::{Page, Reader, StorageError, Upload, Write, Written};

/// What a connection asks of the storage.
pub enum Command {
    /// Store batches; durable when answered.
    Write(Write),
    /// Store a write too large for memory.
    Upload(Upload),
    /// Bind a signing key to a public key unless one is bound.
    Bind {
        /// The identity.
        public_key: String,
        /// The key that proved itself.
        signing_key: [u8; 32],
    },
    /// Look up the signing key bound to a public key.
    Binding {
        /// The identity.
        public_key: String,
    },
    /// Look up the highest assigned sequence of a store.
    Head(Scope),
    /// Read stored batches.
    Page {
        /// The store.
        scope: Scope,
        /// The first sequence wanted.
        from: u64,
        /// How many bytes at most, unless a single batch has more.
        budget: usize,
    },
    /// Read sealed bytes of a batch that is too long for a page.
    Slice {
        /// The store.
        scope: Scope,
        /// The batch's last sequence.
        last: u64,
        /// The first byte wanted.
        offset: u64,
        /// How many bytes.
        length: usize,
    },
}

/// What came of a [`Command`]; the variants correspond.
#[expect(missing_docs, reason = "see Command")]
pub enum Outcome {
    Written(Result<Written, StorageError>),
    Bound(Result<[u8; 32], StorageError>),
    Binding(Result<Option<[u8; 32]>, StorageError>),
    Head(Result<u64, StorageError>),
    Page(Result<Page, StorageError>),
    Slice(Result<Bytes, StorageError>),
}

/// Takes the outcome of a command to whoever asked.
pub type Reply = Box<dyn FnOnce(Outcome) + Send>;

/// Something that runs storage commands. Commands that change one store run in the order they came.
pub trait Executor: Send + Sync {
    /// Runs `command` now or later and gives its outcome to `reply`.
    fn submit(&self, command: Command, reply: Reply);
}

/// Runs a command that changes nothing; gives back one that does.
fn read(reader: &mut dyn Reader, command: Command) -> Result<Outcome, Command> {
    Ok(match command {
        Command::Binding { public_key } => Outcome::Binding(reader.binding(&public_key)),
        Command::Head(scope) => Outcome::Head(reader.head(&scope)),
        Command::Page { scope, from, budget } => Outcome::Page(reader.page(&scope, from, budget)),
        Command::Slice { scope, last, offset, length } => {
            Outcome::Slice(reader.slice(&scope, last, offset, length))
        }
        Command::Write(_) | Command::Upload(_) | Command::Bind { .. } => return Err(command),
    })
}

impl Command {
    const fn changes(&self) -> bool {
        matches!(self, Self::Write(_) | Self::Upload(_) | Self::Bind { .. })
    }
}
