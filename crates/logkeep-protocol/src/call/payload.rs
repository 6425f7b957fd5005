//! The payloads of the calls as they are written (rpc-wire 7.1).

use std::sync::LazyLock;

use schema_binary::{Decode, Encode, Layout};

use super::{Authenticate, ScopeRef, StageResult};
use crate::chunked::WireChunked;
use crate::hole::Hole;

/// The schemas of all payloads.
#[derive(Default)]
pub(super) struct Payloads {
    pub(super) void: Hole<()>,
    pub(super) authenticate: Hole<Authenticate<'static>>,
    pub(super) write_single: Hole<WriteSingle<'static>>,
    pub(super) write_chunked: Hole<WireChunked<'static>>,
    pub(super) changes: Hole<Changes<'static>>,
    pub(super) scope: Hole<ScopeRef<'static>>,
    pub(super) stage: Hole<Stage<'static>>,
    pub(super) fetch: Hole<Fetch<'static>>,
    pub(super) part: Hole<Part<'static>>,
    pub(super) commit: Hole<Commit<'static>>,
}

pub(super) static PAYLOADS: LazyLock<Payloads> = LazyLock::new(Payloads::default);

#[derive(Layout, Encode, Decode)]
pub(super) struct WriteSingle<'a> {
    pub(super) data: &'a [u8],
}

#[derive(Layout, Encode, Decode)]
pub(super) struct Changes<'a> {
    #[schema(rename = "publicKey")]
    pub(super) public_key: &'a str,
    #[schema(rename = "storeId")]
    pub(super) store_id: &'a str,
    #[schema(rename = "startSequence")]
    pub(super) start_sequence: u64,
}

#[derive(Layout, Encode, Decode)]
pub(super) struct Stage<'a> {
    #[schema(rename = "publicKey")]
    pub(super) public_key: &'a str,
    #[schema(rename = "storeId")]
    pub(super) store_id: &'a str,
    #[schema(rename = "stageId")]
    pub(super) stage_id: &'a str,
}

#[derive(Layout, Encode, Decode)]
pub(super) struct Fetch<'a> {
    #[schema(rename = "publicKey")]
    pub(super) public_key: &'a str,
    #[schema(rename = "storeId")]
    pub(super) store_id: &'a str,
    #[schema(rename = "stageId")]
    pub(super) stage_id: &'a str,
    pub(super) batches: Vec<u64>,
}

#[derive(Layout, Encode, Decode)]
pub(super) struct Part<'a> {
    #[schema(rename = "publicKey")]
    pub(super) public_key: &'a str,
    #[schema(rename = "storeId")]
    pub(super) store_id: &'a str,
    #[schema(rename = "stageId")]
    pub(super) stage_id: &'a str,
    pub(super) chunk: WireChunked<'a>,
}

#[derive(Layout, Encode, Decode)]
pub(super) struct Commit<'a> {
    #[schema(rename = "publicKey")]
    pub(super) public_key: &'a str,
    #[schema(rename = "storeId")]
    pub(super) store_id: &'a str,
    #[schema(rename = "stageId")]
    pub(super) stage_id: &'a str,
    pub(super) result: StageResult,
}
