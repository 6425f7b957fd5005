//! An identity: whoever holds it reads and writes its logs.

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest as _, Sha256};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::batch::BatchKey;
use crate::random::{Random, RandomError, random_bytes};
use crate::session::SessionPayload;
use crate::text::hex;

/// Label of the key that seals batches, see [`derive_secret`].
pub const ENCRYPTION_LABEL: &str = "effect/eventlog/identity/v1/encryption";

/// Label of the Ed25519 seed that signs sessions, see [`derive_secret`].
pub const SIGNING_LABEL: &str = "effect/eventlog/identity/v1/signing";

/// Label of the bytes a [fingerprint](Identity::fingerprint) is made of.
const FINGERPRINT_LABEL: &str = "logkeep/identity/v1/fingerprint";

/// A public key string and the root secret that all other secrets are derived from.
///
/// The public key string is a name, not a key: a server ties it to the signing key of the
/// first device that logs in with it.
///
/// The secret cannot be copied by accident:
/// ```compile_fail
/// # let identity = logkeep_crypto::Identity::new("me", &[1; 32]);
/// let copy = identity.clone();
/// ```
pub struct Identity {
    public_key: String,
    root_secret: Zeroizing<Vec<u8>>,
}

/// What an Authenticate call carries beside the public key string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionProof {
    /// The Ed25519 key that verifies the signature.
    pub signing_public_key: [u8; 32],
    /// The signature over the [`SessionPayload`].
    pub signature: [u8; 64],
}

impl Identity {
    /// An identity of given parts. Neither form nor length is checked; effect accepts any.
    pub fn new(public_key: impl Into<String>, root_secret: &[u8]) -> Self {
        Self { public_key: public_key.into(), root_secret: Zeroizing::new(root_secret.to_vec()) }
    }

    /// A fresh identity: a random UUID as public key and 32 random secret bytes.
    pub fn generate(random: &dyn Random) -> Result<Self, RandomError> {
        let public_key = uuid_v4(random_bytes(random)?);
        let root_secret: Zeroizing<[u8; 32]> = Zeroizing::new(random_bytes(random)?);
        Ok(Self::new(public_key, root_secret.as_slice()))
    }

    /// The name under which servers know this identity.
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// The root secret itself. Whoever sees it owns the identity.
    pub fn root_secret(&self) -> &[u8] {
        &self.root_secret
    }

    /// The key that seals and opens this identity's batches.
    pub fn batch_key(&self) -> BatchKey {
        BatchKey::new(&derive_secret(&self.root_secret, ENCRYPTION_LABEL))
    }

    /// The public half of the key that signs sessions.
    pub fn signing_public_key(&self) -> [u8; 32] {
        self.signing_key().verifying_key().to_bytes()
    }

    /// Signs a login to the server `remote_id`, which sent `challenge`.
    pub fn sign_session(&self, remote_id: &[u8; 16], challenge: &[u8]) -> SessionProof {
        let key = self.signing_key();
        let signing_public_key = key.verifying_key().to_bytes();
        let payload = SessionPayload::new(remote_id, challenge, &self.public_key, signing_public_key);
        SessionProof { signing_public_key, signature: key.sign(&payload.encode()).to_bytes() }
    }

    /// Eight groups of four hex digits for people to compare: equal on two devices only if
    /// public key string and root secret are. Reveals nothing of the secret.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(FINGERPRINT_LABEL.as_bytes());
        hash.update([0]);
        hash.update(self.signing_public_key());
        hash.update(self.public_key.as_bytes());
        let bytes: [u8; 32] = hash.finalize().into();
        let groups: Vec<String> = bytes.chunks(2).take(8).map(hex).collect();
        groups.join(" ")
    }

    fn signing_key(&self) -> SigningKey {
        SigningKey::from_bytes(&derive_secret(&self.root_secret, SIGNING_LABEL))
    }
}

/// The root secret wipes itself; the public key is no secret.
impl ZeroizeOnDrop for Identity {}

/// Shows who it is, never the secret.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("public_key", &self.public_key).finish_non_exhaustive()
    }
}

/// SHA-256 of label, a zero byte and root secret (WIRE-131).
pub fn derive_secret(root_secret: &[u8], label: &str) -> Zeroizing<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(label.as_bytes());
    hash.update([0]);
    hash.update(root_secret);
    Zeroizing::new(hash.finalize().into())
}

fn uuid_v4(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let [a, b, c, d, e] = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]].map(hex);
    format!("{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::OsRandom;

    #[test]
    fn generated_identities_differ_and_have_a_uuid_for_a_name() {
        let (a, b) = (Identity::generate(&OsRandom).unwrap(), Identity::generate(&OsRandom).unwrap());
        assert_ne!(a.public_key(), b.public_key());
        assert_ne!(a.root_secret(), b.root_secret());
        assert_eq!(a.root_secret().len(), 32);
        assert_eq!(a.public_key().len(), 36);
        assert_eq!(a.public_key().as_bytes()[14], b'4');
        assert!(b"89ab".contains(&a.public_key().as_bytes()[19]));
    }

    #[test]
    fn a_fingerprint_stands_for_name_and_secret() {
        let fingerprint = |name: &str, secret: &[u8]| Identity::new(name, secret).fingerprint();
        assert_eq!(fingerprint("me", &[1; 32]), fingerprint("me", &[1; 32]));
        assert_ne!(fingerprint("me", &[1; 32]), fingerprint("you", &[1; 32]));
        assert_ne!(fingerprint("me", &[1; 32]), fingerprint("me", &[2; 32]));
        assert_eq!(fingerprint("me", &[1; 32]).len(), 39);
    }
}
