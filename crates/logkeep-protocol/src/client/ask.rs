//! Calls as a client writes them (rpc-wire 7.2).

use schema_binary::wire::put_uvarint;

use crate::fields::{framed, put_bytes, put_int, put_natural};
use crate::{Authenticate, Call, Chunked, CompactionCall, ScopeRef, field};

impl Call<'_> {
    /// The name under which the call is made.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Hello => "EventLog.Hello",
            Self::Authenticate(_) => "EventLog.Authenticate",
            Self::WriteSingle { .. } => "EventLog.WriteSingle",
            Self::WriteChunked(_) => "EventLog.WriteChunked",
            Self::Changes { .. } => "EventLog.Changes",
            Self::Compaction { call, .. } => match call {
                CompactionCall::Status => "EventLog.CompactionStatus",
                CompactionCall::Begin => "EventLog.CompactionBegin",
                CompactionCall::Input => "EventLog.CompactionInput",
                CompactionCall::Fetch => "EventLog.CompactionFetch",
                CompactionCall::Part => "EventLog.CompactionPart",
                CompactionCall::Abort => "EventLog.CompactionAbort",
                CompactionCall::Commit => "EventLog.CompactionCommit",
            },
        }
    }

    /// The hole with the payload. Calls of the compaction group write their scope.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Hello => framed(|_| ()),
            Self::Authenticate(authenticate) => framed(|out| authenticate.write(out)),
            Self::WriteSingle { data } => framed(|out| put_bytes(out, field::DATA, data)),
            Self::WriteChunked(part) => framed(|out| part.write(out)),
            Self::Changes { scope, start_sequence } => framed(|out| {
                put_bytes(out, field::STORE_ID, scope.store_id.as_bytes());
                put_uvarint(out, u64::from(field::START_SEQUENCE) * 8 + 1);
                put_natural(out, *start_sequence);
                put_bytes(out, field::PUBLIC_KEY, scope.public_key.as_bytes());
            }),
            Self::Compaction { scope, .. } => framed(|out| scope.write(out)),
        }
    }
}

impl ScopeRef<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, field::STORE_ID, self.store_id.as_bytes());
        put_bytes(out, field::PUBLIC_KEY, self.public_key.as_bytes());
    }
}

impl Authenticate<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, field::ALGORITHM, b"Ed25519");
        put_bytes(out, field::SIGNATURE, self.signature);
        put_bytes(out, field::PUBLIC_KEY, self.public_key.as_bytes());
        put_bytes(out, field::SIGNING_PUBLIC_KEY, self.signing_public_key);
    }
}

impl Chunked<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        put_uvarint(out, u64::from(field::ID) * 8 + 1);
        put_int(out, self.id);
        put_bytes(out, field::TAG, b"Chunked");
        let mut part = Vec::with_capacity(8);
        put_natural(&mut part, self.index);
        put_natural(&mut part, self.total);
        put_bytes(out, field::PART, &part);
        put_bytes(out, field::DATA, self.data);
    }
}
