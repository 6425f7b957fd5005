//! Items of streams, as schemas.

use std::sync::LazyLock;

use schema_binary::types::NonEmpty;
use schema_binary::{Decode, Encode, Layout};

use crate::chunked::WireChunked;
use crate::hole::Hole;

/// An item of a stream: a message, or a part of one.
#[derive(Debug, Clone, PartialEq, Layout, Encode, Decode)]
pub(crate) enum WireItem<'a> {
    Single { data: &'a [u8] },
    Chunked(WireChunked<'a>),
}

/// The schemas of a Chunk's values, and of one of them.
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) list: Hole<NonEmpty<WireItem<'static>>>,
    pub(crate) one: Hole<WireItem<'static>>,
}

pub(crate) static ITEMS: LazyLock<Items> = LazyLock::new(Items::default);
