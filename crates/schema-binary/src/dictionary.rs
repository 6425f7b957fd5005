//! String tables that all frames of a connection share.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::Str;
use crate::wire::{Reader, put_uvarint};
use crate::{Code, Error};

/// Values a slot watches for a repeat before it gives up.
const WATCH_MAX: usize = 64;
/// Values a slot keeps once it refers to them.
const KEEP_MAX: usize = 512;

/// Which schema object a string belongs to; strings of one object share a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StringSlot(pub u32);

impl StringSlot {
    /// All plain strings of a schema.
    pub const PLAIN: Self = Self(0);
    /// All plain strings that are directly fields which may be absent.
    pub const OPTIONAL: Self = Self(1);
    /// The first slot that is free for other schema objects.
    pub const FIRST_FREE: Self = Self(2);
}

/// One end's tables; the other end builds the same from the same frames.
#[derive(Debug, Default)]
pub struct Dictionary {
    slots: HashMap<StringSlot, Slot>,
    /// What the current frame changed: a slot, its length before, and its state before.
    changes: Vec<(StringSlot, usize, State)>,
}

#[derive(Debug, Default)]
struct Slot {
    values: Vec<Arc<str>>,
    places: HashMap<Box<[u8]>, usize>,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Writes in full and waits for a repeat.
    #[default]
    Watching,
    /// Writes references.
    Referencing,
    /// Writes in full for ever.
    GaveUp,
}

impl Slot {
    fn watch(&mut self, text: Arc<str>, identity: &[u8]) {
        if self.places.contains_key(identity) {
            self.state = State::Referencing;
            return;
        }
        self.add(text, identity);
        if self.values.len() >= WATCH_MAX {
            self.state = State::GaveUp;
        }
    }

    fn add(&mut self, text: Arc<str>, identity: &[u8]) {
        self.places.insert(identity.into(), self.values.len());
        self.values.push(text);
    }

    fn keep(&mut self, text: Arc<str>, identity: &[u8]) {
        if self.values.len() < KEEP_MAX {
            self.add(text, identity);
        }
    }
}

impl Dictionary {
    /// Appends a string in the form the slot is in; `identity` tells strings apart that are written alike.
    pub(crate) fn write(&mut self, slot: StringSlot, text: &str, identity: &[u8], out: &mut Vec<u8>) {
        let table = self.slots.entry(slot).or_default();
        if !self.changes.iter().any(|(changed, ..)| *changed == slot) {
            self.changes.push((slot, table.values.len(), table.state));
        }
        match table.state {
            State::GaveUp => {}
            State::Watching => table.watch(text.into(), identity),
            State::Referencing => {
                if let Some(place) = table.places.get(identity) {
                    return put_uvarint(out, 2 * *place as u64 + 1);
                }
                table.keep(text.into(), identity);
                out.push(0);
            }
        }
        out.extend_from_slice(text.as_bytes());
    }

    /// Reads a string that fills the region.
    pub(crate) fn read<'a>(&mut self, slot: StringSlot, reader: &mut Reader<'a>) -> Result<Str<'a>, Error> {
        let table = self.slots.entry(slot).or_default();
        match table.state {
            State::GaveUp => reader.text().map(Str::Borrowed),
            State::Watching => {
                let text = reader.text()?;
                table.watch(text.into(), text.as_bytes());
                Ok(Str::Borrowed(text))
            }
            State::Referencing => match reader.uvarint()? {
                0 => {
                    let text = reader.text()?;
                    table.keep(text.into(), text.as_bytes());
                    Ok(Str::Borrowed(text))
                }
                marker if marker & 1 == 1 => {
                    let place = usize::try_from(marker >> 1).ok();
                    let known = place.and_then(|place| table.values.get(place));
                    known.cloned().map(Str::Shared).ok_or(Code::DictionaryReference.into())
                }
                _ => Err(Code::DictionaryMarker.into()),
            },
        }
    }

    /// Keeps what the current frame added.
    pub(crate) fn commit(&mut self) {
        self.changes.clear();
    }

    /// Takes out what the current frame added: it is never sent.
    pub(crate) fn roll_back(&mut self) {
        for (slot, length, state) in self.changes.drain(..) {
            if let Some(table) = self.slots.get_mut(&slot) {
                table.values.truncate(length);
                table.places.retain(|_, place| *place < length);
                table.state = state;
            }
        }
    }
}
