//! How a device proves to a server that it holds an identity.
//!
//! The server names itself (remote id) and sends a random challenge; the device signs both
//! together with its public key string and its signing key. Ed25519 without prehash or
//! context, so signatures are deterministic.

use std::borrow::Cow;

use ed25519_dalek::{Signature, VerifyingKey};

use crate::text::{hex, length_prefix};

/// The only signature algorithm there is, as it is written in an Authenticate call.
/// The comparison is case-sensitive.
pub const ALGORITHM: &str = "Ed25519";

/// First field of every signed payload; keeps these signatures apart from any other use of the key.
const CONTEXT: &str = "eventlog-auth-v1";

/// What a device signs to log in: five fields, each with its length in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPayload<'a> {
    /// The server's remote id as 32 lowercase hex digits, see [`SessionPayload::new`].
    pub remote_id: Cow<'a, str>,
    /// The server's challenge; 32 bytes from a real server, but any length is legal.
    pub challenge: &'a [u8],
    /// The identity's public key string.
    pub public_key: &'a str,
    /// The Ed25519 key that verifies the signature.
    pub signing_public_key: [u8; 32],
}

/// Why bytes are not a session payload (WIRE-123).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// A field runs past the end, a text is not UTF-8, or bytes follow the last field.
    #[error("session payload is truncated, has bytes left over or holds invalid UTF-8")]
    InvalidPayload,
    /// The payload was made for another purpose.
    #[error("session payload is not of the context {CONTEXT}")]
    InvalidContext,
    /// The last field is not an Ed25519 key.
    #[error("signing public key in the session payload is not 32 bytes long")]
    InvalidSigningPublicKeyLength,
}

/// Why a login is refused. A server answers all of them alike (WIRE-122).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The signing public key is not 32 bytes long; holds the length found.
    #[error("signing public key has {0} bytes instead of 32")]
    InvalidSigningPublicKeyLength(usize),
    /// The signature is not 64 bytes long; holds the length found.
    #[error("signature has {0} bytes instead of 64")]
    InvalidSignatureLength(usize),
    /// The signature was not made by this key over this payload, or the key is a weak point.
    #[error("signature does not match")]
    InvalidSignature,
}

/// Checks the signature of a login against the server's own remote id and challenge and the
/// device's public key string. `signing_public_key` must be the key the server has bound to
/// that string, if it has one.
///
/// Stricter than RFC 8032 asks: keys of small order and signatures that other libraries would
/// judge differently are refused.
pub fn verify_session(
    signing_public_key: &[u8],
    signature: &[u8],
    remote_id: &[u8; 16],
    challenge: &[u8],
    public_key: &str,
) -> Result<(), VerifyError> {
    let signing_public_key = signing_public_key
        .try_into()
        .map_err(|_| VerifyError::InvalidSigningPublicKeyLength(signing_public_key.len()))?;
    SessionPayload::new(remote_id, challenge, public_key, signing_public_key).verify(signature)
}

impl<'a> SessionPayload<'a> {
    /// The payload for a login to the server `remote_id`.
    pub fn new(
        remote_id: &[u8; 16],
        challenge: &'a [u8],
        public_key: &'a str,
        signing_public_key: [u8; 32],
    ) -> Self {
        Self { remote_id: Cow::Owned(hex(remote_id)), challenge, public_key, signing_public_key }
    }

