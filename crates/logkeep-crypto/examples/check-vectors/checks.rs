//! One check per section of a vector file. A vector passes if every value in it is what this
//! crate computes, refusals included.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use logkeep_crypto::batch::additional_data;
use logkeep_crypto::cut::batch_lengths;
use logkeep_crypto::identity::{ENCRYPTION_LABEL, SIGNING_LABEL, derive_secret};
use logkeep_crypto::session::{ALGORITHM, PayloadError, SessionPayload, VerifyError};
use logkeep_crypto::{Identity, Random, RandomError, SealCounter, Sealer};
use logkeep_protocol::{Entry, EntryId, write_entries_plaintext};
use serde_json::{Value, json};

/// What became of a file's vectors.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many vectors hold.
    pub(crate) passed: usize,
    /// A line for each vector that does not: section, name, difference.
    pub(crate) failures: Vec<String>,
}

type Check = fn(&Vector) -> Result<(), String>;

const SECTIONS: [(&str, Check); 8] = [
    ("keyDerivation", key_derivation),
    ("sessionAuth", session_auth),
    ("sessionAuthVerify", session_verify),
    ("sessionAuthPayloadDecode", session_decode),
    ("batchEncryption", batch_encryption),
    ("batchSizes", batch_sizes),
    ("identityStrings", identity_string),
    ("identityStringDecode", identity_string_decode),
];

/// Checks every known section that the file has.
pub(crate) fn check_all(file: &Value) -> Report {
    let mut report = Report::default();
    for (section, check) in SECTIONS {
        for vector in file.get(section).and_then(Value::as_array).into_iter().flatten() {
            let name = vector.get("name").and_then(Value::as_str).unwrap_or("without a name");
            match check(&Vector { file, vector }) {
                Ok(()) => report.passed += 1,
                Err(difference) => report.failures.push(format!("{section}, {name}: {difference}")),
            }
        }
    }
    // The labels are no vector of their own: they count only if they are wrong.
    let labels = json!({"encryption": ENCRYPTION_LABEL, "signing": SIGNING_LABEL});
    if let Err(difference) = expect("labels", file.get("derivationLabels").unwrap_or(&labels), &labels) {
        report.failures.push(format!("derivationLabels: {difference}"));
    }
    report
}

fn key_derivation(vector: &Vector) -> Result<(), String> {
    let root_secret = vector.bytes("rootSecret")?;
    let seed = derive_secret(&root_secret, SIGNING_LABEL);
    let pkcs8 = format!("302e020100300506032b657004220420{}", hex(seed.as_slice()));
    vector.expect("aesKey", hex(derive_secret(&root_secret, ENCRYPTION_LABEL).as_slice()))?;
    vector.expect("ed25519Seed", hex(seed.as_slice()))?;
    vector.expect("ed25519PublicKey", hex(&Identity::new("", &root_secret).signing_public_key()))?;
    vector.expect("ed25519Pkcs8", pkcs8)
}

fn session_auth(vector: &Vector) -> Result<(), String> {
    let remote_id: [u8; 16] = vector.array("remoteId")?;
    let challenge = vector.bytes("challenge")?;
    let identity = Identity::new(vector.text("publicKey")?, &vector.root_secret()?);
    let proof = identity.sign_session(&remote_id, &challenge);
    let payload =
        SessionPayload::new(&remote_id, &challenge, identity.public_key(), proof.signing_public_key);
    vector.expect("signingPublicKey", hex(&proof.signing_public_key))?;
    vector.expect("payload", hex(&payload.encode()))?;
    vector.expect("signature", hex(&proof.signature))?;
    vector.expect("verified", payload.verify(&proof.signature).is_ok())
}

fn session_verify(vector: &Vector) -> Result<(), String> {
    let outcome = verify(vector)?;
    vector.expect(
        "outcome",
        outcome.map_or_else(|_| "error", |valid| if valid { "valid" } else { "invalid" }),
    )?;
    match outcome {
        Err(reason) => vector.expect("reason", reason),
        Ok(_) => Ok(()),
    }
}

/// Whether the signature is valid, or why it cannot be checked at all.
fn verify(vector: &Vector) -> Result<Result<bool, &'static str>, String> {
    if vector.text("algorithm")? != ALGORITHM {
        return Ok(Err("InvalidAlgorithm"));
    }
    let Ok(signing_public_key) = vector.bytes("signingPublicKey")?.try_into() else {
        return Ok(Err("InvalidSigningPublicKeyLength"));
    };
    let payload = SessionPayload {
        remote_id: vector.text("remoteId")?.into(),
        challenge: &vector.bytes("challenge")?,
        public_key: vector.text("publicKey")?,
        signing_public_key,
    };
    Ok(match payload.verify(&vector.bytes("signature")?) {
        Ok(()) => Ok(true),
        Err(VerifyError::InvalidSignature) => Ok(false),
        Err(VerifyError::InvalidSignatureLength(_)) => Err("InvalidSignatureLength"),
        Err(VerifyError::InvalidSigningPublicKeyLength(_)) => Err("InvalidSigningPublicKeyLength"),
    })
}

fn session_decode(vector: &Vector) -> Result<(), String> {
    match SessionPayload::parse(&vector.bytes("payload")?) {
        Ok(payload) => vector.expect(
            "fields",
            json!({
                "remoteId": payload.remote_id,
                "challenge": hex(payload.challenge),
                "publicKey": payload.public_key,
                "signingPublicKey": hex(&payload.signing_public_key),
            }),
        ),
        Err(PayloadError::InvalidPayload) => vector.expect("error", "InvalidPayload"),
        Err(PayloadError::InvalidContext) => vector.expect("error", "InvalidContext"),
        Err(PayloadError::InvalidSigningPublicKeyLength) => {
            vector.expect("error", "InvalidSigningPublicKeyLength")
        }
    }
}

