//! Names of documents, safe on every platform.

use std::fmt;

use super::DocumentError;

/// Longest file name in bytes on common file systems; the suffix counts.
const LONGEST_NAME: usize = 255;

/// What the file of a document ends with.
pub(crate) const SUFFIX: &str = ".json";

/// A key: one or more elements, each one folder or file name (DS-002).
///
/// Different keys are different files, and no key leads out of the store: an
/// element is not empty, `.` or `..`, holds no separator of any platform and no
/// control character, and fits a file name (DS-004).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Vec<String>);

impl Key {
    /// Checks the elements.
    ///
    /// # Errors
    /// [`DocumentError::InvalidKey`] for no elements and for a bad one.
    pub fn new(elements: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, DocumentError> {
        let elements: Vec<String> = elements.into_iter().map(Into::into).collect();
        let Some((last, folders)) = elements.split_last() else {
            return Err(DocumentError::InvalidKey { element: String::new(), reason: "no elements" });
        };
        folders.iter().try_for_each(|element| check(element, LONGEST_NAME))?;
        check(last, LONGEST_NAME - SUFFIX.len())?;
        Ok(Self(elements))
    }

    /// The elements.
    pub fn elements(&self) -> &[String] {
        &self.0
    }

    /// Elements joined with `/`, which no element contains.
    pub fn joined(&self) -> String {
        self.0.join("/")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.joined())
    }
}

/// The front of keys: like a [`Key`], but it may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(Vec<String>);

impl Prefix {
    /// Checks the elements.
    ///
    /// # Errors
    /// [`DocumentError::InvalidKey`] for a bad element.
    pub fn new(elements: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, DocumentError> {
        let elements: Vec<String> = elements.into_iter().map(Into::into).collect();
        elements.iter().try_for_each(|element| check(element, LONGEST_NAME))?;
        Ok(Self(elements))
    }

    /// The elements.
    pub fn elements(&self) -> &[String] {
        &self.0
    }
}

fn check(element: &str, longest: usize) -> Result<(), DocumentError> {
    match fault(element, longest) {
        None => Ok(()),
        Some(reason) => Err(DocumentError::InvalidKey { element: element.to_owned(), reason }),
    }
}

fn fault(element: &str, longest: usize) -> Option<&'static str> {
    if element.is_empty() {
        return Some("nothing");
    }
    if element == "." || element == ".." {
        return Some("a path step");
    }
    if element.contains(['/', '\\']) {
        return Some("a separator");
    }
    if element.contains(char::is_control) {
        return Some("a control character");
    }
    if element.len() > longest {
        return Some("a name longer than a file name may be");
    }
    if cfg!(windows) { windows_fault(element) } else { None }
}

/// Names that Windows changes or takes for devices.
fn windows_fault(element: &str) -> Option<&'static str> {
    if element.contains(['<', '>', ':', '"', '|', '?', '*']) {
        return Some("a character that Windows reserves");
    }
    if element.ends_with(['.', ' ']) {
        return Some("a dot or space at the end");
    }
    let stem = element.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let device = match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        port => port.strip_prefix("COM").or(port.strip_prefix("LPT")).is_some_and(is_port_number),
    };
    device.then_some("a device name of Windows")
}

fn is_port_number(rest: &str) -> bool {
    matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_would_escape_are_refused() {
        let bad = ["", ".", "..", "a/b", "a\\b", "/etc/passwd", "a\0b", "a\nb", "a\u{7f}", "\u{85}"];
        for element in bad {
            assert!(Key::new(["note", element]).is_err(), "{element:?}");
            assert!(Key::new([element, "note"]).is_err(), "{element:?}");
            assert!(Prefix::new([element]).is_err(), "{element:?}");
        }
        assert!(Key::new(Vec::<String>::new()).is_err());
        assert!(Prefix::new(Vec::<String>::new()).is_ok());
    }

    #[test]
    fn a_file_name_has_room_for_its_suffix() {
        assert!(Key::new(["x".repeat(250)]).is_ok());
        assert!(Key::new(["x".repeat(251)]).is_err());
        assert!(Key::new(["ß".repeat(125)]).is_ok());
        assert!(Key::new(["ß".repeat(126)]).is_err());
        assert!(Key::new(["x".repeat(255), "a".to_owned()]).is_ok());
        assert!(Key::new(["x".repeat(256), "a".to_owned()]).is_err());
    }

    #[test]
    fn names_that_windows_changes_are_found() {
        for name in ["con", "NUL", "nul.txt", "COM1", "lpt9.x", "a:b", "a.", "a ", "aux .x"] {
            assert!(windows_fault(name).is_some(), "{name}");
        }
        for name in ["console", "COM", "COM10", "ses_1", "a b", ".hidden"] {
            assert!(windows_fault(name).is_none(), "{name}");
        }
    }
}
