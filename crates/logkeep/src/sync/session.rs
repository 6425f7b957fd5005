//! A connection that is logged in (rpc-wire 7.6).

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use logkeep_protocol::{
    Algorithm, Authenticate, Call, Chunked, CompactionCall, MAX_PART, Malformed, Reason, Reply, ScopeRef,
    WriteAck, read_acks, read_hello, read_status, read_void,
};
use tokio::sync::Mutex;

use super::error::SyncError;
use super::link::{BoxFuture, LinkError};
use super::rpc::{Gone, Rpc, Stream};
use crate::{Identity, RemoteId};

/// How many parts of an upload are on their way at once (WIRE-114).
const PARTS_IN_FLIGHT: usize = 4;

pub(super) struct Session<'a> {
    rpc: &'a Rpc,
    scope: ScopeRef<'a>,
    /// Who the server is.
    pub(super) remote: RemoteId,
    /// The lowest sequence it assigns.
    pub(super) first_sequence: u64,
    compaction: bool,
    /// The number of the next upload in parts.
    next_message: Mutex<i64>,
}

impl<'a> Session<'a> {
    /// Says hello and proves the identity.
    pub(super) async fn open(
        rpc: &'a Rpc,
        identity: &'a Identity,
        store_id: &'a str,
    ) -> Result<Self, SyncError> {
        let exit = rpc.call(&Call::Hello).await?;
        let hello = success(read_hello(&exit))?;
        let proof = identity.sign_session(&hello.remote_id.0, hello.challenge);
        let login = Call::Authenticate(Authenticate {
            public_key: identity.public_key(),
            signing_public_key: &proof.signing_public_key,
            signature: &proof.signature,
            algorithm: Algorithm::Ed25519,
        });
        success(read_void(&rpc.call(&login).await?))?;
        Ok(Self {
            rpc,
            scope: ScopeRef { public_key: identity.public_key(), store_id },
            remote: hello.remote_id,
            first_sequence: hello.first_sequence,
            compaction: hello.compaction,
            next_message: Mutex::new(0),
        })
    }

    pub(super) fn scope(&self) -> ScopeRef<'a> {
        self.scope
    }

    /// The highest sequence of the store, one less than the first if it is empty; `None` if the
    /// server does not tell.
    pub(super) async fn head(&self) -> Result<Option<i64>, SyncError> {
        if !self.compaction {
            return Ok(None);
        }
        let status = Call::Compaction { call: CompactionCall::Status, scope: self.scope };
        let exit = self.rpc.call(&status).await?;
        Ok(Some(success(read_status(&exit))?.head))
    }

    /// Everything from a sequence on, and what is still to come.
    pub(super) async fn changes(&self, start_sequence: u64) -> Result<Stream<'a>, SyncError> {
        let changes = Call::Changes { scope: self.scope, start_sequence };
        self.rpc.stream(&changes).await
    }

    /// Uploads the frame of a write, in parts if it is long.
    pub(super) async fn write(&self, frame: &Bytes) -> Result<Vec<WriteAck>, SyncError> {
        if frame.len() <= MAX_PART {
            return self.acks_of(Call::WriteSingle { data: frame }).await;
        }
        let mut next_message = self.next_message.lock().await;
        let (id, total) = (*next_message, frame.len().div_ceil(MAX_PART) as u64);
        *next_message += 1;
        drop(next_message);
        let part = |(index, data)| Chunked { id, index, total, data };
        let parts = (0..).zip(frame.chunks(MAX_PART)).map(part);
        let calls: Vec<BoxFuture<'_, _>> =
            parts.map(|part| Box::pin(self.acks_of(Call::WriteChunked(part))) as BoxFuture<'_, _>).collect();
        stream::iter(calls).buffer_unordered(PARTS_IN_FLIGHT).try_concat().await
    }

    async fn acks_of(&self, call: Call<'_>) -> Result<Vec<WriteAck>, SyncError> {
        let exit = self.rpc.call(&call).await?;
        success(read_acks(&exit))
    }
}

/// The value of a successful exit.
pub(super) fn success<T>(reply: Result<Reply<'_, T>, Malformed>) -> Result<T, SyncError> {
    match reply? {
        Reply::Success(value) => Ok(value),
        Reply::Failure(Reason::Fail(error)) => Err(SyncError::refused(&error)),
        Reply::Failure(Reason::Die(defect)) => Err(SyncError::Failed(defect.to_owned())),
        Reply::Failure(Reason::Interrupt) => Err(SyncError::Failed("it was interrupted".to_owned())),
        Reply::Failure(Reason::Unknown) => Err(SyncError::Failed("no reason given".to_owned())),
    }
}

impl From<Gone> for SyncError {
    fn from(_: Gone) -> Self {
        LinkError("connection ended".to_owned()).into()
    }
}
