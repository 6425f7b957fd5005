//! Strings as JavaScript has them: Unicode text, or not quite.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A string. Clones share one copy.
///
/// Nearly always Unicode text. Values that come from JavaScript may hold surrogates without a partner; they
/// are kept, written into JSON text as escapes, and written elsewhere as U+FFFD.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Form);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    Unicode(Arc<str>),
    Broken(Arc<Broken>),
}

#[derive(PartialEq, Eq, Hash)]
struct Broken {
    units: Vec<u16>,
    /// UTF-8 in which unpaired surrogates take three bytes, as if they were characters.
    identity: Vec<u8>,
}

impl Text {
    /// A string from UTF-16 code units.
    pub fn from_utf16(units: &[u16]) -> Self {
        if let Ok(text) = String::from_utf16(units) {
            return text.into();
        }
        let mut identity = Vec::with_capacity(units.len() * 3);
        for unit in char::decode_utf16(units.iter().copied()) {
            match unit {
                Ok(char) => identity.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(error) => identity.extend_from_slice(&surrogate_bytes(error.unpaired_surrogate())),
            }
        }
        Self(Form::Broken(Arc::new(Broken { units: units.to_vec(), identity })))
    }

    /// The text, if it is Unicode.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Form::Unicode(text) => Some(text),
            Form::Broken(_) => None,
        }
    }

    /// The text, unpaired surrogates replaced by U+FFFD.
    pub fn to_str(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Unicode(text) => Cow::Borrowed(text),
            Form::Broken(broken) => Cow::Owned(String::from_utf16_lossy(&broken.units)),
        }
    }

    /// Bytes that tell this string from all others; for Unicode, its UTF-8.
    pub fn identity(&self) -> &[u8] {
        match &self.0 {
            Form::Unicode(text) => text.as_bytes(),
            Form::Broken(broken) => &broken.identity,
        }
    }

    /// The UTF-16 code units, if the string is not Unicode.
    pub fn broken_units(&self) -> Option<&[u16]> {
        match &self.0 {
            Form::Unicode(_) => None,
            Form::Broken(broken) => Some(&broken.units),
        }
    }
}

/// The three bytes UTF-8 would give a surrogate.
fn surrogate_bytes(unit: u16) -> [u8; 3] {
    [0xe0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8]
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Form::Unicode(text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Form::Unicode(text.into()))
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Self {
        Self(Form::Unicode(text))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str())
    }
}
