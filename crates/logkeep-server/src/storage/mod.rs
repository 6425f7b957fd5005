//! What the server keeps, and the contract every storage fulfils.
//!
//! A storage has one writing half and any number of reading halves. Both are plain blocking objects; the
//! executor decides on which thread they run.

pub mod sqlite;

use bytes::Bytes;
pub use logkeep_protocol::Batch;
use logkeep_protocol::{RemoteId, Scope};

/// The lowest sequence of every store; announced in the Hello answer (SV-049).
pub const FIRST_SEQUENCE: u64 = 1;

/// A batch of at most so many bytes is always read as a whole.
pub const LARGE_BATCH: usize = 64 * 1024;

/// Milliseconds since the Unix epoch, from the clock that was passed in.
pub type Millis = u64;

/// A write request that passed all checks of the connection.
pub struct Write {
    /// Where it goes.
    pub scope: Scope,
    /// What is written, in request order; at least one batch.
    pub batches: Vec<Batch>,
}

/// A write too large for memory and for one transaction; see [`Writer::upload`].
pub struct Upload {
    /// Where it goes.
    pub scope: Scope,
    /// The batches in request order, read one after another from a spool file. `Err` fails the upload and
    /// leaves nothing stored.
    pub batches: Box<dyn Iterator<Item = std::io::Result<Batch>> + Send>,
    /// How many ids the answer has to cover: placements behind them are left out.
    pub answered_ids: usize,
}

/// Where one batch of a write ended up (SV-042…046).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// Stored at `first`; its ids occupy the sequences from there on.
    Stored {
        /// The sequence of the batch's first entry.
        first: u64,
    },
    /// Every id was known, so nothing was stored. For each id the sequence where it was first stored, or
    /// `None` if that is not above the active base.
    Known {
        /// Aligned with the batch's ids.
        sequences: Vec<Option<u64>>,
    },
}

/// The answer to a [`Write`].
#[derive(Debug, Clone)]
pub struct Written {
    /// Aligned with the batches of the write; of an upload, with the first of them (see
    /// [`Upload::answered_ids`]).
    pub placed: Vec<Placed>,
    /// The store's head after the write.
    pub head: u64,
    /// The batches, given back so that they can be published without a read; empty for an upload.
    pub batches: Vec<Batch>,
}

/// Stored batches in sequence order, already in the form they have on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// One row per batch.
    pub rows: Vec<Row>,
    /// The rows' bytes, back to back: each the row-run row
    /// `sized(01 region(sequence) region(iv) region(encryptedBatch) region(entryIds))`
    /// of an `EncryptedRemoteBatch` whose shape is known.
    pub bytes: Bytes,
    /// The store's head when the page was read.
    pub head: u64,
    /// Where to go on reading; at the end `head + 1`, also if `from` was beyond that (SV-X05).
    pub next: u64,
    /// Whether everything up to `head` has been delivered.
    pub end: bool,
    /// A batch that is too long for a page; then it is alone, and `rows` is empty.
    pub large: Option<LargeBatch>,
}

/// A stored batch whose sealed bytes are read slice by slice, with [`Reader::slice`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeBatch {
    /// The sequence of the first entry.
    pub first: u64,
    /// The sequence of the last entry.
    pub last: u64,
    /// The ids, as in [`Batch`].
    pub entry_ids: Bytes,
    /// How many sealed bytes there are.
    pub sealed: u64,
    /// The first of the two regions in the sealed bytes, that of `iv`.
    pub iv: Bytes,
}

/// One batch of a [`Page`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The sequence of the first entry.
    pub first: u64,
    /// The sequence of the last entry.
    pub last: u64,
    /// Where the row ends in the page's bytes; it begins where the one before ends.
    pub end: usize,
}

/// Why a storage could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The database reported a failure; the request was rolled back and later ones may succeed.
    #[error("storage failed: {0}")]
    Failed(String),
    /// A sync to disk failed earlier. What is on disk is unknown, so nothing is acknowledged any more.
    #[error("storage stopped after a failed sync to disk: {0}")]
    Poisoned(String),
    /// Stored bytes do not have the form they were written in.
    #[error("stored data is damaged: {0}")]
    Damaged(String),
    /// A batch does not have the form promised by [`Batch`], or is larger than this storage can keep.
    #[error("the batch cannot be stored: {0}")]
    Refused(String),
    /// An upload is under way: to this store (writes) or anywhere (uploads). Nothing was stored; try again
    /// when it is done.
    #[error("an upload is under way")]
    Uploading,
}

