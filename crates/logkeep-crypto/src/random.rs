//! Where random bytes come from.

use std::fmt;

/// A source of cryptographic randomness. Tests pass a fixed one; everything else passes
/// [`OsRandom`].
pub trait Random: Send + Sync {
    /// Overwrites all of `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes).map_err(|error| RandomError::new(error.to_string()))
    }
}

/// The random source gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomError(String);

impl RandomError {
    /// A failure with its reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no random bytes: {}", self.0)
    }
}

impl std::error::Error for RandomError {}

/// `N` fresh random bytes.
pub(crate) fn random_bytes<const N: usize>(random: &dyn Random) -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    random.fill(&mut bytes)?;
    Ok(bytes)
}
