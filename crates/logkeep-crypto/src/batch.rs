//! Sealing and opening batches: AES-256-GCM over the encoded entries (WIRE-132, WIRE-133).
//!
//! Store id and entry ids are not secret but bound to the seal: a server can neither move a
//! batch to another store nor reorder or relabel its entries. The sequence is not protected.

use std::fmt;

use aes_gcm::aead::AeadInOut as _;
use aes_gcm::{Aes256Gcm, KeyInit as _};
use zeroize::ZeroizeOnDrop;

use crate::text::length_prefix;

/// A sealed batch, ready to travel. Holds nothing secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedBatch {
    /// The nonce, unique to this batch.
    pub iv: [u8; 12],
    /// The encrypted bytes with the 16-byte tag behind them.
    pub ciphertext: Vec<u8>,
}

/// Why a batch does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The nonce is not 12 bytes long; holds the length found.
    #[error("nonce of the batch has {0} bytes instead of 12")]
    InvalidNonceLength(usize),
    /// Sealed under another key or for another store or list of ids, or changed on the way.
    #[error("batch does not open: other key, other store, other entry ids, or damaged")]
    NotAuthentic,
}

/// The key of an identity's batches. Opens by itself; to seal, see [`Sealer`](crate::Sealer),
/// which counts.
///
/// ```compile_fail
/// # let key = logkeep_crypto::Identity::new("me", &[1; 32]).batch_key();
/// let copy = key.clone();
/// ```
pub struct BatchKey(Aes256Gcm);

impl BatchKey {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Aes256Gcm::new(key.into()))
    }

    /// The plaintext of a batch that was sealed for `store_id` with these entry ids in this order.
    pub fn open(
        &self,
        store_id: &str,
        entry_ids: &[[u8; 16]],
        iv: &[u8],
        ciphertext: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        let iv: &[u8; 12] = iv.try_into().map_err(|_| OpenError::InvalidNonceLength(iv.len()))?;
        let mut bytes = ciphertext.to_vec();
        self.0
            .decrypt_in_place(iv.into(), &additional_data(store_id, entry_ids), &mut bytes)
            .map_err(|_| OpenError::NotAuthentic)?;
        Ok(bytes)
    }

    /// Seals in place under a nonce that must never have been used with this key. `None` only
    /// for a plaintext of more than 64 GiB, the cipher's limit.
    pub(crate) fn seal(
        &self,
        store_id: &str,
        entry_ids: &[[u8; 16]],
        iv: [u8; 12],
        plaintext: Vec<u8>,
    ) -> Option<SealedBatch> {
        let mut ciphertext = plaintext;
        self.0.encrypt_in_place((&iv).into(), &additional_data(store_id, entry_ids), &mut ciphertext).ok()?;
        Some(SealedBatch { iv, ciphertext })
    }
}

/// The cipher wipes its round keys.
impl ZeroizeOnDrop for BatchKey where Aes256Gcm: ZeroizeOnDrop {}

/// Shows nothing of the key.
impl fmt::Debug for BatchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchKey").finish_non_exhaustive()
    }
}

/// What is bound to a seal: length of the store id, store id, and the ids without a count.
pub fn additional_data(store_id: &str, entry_ids: &[[u8; 16]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + store_id.len() + entry_ids.len() * 16);
    bytes.extend_from_slice(&length_prefix(store_id.as_bytes()));
    bytes.extend_from_slice(store_id.as_bytes());
    bytes.extend(entry_ids.iter().flatten());
    bytes
}