/// The writing half; one exists per storage.
pub trait Writer: Send {
    /// Stores a group of writes, each atomically, in one transaction and with one sync to disk.
    ///
    /// Answers are aligned with `group`. A write that cannot be stored gets its own error and does not hurt
    /// the others; if the commit fails all of them fail and nothing has changed. Memory and the
    /// write-ahead log grow with the group: keep it to some megabytes where it has more than one write.
    fn write(&mut self, group: Vec<Write>, now: Millis) -> Vec<Result<Written, StorageError>>;

    /// Begins an upload; nothing is read from it yet. One upload is under way at a time.
    ///
    /// # Errors
    /// [`StorageError::Uploading`] if there is one already.
    fn upload(&mut self, upload: Upload) -> Result<(), StorageError>;

    /// Stores some megabytes of the upload that is under way, in a transaction of their own. Between two
    /// steps groups of other stores may be written. `Some` when all is stored: only then, and all at once,
    /// it is visible. After an error the upload is over and nothing of it is ever visible, nor is anything
    /// when it is never finished. `None` as well if no upload is under way.
    ///
    /// # Errors
    /// If reading the batches failed, one of them cannot be stored, or the database fails.
    fn upload_step(&mut self, now: Millis) -> Result<Option<Written>, StorageError>;

    /// Gives up the upload that is under way, if there is one.
    fn upload_abandon(&mut self);

    /// Does a small part of the work that is left over, such as deleting what a crash left of an upload;
    /// `true` if there is more. To be called when nothing else is to do, and now and then under load.
    ///
    /// # Errors
    /// If the database fails.
    fn tidy(&mut self) -> Result<bool, StorageError>;

    /// Binds `signing_key` to `public_key` unless a key is bound already; answers the bound one (SV-025).
    ///
    /// # Errors
    /// If the database fails.
    fn bind(&mut self, public_key: &str, signing_key: [u8; 32]) -> Result<[u8; 32], StorageError>;
}

/// A reading half. It never holds a database transaction between calls.
pub trait Reader: Send {
    /// The signing key bound to `public_key`.
    ///
    /// # Errors
    /// If the database fails.
    fn binding(&mut self, public_key: &str) -> Result<Option<[u8; 32]>, StorageError>;

    /// The highest assigned sequence of the store, `FIRST_SEQUENCE - 1` if it is empty or unknown.
    ///
    /// # Errors
    /// If the database fails.
    fn head(&mut self, scope: &Scope) -> Result<u64, StorageError>;

    /// Reads stored batches whose last sequence is at least `from`, in sequence order, until their bytes
    /// would exceed `budget`; but at least one batch if there is any (SV-065). One that is longer than both
    /// `budget` and [`LARGE_BATCH`] is only described.
    ///
    /// # Errors
    /// If the database fails, or stored bytes are damaged.
    fn page(&mut self, scope: &Scope, from: u64, budget: usize) -> Result<Page, StorageError>;

    /// Reads `length` sealed bytes, from `offset` on, of the batch whose last sequence is `last`.
    ///
    /// # Errors
    /// If the database fails, the batch is gone, or it has fewer bytes.
    fn slice(&mut self, scope: &Scope, last: u64, offset: u64, length: usize) -> Result<Bytes, StorageError>;
}

/// A storage: what lives in one data directory, or in memory.
pub trait Storage: Send + Sync {
    /// The id given to this storage when it was created (SV-021).
    fn remote_id(&self) -> RemoteId;

    /// Takes the writing half.
    ///
    /// # Errors
    /// If the database cannot be opened for writing, or the half was taken already.
    fn writer(&self) -> Result<Box<dyn Writer>, StorageError>;

    /// Opens a reading half.
    ///
    /// # Errors
    /// If the database cannot be opened.
    fn reader(&self) -> Result<Box<dyn Reader>, StorageError>;
}