fn batch_encryption(vector: &Vector) -> Result<(), String> {
    let root_secret = vector.named_root_secret(vector.text("identity")?)?;
    let identity = Identity::new("", &root_secret);
    let store_id = vector.text("storeId")?;
    let entries = vector.entries()?;
    let ids: Vec<[u8; 16]> = entries.iter().map(|entry| entry.id.0).collect();
    vector.expect("plaintext", hex(&write_entries_plaintext(&entries)))?;
    let plaintext = vector.bytes("plaintext")?;
    vector.expect("aesKey", hex(derive_secret(&root_secret, ENCRYPTION_LABEL).as_slice()))?;
    vector.expect("aad", hex(&additional_data(store_id, &ids)))?;

    let nonce = Arc::new(FixedRandom(vector.bytes("iv")?));
    let mut sealer = Sealer::new(identity.batch_key(), nonce, Box::new(Uncounted));
    let sealed = sealer.seal(store_id, &ids, plaintext.clone()).map_err(|error| error.to_string())?;
    vector.expect("ciphertextAndTag", hex(&sealed.ciphertext))?;

    let opened = identity.batch_key().open(store_id, &ids, &sealed.iv, &vector.bytes("ciphertextAndTag")?);
    if opened.as_ref() == Ok(&plaintext) { Ok(()) } else { Err("does not open to its plaintext".into()) }
}

fn batch_sizes(vector: &Vector) -> Result<(), String> {
    let sizes: Vec<usize> = serde_json::from_value(vector.field("payloadSizes")?.clone())
        .map_err(|error| format!("payloadSizes: {error}"))?;
    vector.expect("batches", batch_lengths(sizes))
}

fn identity_string(vector: &Vector) -> Result<(), String> {
    let identity = Identity::new(vector.text("publicKey")?, &vector.bytes("rootSecret")?);
    let text = identity.to_identity_string();
    vector.expect("string", text.as_str())?;
    let json = BASE64_URL_SAFE_NO_PAD.decode(text.as_bytes()).map_err(|error| error.to_string())?;
    vector.expect("json", String::from_utf8_lossy(&json))?;
    let again = Identity::from_identity_string(&text).map_err(|error| error.to_string())?;
    vector.expect("publicKey", again.public_key())?;
    vector.expect("rootSecret", hex(again.root_secret()))
}

fn identity_string_decode(vector: &Vector) -> Result<(), String> {
    match Identity::from_identity_string(vector.text("string")?) {
        Ok(identity) => {
            vector.expect("publicKey", identity.public_key())?;
            vector.expect("rootSecret", hex(identity.root_secret()))
        }
        Err(_) => vector.expect("error", true),
    }
}

/// A vector and the file around it, in which identities are looked up by name.
struct Vector<'a> {
    file: &'a Value,
    vector: &'a Value,
}

impl<'a> Vector<'a> {
    fn field(&self, name: &str) -> Result<&'a Value, String> {
        self.vector.get(name).ok_or_else(|| format!("has no {name}"))
    }

    fn text(&self, name: &str) -> Result<&'a str, String> {
        self.field(name)?.as_str().ok_or_else(|| format!("{name} is not a text"))
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        unhex(self.text(name)?).ok_or_else(|| format!("{name} is not hex"))
    }

    fn array<const N: usize>(&self, name: &str) -> Result<[u8; N], String> {
        self.bytes(name)?.try_into().map_err(|_| format!("{name} is not {N} bytes long"))
    }

    fn entries(&self) -> Result<Vec<Entry>, String> {
        let entries = self.field("entries")?.as_array().ok_or("entries is not a list")?;
        entries.iter().map(|vector| Vector { file: self.file, vector }.entry()).collect()
    }

    fn entry(&self) -> Result<Entry, String> {
        Ok(Entry {
            id: EntryId(self.array("id")?),
            event: self.text("event")?.to_owned(),
            primary_key: self.text("primaryKey")?.to_owned(),
            payload: self.bytes("payload")?,
        })
    }

    /// The root secret whose vector has the same name as this one.
    fn root_secret(&self) -> Result<Vec<u8>, String> {
        self.named_root_secret(self.text("name")?)
    }

    fn named_root_secret(&self, name: &str) -> Result<Vec<u8>, String> {
        let identities = self.file.get("keyDerivation").and_then(Value::as_array);
        let found =
            identities.into_iter().flatten().find(|identity| identity.get("name") == Some(&json!(name)));
        let vector = found.ok_or_else(|| format!("keyDerivation has no {name}"))?;
        Vector { file: self.file, vector }.bytes("rootSecret")
    }

    fn expect(&self, name: &str, computed: impl Into<Value>) -> Result<(), String> {
        expect(name, self.field(name)?, &computed.into())
    }
}

fn expect(name: &str, expected: &Value, computed: &Value) -> Result<(), String> {
    if expected == computed { Ok(()) } else { Err(format!("{name} is {computed}, expected {expected}")) }
}

struct FixedRandom(Vec<u8>);

impl Random for FixedRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        if bytes.len() != self.0.len() {
            return Err(RandomError::new(format!("iv has {} bytes", self.0.len())));
        }
        bytes.copy_from_slice(&self.0);
        Ok(())
    }
}

struct Uncounted;

impl SealCounter for Uncounted {
    fn reserve(&mut self, _: u64) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        Ok(0)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<u32>>>()?;
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| u8::try_from(pair.iter().fold(0, |sum, digit| sum * 16 + digit)).ok()).collect()
}
