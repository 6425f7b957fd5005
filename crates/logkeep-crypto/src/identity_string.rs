//! The text in which an identity moves between devices and programs (WIRE-140, WIRE-141).

use std::borrow::Cow;
use std::fmt;

use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use zeroize::Zeroizing;

use crate::identity::Identity;

/// Why a text is not an identity string. Nothing of the text is repeated: it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityStringError {
    /// A character outside the URL alphabet, or a wrong length.
    #[error("identity string is not base64url")]
    NotBase64Url,
    /// The decoded text is not a JSON object, or a field is not a string.
    #[error("identity string does not hold a JSON object with the texts publicKey and privateKey")]
    NotAnIdentity,
    /// A field is missing; holds its name.
    #[error("identity string has no {0}")]
    MissingField(&'static str),
    /// The private key is not in the standard alphabet or not padded.
    #[error("private key in the identity string is not padded base64")]
    PrivateKeyNotBase64,
}

impl Identity {
    /// The identity with its secret as effect's identity string. Keep it as safe as the secret.
    pub fn to_identity_string(&self) -> Zeroizing<String> {
        let name = serde_json::Value::from(self.public_key()).to_string();
        // Sized in full at once, so that growing leaves no copies of the secret behind.
        let mut json = Zeroizing::new(String::with_capacity(name.len() + self.root_secret().len() * 2 + 64));
        json.push_str("{\"publicKey\":");
        json.push_str(&name);
        json.push_str(",\"privateKey\":\"");
        decoder(&STANDARD, true).encode_string(self.root_secret(), &mut json);
        json.push_str("\"}");
        Zeroizing::new(decoder(&URL_SAFE, false).encode(json.as_bytes()))
    }

    /// Reads an identity string as effect does: line breaks are ignored, padding is optional,
    /// unknown fields are skipped.
    pub fn from_identity_string(text: &str) -> Result<Self, IdentityStringError> {
        let text = without_line_breaks(text);
        let json = decoder(&URL_SAFE, text.ends_with('='))
            .decode(text.as_bytes())
            .map(Zeroizing::new)
            .map_err(|_| IdentityStringError::NotBase64Url)?;
        let fields = Fields::read(&json)?;
        let public_key = fields.public_key.ok_or(IdentityStringError::MissingField("publicKey"))?;
        let private_key = fields.private_key.ok_or(IdentityStringError::MissingField("privateKey"))?;
        let root_secret = decoder(&STANDARD, true)
            .decode(without_line_breaks(&private_key).as_bytes())
            .map(Zeroizing::new)
            .map_err(|_| IdentityStringError::PrivateKeyNotBase64)?;
        Ok(Self::new(public_key, &root_secret))
    }
}

/// Unused bits of the last character may have any value, as in effect.
fn decoder(alphabet: &base64::alphabet::Alphabet, padded: bool) -> impl Engine {
    let padding = if padded { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(padded)
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

fn without_line_breaks(text: &str) -> Zeroizing<String> {
    let mut kept = Zeroizing::new(String::with_capacity(text.len()));
    kept.extend(text.chars().filter(|c| !matches!(c, '\r' | '\n')));
    kept
}

/// The members of the JSON object that count. A repeated one replaces the earlier, as in JSON.parse.
#[derive(Default)]
struct Fields {
    public_key: Option<String>,
    private_key: Option<Zeroizing<String>>,
}

impl Fields {
    /// Reads JSON as a browser would: invalid UTF-8 is replaced, a byte order mark skipped.
    fn read(json: &[u8]) -> Result<Self, IdentityStringError> {
        let text = match String::from_utf8_lossy(json) {
            Cow::Borrowed(text) => Zeroizing::new(text.to_owned()),
            Cow::Owned(text) => Zeroizing::new(text),
        };
        let mut reader = serde_json::Deserializer::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text));
        let fields = reader.deserialize_map(FieldsVisitor).and_then(|fields| reader.end().map(|()| fields));
        fields.map_err(|_| IdentityStringError::NotAnIdentity)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "publicKey" => fields.public_key = Some(map.next_value()?),
                "privateKey" => fields.private_key = Some(Zeroizing::new(map.next_value()?)),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};

    fn read(json: &str) -> Result<(String, Vec<u8>), IdentityStringError> {
        Identity::from_identity_string(&BASE64_URL_SAFE_NO_PAD.encode(json))
            .map(|identity| (identity.public_key().to_owned(), identity.root_secret().to_vec()))
    }

    #[test]
    fn an_identity_comes_back_from_its_string() {
        let identity = Identity::new("a\"b\\c\n\u{1}\u{2028}é🔑", &[0xff; 33]);
        let again = Identity::from_identity_string(&identity.to_identity_string()).unwrap();
        assert_eq!(again.public_key(), identity.public_key());
        assert_eq!(again.root_secret(), identity.root_secret());
    }

    #[test]
    fn what_javascript_accepts_is_accepted() {
        let me = Ok(("me".to_owned(), vec![0, 1]));
        assert_eq!(read(r#"{"publicKey":"me","privateKey":"AAE="}"#), me);
        assert_eq!(read("\u{feff}{\"publicKey\":\"me\",\"privateKey\":\"AAE=\"}"), me, "byte order mark");
        assert_eq!(read(r#"{"publicKey":"me","privateKey":"AAF="}"#), me, "unused bits set");
        assert_eq!(read(r#"{"publicKey":"x","publicKey":"me","privateKey":"AAE="}"#), me, "last one counts");
        assert_eq!(read(r#"{"deep":[[{"a":1e999}]],"publicKey":"me","privateKey":"AAE="}"#), me);
    }

    #[test]
    fn refusals_name_the_reason_and_never_the_secret() {
        use IdentityStringError as E;
        assert_eq!(read(r#"["me","AAE="]"#), Err(E::NotAnIdentity));
        assert_eq!(read(r#"{"publicKey":"me","privateKey":"AAE="} x"#), Err(E::NotAnIdentity));
        assert_eq!(read(r#"{"publicKey":null,"privateKey":"AAE="}"#), Err(E::NotAnIdentity));
        assert_eq!(read(r#"{"privateKey":"AAE="}"#), Err(E::MissingField("publicKey")));
        assert_eq!(read(r#"{"publicKey":"me"}"#), Err(E::MissingField("privateKey")));
        for secret in ["AAE", "AA=E", "A===", "====", "AAE=AAE=", " AAE=", "_-8="] {
            let json = format!(r#"{{"publicKey":"me","privateKey":"{secret}"}}"#);
            assert_eq!(read(&json), Err(E::PrivateKeyNotBase64), "{secret}");
        }
    }

    #[test]
    fn padding_is_all_or_nothing() {
        let padded = BASE64_URL_SAFE.encode(r#"{"publicKey":"m","privateKey":"AAE="}"#);
        assert!(padded.ends_with("=="), "{padded}");
        assert!(Identity::from_identity_string(&padded).is_ok());
        for wrong in [&padded[..padded.len() - 1], &format!("{padded}="), &format!("{padded}====")] {
            assert_eq!(
                Identity::from_identity_string(wrong).map(drop),
                Err(IdentityStringError::NotBase64Url)
            );
        }
    }
}
