//! Secrets are wiped and never shown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use logkeep_crypto::identity::{ENCRYPTION_LABEL, SIGNING_LABEL, derive_secret};
use logkeep_crypto::{BatchKey, Identity, OsRandom, SealCounter, Sealer};
use zeroize::ZeroizeOnDrop;

struct Uncounted;

impl SealCounter for Uncounted {
    fn reserve(&mut self, _: u64) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        Ok(0)
    }
}

/// Every way the bytes of a secret could be spelled in output.
fn spellings(secret: &[u8]) -> Vec<String> {
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let list = format!("{secret:?}");
    let inner = list.trim_matches(['[', ']']).to_owned();
    vec![hex.to_uppercase(), hex, inner, BASE64_STANDARD.encode(secret)]
}

#[test]
fn nothing_secret_is_printed() {
    let secret: Vec<u8> = (100..132).collect();
    let identity = Identity::new("me", &secret);
    let sealer = Sealer::new(identity.batch_key(), Arc::new(OsRandom), Box::new(Uncounted));
    let mut text = identity.to_identity_string().to_string();
    text.push('!');
    let refusal = Identity::from_identity_string(&text).unwrap_err();
    let printed = format!(
        "{identity:?} {identity:#?} {:?} {sealer:?} {refusal} {refusal:?} {:?} {}",
        identity.batch_key(),
        identity.sign_session(&[1; 16], &[2; 32]),
        identity.fingerprint(),
    );
    let derived = [ENCRYPTION_LABEL, SIGNING_LABEL].map(|label| derive_secret(&secret, label).to_vec());
    for hidden in std::iter::once(secret).chain(derived) {
        for spelling in spellings(&hidden) {
            assert!(!printed.contains(&spelling), "{spelling} in {printed}");
        }
    }
    assert!(printed.contains("Identity") && printed.contains("me"));
}

#[test]
fn secrets_are_wiped_when_dropped() {
    fn wiped<T: ZeroizeOnDrop>() {}
    wiped::<Identity>();
    wiped::<BatchKey>();
    fn wiped_value<T: ZeroizeOnDrop>(_: &T) {}
    wiped_value(&derive_secret(b"secret", SIGNING_LABEL));
    wiped_value(&Identity::new("me", b"secret").to_identity_string());
}
