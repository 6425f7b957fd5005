//! Which documents there are, and in what order.

use std::fs;
use std::io;
use std::path::Path;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorPreferences};

use super::key::SUFFIX;
use super::place::Root;
use super::{DocumentError, Key, Prefix};

/// The order of a list. Both compare keys joined with `/`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// By bytes: the same on every machine.
    #[default]
    Bytes,
    /// By the collation of the Unicode root locale, as the reference sorts (DS-021).
    Locale,
}

/// Documents below a prefix, and what could not be looked into.
#[derive(Debug, Default)]
pub struct Listing {
    /// Keys of all documents that were found, in order.
    pub keys: Vec<Key>,
    /// Folders that could not be read (DS-020). What is below them is missing from `keys`.
    pub failures: Vec<DocumentError>,
    /// Names that were passed over because they cannot be keys, or lead out of the store.
    pub ignored: Vec<String>,
}

pub(super) fn list(root: &Root, prefix: &Prefix, order: Order) -> Result<Listing, DocumentError> {
    let folder = root.folder(prefix)?;
    let mut listing = Listing::default();
    let mut elements = prefix.elements().to_vec();
    scan(root, &folder, &mut elements, &mut listing);
    sort(&mut listing.keys, order);
    Ok(listing)
}

fn scan(root: &Root, folder: &Path, elements: &mut Vec<String>, listing: &mut Listing) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Missing, removed meanwhile, or the prefix of a file: there is nothing below it.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return;
        }
        Err(error) => return listing.fail(elements, error),
    };
    for entry in entries {
        match entry {
            Ok(entry) => visit(root, &entry, elements, listing),
            Err(error) => listing.fail(elements, error),
        }
    }
}

fn visit(root: &Root, entry: &fs::DirEntry, elements: &mut Vec<String>, listing: &mut Listing) {
    let name = entry.file_name();
    let shown = name.to_string_lossy();
    if shown.starts_with('.') {
        return;
    }
    let kind = match entry.file_type() {
        Ok(kind) if kind.is_symlink() => linked_kind(root, &entry.path()),
        Ok(kind) if kind.is_dir() => Kind::Folder,
        Ok(kind) if kind.is_file() => Kind::File,
        Ok(_) => Kind::Other,
        Err(error) => return listing.fail(elements, error),
    };
    match kind {
        Kind::Folder => {
            elements.push(shown.into_owned());
            scan(root, &entry.path(), elements, listing);
            elements.pop();
        }
        Kind::File => {
            let Some(stem) = shown.strip_suffix(SUFFIX) else { return };
            match Key::new(elements.iter().map(String::as_str).chain([stem])) {
                Ok(key) if name.to_str().is_some() => listing.keys.push(key),
                _ => listing.ignore(elements, &shown, "no valid key"),
            }
        }
        Kind::Outside => listing.ignore(elements, &shown, "a link that leads out of the store"),
        Kind::Other => {}
    }
}

enum Kind {
    Folder,
    File,
    Outside,
    Other,
}

/// A link counts for a file in the store. A link to a folder would show the
/// same documents twice, or go round in circles.
fn linked_kind(root: &Root, link: &Path) -> Kind {
    match fs::canonicalize(link) {
        Ok(target) if !target.starts_with(&root.path) => Kind::Outside,
        Ok(target) if target.is_file() => Kind::File,
        _ => Kind::Other,
    }
}

impl Listing {
    fn fail(&mut self, elements: &[String], error: io::Error) {
        self.failures.push(DocumentError::io(format!("reading folder {:?}", elements.join("/")))(error));
    }

    fn ignore(&mut self, elements: &[String], name: &str, reason: &str) {
        let place = elements.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("/");
        self.ignored.push(format!("{place}: {reason}"));
    }
}

fn sort(keys: &mut [Key], order: Order) {
    keys.sort_by_cached_key(Key::joined);
    if order == Order::Locale {
        // The data is part of the program, so this cannot fail; byte order is the fallback.
        let Ok(collator) = Collator::try_new(CollatorPreferences::default(), CollatorOptions::default())
        else {
            return;
        };
        let mut joined: Vec<(String, Key)> = keys.iter().map(|key| (key.joined(), key.clone())).collect();
        joined.sort_by(|(a, _), (b, _)| collator.compare(a, b));
        keys.iter_mut().zip(joined).for_each(|(place, (_, key))| *place = key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector of DS-021.
    const BYTES: &str =
        "Z, a b, a-b, a.b, a/10, a/9, a/A, a/B, a/a, a/b, a_b, ab, e, f, ses/1, ses_1/x, z, ä/1, é";
    const LOCALE: &str =
        "a b, a_b, a-b, a.b, ä/1, a/10, a/9, a/a, a/A, a/b, a/B, ab, e, é, f, ses_1/x, ses/1, z, Z";

    fn keys(text: &str) -> Vec<Key> {
        text.split(", ").map(|key| Key::new(key.split('/')).unwrap()).collect()
    }

    #[test]
    fn both_orders_follow_the_vector() {
        let mut shuffled = keys(LOCALE);
        shuffled.reverse();
        sort(&mut shuffled, Order::Bytes);
        assert_eq!(shuffled, keys(BYTES));
        sort(&mut shuffled, Order::Locale);
        assert_eq!(shuffled, keys(LOCALE));
    }
}
