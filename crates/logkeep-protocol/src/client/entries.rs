//! The plaintext of a batch: its entries (schema-binary.md 4.2).

use schema_binary::Code;

use super::rows::{RowReader, RowWriter, TextTable};
use crate::fields::{framed, unframe};
use crate::{Entry, EntryId, Malformed, field};

/// The frame of a list of entries, as it is sealed; not for an empty list.
pub fn write_entries_plaintext(entries: &[Entry]) -> Vec<u8> {
    framed(|out| {
        let (mut keys, mut events) = (TextTable::default(), TextTable::default());
        let mut rows = RowWriter::new(out, entries.len());
        for entry in entries {
            rows.row(|fields| {
                fields.value(field::PAYLOAD, &entry.payload);
                fields.value(field::ID, &entry.id.0);
                fields.text(field::PRIMARY_KEY, &entry.primary_key, &mut keys);
                fields.text(field::EVENT, &entry.event, &mut events);
            });
        }
    })
}

/// Reads the entries of a batch back.
///
/// # Errors
/// If the frame does not decode, is empty, or has an id that is not 16 bytes long.
pub fn read_entries(frame: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let mut rows = RowReader::new(unframe(frame)?)?;
    if rows.remaining() == 0 {
        return Err(Malformed::missing("0"));
    }
    let mut entries = Vec::with_capacity(rows.remaining().min(1000));
    let (mut keys, mut events) = (Vec::new(), Vec::new());
    loop {
        let mut row = Row::default();
        let more = rows.next_row(|slot, region| {
            match u32::try_from(slot).unwrap_or(0) {
                field::PAYLOAD => row.payload = Some(region.value()?),
                field::ID => row.id = Some(region.value()?),
                field::PRIMARY_KEY => row.primary_key = Some(region.text(&mut keys)?),
                field::EVENT => row.event = Some(region.text(&mut events)?),
                _ => {}
            }
            Ok(())
        })?;
        if !more {
            return Ok(entries);
        }
        entries.push(row.entry()?);
    }
}

#[derive(Default)]
struct Row<'a> {
    id: Option<&'a [u8]>,
    event: Option<&'a str>,
    primary_key: Option<&'a str>,
    payload: Option<&'a [u8]>,
}

impl Row<'_> {
    fn entry(self) -> Result<Entry, Malformed> {
        let id = self.id.ok_or_else(|| Malformed::missing("id"))?;
        Ok(Entry {
            id: EntryId(id.try_into().map_err(|_| Code::Check)?),
            event: self.event.ok_or_else(|| Malformed::missing("event"))?.to_owned(),
            primary_key: self.primary_key.ok_or_else(|| Malformed::missing("primaryKey"))?.to_owned(),
            payload: self.payload.ok_or_else(|| Malformed::missing("payload"))?.to_owned(),
        })
    }
}
