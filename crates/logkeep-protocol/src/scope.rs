//! Whose log, and which one.

use std::sync::Arc;

/// An identity's public key and the name of one of its stores.
///
/// Both are client-chosen text. They are kept apart everywhere, so that no public key and store can be
/// read as another pair (SV-W02).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The identity's public key, any text.
    pub public_key: Arc<str>,
    /// The store id, any text.
    pub store: Arc<str>,
}

impl Scope {
    /// Names the log `store` of the identity `public_key`.
    pub fn new(public_key: impl Into<Arc<str>>, store: impl Into<Arc<str>>) -> Self {
        Self { public_key: public_key.into(), store: store.into() }
    }
}