    /// The bytes that are signed (WIRE-120).
    pub fn encode(&self) -> Vec<u8> {
        let fields: [&[u8]; 5] = [
            CONTEXT.as_bytes(),
            self.remote_id.as_bytes(),
            self.challenge,
            self.public_key.as_bytes(),
            &self.signing_public_key,
        ];
        let mut bytes = Vec::with_capacity(fields.iter().map(|field| field.len() + 4).sum());
        for field in fields {
            bytes.extend_from_slice(&length_prefix(field));
            bytes.extend_from_slice(field);
        }
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote and refuses everything else.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, PayloadError> {
        let mut rest = bytes;
        if take_text(&mut rest)? != CONTEXT {
            return Err(PayloadError::InvalidContext);
        }
        let remote_id = Cow::Borrowed(take_text(&mut rest)?);
        let challenge = take_field(&mut rest)?;
        let public_key = take_text(&mut rest)?;
        let signing_public_key =
            take_field(&mut rest)?.try_into().map_err(|_| PayloadError::InvalidSigningPublicKeyLength)?;
        if !rest.is_empty() {
            return Err(PayloadError::InvalidPayload);
        }
        Ok(Self { remote_id, challenge, public_key, signing_public_key })
    }

    /// Checks that `signature` was made over this payload by the key named in it.
    pub fn verify(&self, signature: &[u8]) -> Result<(), VerifyError> {
        let signature = Signature::from_slice(signature)
            .map_err(|_| VerifyError::InvalidSignatureLength(signature.len()))?;
        VerifyingKey::from_bytes(&self.signing_public_key)
            .and_then(|key| key.verify_strict(&self.encode(), &signature))
            .map_err(|_| VerifyError::InvalidSignature)
    }
}

fn take_field<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], PayloadError> {
    let (length, tail) = rest.split_first_chunk::<4>().ok_or(PayloadError::InvalidPayload)?;
    let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| PayloadError::InvalidPayload)?;
    let (field, tail) = tail.split_at_checked(length).ok_or(PayloadError::InvalidPayload)?;
    *rest = tail;
    Ok(field)
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, PayloadError> {
    std::str::from_utf8(take_field(rest)?).map_err(|_| PayloadError::InvalidPayload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::{Signer as _, SigningKey};

    const REMOTE: [u8; 16] = [0xab; 16];

    fn signed() -> ([u8; 32], [u8; 64]) {
        let key = SigningKey::from_bytes(&[7; 32]);
        let public = key.verifying_key().to_bytes();
        let payload = SessionPayload::new(&REMOTE, b"challenge", "me", public);
        (public, key.sign(&payload.encode()).to_bytes())
    }

    #[test]
    fn a_signature_counts_only_for_its_server_challenge_and_identity() {
        let (key, signature) = signed();
        assert_eq!(verify_session(&key, &signature, &REMOTE, b"challenge", "me"), Ok(()));
        for (remote, challenge, public_key) in
            [([0; 16], &b"challenge"[..], "me"), (REMOTE, b"other", "me"), (REMOTE, b"challenge", "you")]
        {
            assert_eq!(
                verify_session(&key, &signature, &remote, challenge, public_key),
                Err(VerifyError::InvalidSignature)
            );
        }
    }

    #[test]
    fn lengths_are_checked_before_anything_else() {
        let (key, signature) = signed();
        assert_eq!(
            verify_session(&key[..31], &signature, &REMOTE, b"", ""),
            Err(VerifyError::InvalidSigningPublicKeyLength(31))
        );
        assert_eq!(
            verify_session(&key, &signature[..63], &REMOTE, b"", ""),
            Err(VerifyError::InvalidSignatureLength(63))
        );
    }

    #[test]
    fn keys_of_small_order_are_refused() {
        // The identity point verifies R = S = 0 over any message in lenient libraries.
        let mut weak = [0; 32];
        weak[0] = 1;
        let mut signature = [0; 64];
        signature[0] = 1;
        assert_eq!(
            verify_session(&weak, &signature, &REMOTE, b"challenge", "me"),
            Err(VerifyError::InvalidSignature)
        );
    }

    #[test]
    fn parse_takes_back_what_encode_wrote_and_no_prefix_of_it() {
        let payload = SessionPayload::new(&REMOTE, &[1; 32], "ключ-🔑", [9; 32]);
        let bytes = payload.encode();
        assert_eq!(SessionPayload::parse(&bytes), Ok(payload));
        for end in 0..bytes.len() {
            assert_eq!(SessionPayload::parse(&bytes[..end]), Err(PayloadError::InvalidPayload), "{end}");
        }
    }
}
