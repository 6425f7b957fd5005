//! The calls by which clients build snapshots.

use schema_binary::{Decode, Encode, Layout};

use super::ScopeRef;
use super::payload::{Commit, Fetch, PAYLOADS, Part, Stage};
use crate::hole::PayloadMode;
use crate::{Chunked, Malformed};

/// A call of the compaction group, without the scope that all of them have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactionCall<'a> {
    /// Asks whether a snapshot is wanted.
    Status,
    /// Asks for a stage to build a snapshot in.
    Begin,
    /// Opens the stream of [`InputHeader`](crate::InputHeader)s of what is to be compacted.
    Input {
        /// The stage.
        stage: &'a str,
    },
    /// Opens the stream of some of these batches.
    Fetch {
        /// The stage.
        stage: &'a str,
        /// Which ones, by their sequences.
        batches: Vec<u64>,
    },
    /// Uploads a piece of a segment; the part's id is the index of the segment.
    Part {
        /// The stage.
        stage: &'a str,
        /// The piece.
        chunk: Chunked<'a>,
    },
    /// Gives the stage up.
    Abort {
        /// The stage.
        stage: &'a str,
    },
    /// Ends the stage.
    Commit {
        /// The stage.
        stage: &'a str,
        /// With what.
        result: StageResult,
    },
}

/// What a stage ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Layout, Encode, Decode)]
pub enum StageResult {
    /// A snapshot, whose segments were all uploaded.
    Snapshot {
        /// How many there are.
        #[schema(rename = "segmentCount")]
        segment_count: u64,
    },
    /// Nothing: there was nothing to leave out.
    NoOp,
}

impl<'a> CompactionCall<'a> {
    /// The call's short name, as errors carry it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Status => "CompactionStatus",
            Self::Begin => "CompactionBegin",
            Self::Input { .. } => "CompactionInput",
            Self::Fetch { .. } => "CompactionFetch",
            Self::Part { .. } => "CompactionPart",
            Self::Abort { .. } => "CompactionAbort",
            Self::Commit { .. } => "CompactionCommit",
        }
    }

    /// Reads the payload of the call named `EventLog.Compaction` and `name`; `None` if there is no such call.
    pub(super) fn read(name: &str, payload: &'a [u8]) -> Result<Option<(Self, ScopeRef<'a>)>, Malformed> {
        let scope = |public_key, store_id| ScopeRef { public_key, store_id };
        Ok(Some(match name {
            "Status" => (Self::Status, PAYLOADS.scope.read(payload)?),
            "Begin" => (Self::Begin, PAYLOADS.scope.read(payload)?),
            "Input" | "Abort" => {
                let Stage { public_key, store_id, stage_id: stage } = PAYLOADS.stage.read(payload)?;
                let call = if name == "Input" { Self::Input { stage } } else { Self::Abort { stage } };
                (call, scope(public_key, store_id))
            }
            "Fetch" => {
                let Fetch { public_key, store_id, stage_id: stage, batches } =
                    PAYLOADS.fetch.read(payload)?;
                (Self::Fetch { stage, batches }, scope(public_key, store_id))
            }
            "Part" => {
                let Part { public_key, store_id, stage_id: stage, chunk } = PAYLOADS.part.read(payload)?;
                (Self::Part { stage, chunk: chunk.try_into()? }, scope(public_key, store_id))
            }
            "Commit" => {
                let Commit { public_key, store_id, stage_id: stage, result } =
                    PAYLOADS.commit.read(payload)?;
                (Self::Commit { stage, result }, scope(public_key, store_id))
            }
            _ => return Ok(None),
        }))
    }

    /// Writes the payload.
    pub(super) fn write(&self, scope: ScopeRef<'a>, mode: PayloadMode) -> Result<Vec<u8>, Malformed> {
        let ScopeRef { public_key, store_id } = scope;
        match self {
            Self::Status | Self::Begin => PAYLOADS.scope.write(mode, &scope),
            Self::Input { stage: stage_id } | Self::Abort { stage: stage_id } => {
                PAYLOADS.stage.write(mode, &Stage { public_key, store_id, stage_id })
            }
            Self::Fetch { stage: stage_id, batches } => {
                let batches = batches.clone();
                PAYLOADS.fetch.write(mode, &Fetch { public_key, store_id, stage_id, batches })
            }
            Self::Part { stage: stage_id, chunk } => {
                let chunk = (*chunk).into();
                PAYLOADS.part.write(mode, &Part { public_key, store_id, stage_id, chunk })
            }
            Self::Commit { stage: stage_id, result } => {
                PAYLOADS.commit.write(mode, &Commit { public_key, store_id, stage_id, result: *result })
            }
        }
    }
}
