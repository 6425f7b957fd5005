//! Checking the log of a database against its rows.
//!
//! Sessions are imported from rows. A log that cannot have led to them (gaps,
//! doubled numbers, unknown types, other content, none at all) is reported.

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;

use super::compare;
use super::schema::Schema;
use crate::import::Report;

/// The types whose meaning is known.
const KNOWN: [&str; 7] = [
    "session.created.1",
    "session.updated.1",
    "session.deleted.1",
    "message.updated.1",
    "message.removed.1",
    "message.part.updated.1",
    "message.part.removed.1",
];

/// What the log says about one session, as far as numbers and types go.
#[derive(Default)]
struct Log {
    events: i64,
    first_type: String,
    first: i64,
    last: i64,
    gaps: Vec<(i64, i64)>,
    doubled: BTreeSet<i64>,
    unknown: BTreeSet<String>,
}

pub(super) fn check(connection: &Connection, schema: &Schema, database: &str, report: &mut Report) {
    if !["aggregate_id", "seq", "type", "data"].iter().all(|column| schema.has("event", column)) {
        return;
    }
    if let Err(error) = check_all(connection, schema, database, report) {
        report.find(database, format!("its log cannot be read: {error}"));
    }
}

fn check_all(
    connection: &Connection,
    schema: &Schema,
    database: &str,
    report: &mut Report,
) -> rusqlite::Result<()> {
    let mut logs = read(connection)?;
    if logs.is_empty() {
        report.find(database, "keeps no log; sessions are taken from their rows");
    }
    let recorded = recorded(connection, schema)?;
    let sessions = sessions(connection)?;
    let any_log = !logs.is_empty();
    for session in &sessions {
        let log = logs.remove(session);
        let place = format!("{database}: session {session}");
        match log {
            None if any_log => report.find(place, "has no log; taken from its rows"),
            None => {}
            Some(log) => {
                let faults = log.faults(recorded.get(session).copied());
                if faults.is_empty() {
                    let told = compare::with_rows(connection, session)?;
                    told.into_iter().for_each(|fault| report.find(&*place, fault));
                } else {
                    let faults = faults.join("; ");
                    report.find(
                        place,
                        format!("its log is unusable or incomplete: {faults}; taken from its rows"),
                    );
                }
            }
        }
    }
    let mut gone: Vec<&String> =
        logs.keys().chain(recorded.keys()).filter(|id| !sessions.contains(*id)).collect();
    gone.sort();
    gone.dedup();
    for session in gone {
        let events = logs.get(session).map_or(0, |log| log.events);
        let reason = format!("is only in the log ({events} events), so it was deleted; left out");
        report.find(format!("{database}: session {session}"), reason);
    }
    Ok(())
}

fn sessions(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut select = connection.prepare("SELECT id FROM session")?;
    let ids = select.query_map([], |row| row.get(0))?;
    ids.collect()
}

/// The last sequence number of each session, as its own table has it.
fn recorded(connection: &Connection, schema: &Schema) -> rusqlite::Result<HashMap<String, i64>> {
    if !schema.has("event_sequence", "seq") {
        return Ok(HashMap::new());
    }
    let mut select = connection.prepare("SELECT aggregate_id, seq FROM event_sequence")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn read(connection: &Connection) -> rusqlite::Result<HashMap<String, Log>> {
    let mut logs: HashMap<String, Log> = HashMap::new();
    let mut select =
        connection.prepare("SELECT aggregate_id, seq, type FROM event ORDER BY aggregate_id, seq")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (seq, type_name): (i64, String) = (row.get(1)?, row.get(2)?);
        logs.entry(row.get(0)?).or_default().add(seq, type_name);
    }
    Ok(logs)
}

impl Log {
    /// Takes the next event, in the order of numbers.
    fn add(&mut self, seq: i64, type_name: String) {
        if self.events == 0 {
            self.first = seq;
            self.first_type.clone_from(&type_name);
        } else if seq == self.last {
            self.doubled.insert(seq);
        } else if seq > self.last + 1 {
            self.gaps.push((self.last + 1, seq - 1));
        }
        if !KNOWN.contains(&&*type_name) {
            self.unknown.insert(type_name);
        }
        self.last = seq;
        self.events += 1;
    }

    fn faults(&self, recorded: Option<i64>) -> Vec<String> {
        let mut faults = Vec::new();
        if self.events > 1 && self.last == 0 {
            faults.push(format!("all of its {} events carry sequence number 0", self.events));
        } else if !self.doubled.is_empty() {
            faults
                .push(format!("it has diverged: sequence numbers {} occur twice", list(self.doubled.iter())));
        }
        if self.first != 0 {
            faults.push(format!("it begins at sequence number {}", self.first));
        } else if self.first_type != "session.created.1" {
            faults.push(format!("it begins with {}", self.first_type));
        }
        if !self.gaps.is_empty() {
            let gaps = self
                .gaps
                .iter()
                .map(|(from, to)| if from == to { from.to_string() } else { format!("{from} to {to}") });
            faults.push(format!("sequence numbers {} are missing", list(gaps)));
        }
        if !self.unknown.is_empty() {
            faults.push(format!("it holds types that are not understood: {}", list(self.unknown.iter())));
        }
        match recorded {
            Some(recorded) if recorded != self.last => {
                faults.push(format!("its last sequence number is {}, but {recorded} is recorded", self.last));
            }
            None => faults.push("no last sequence number is recorded".to_owned()),
            _ => {}
        }
        faults
    }
}

/// The first items of a list.
fn list(items: impl ExactSizeIterator<Item = impl std::fmt::Display>) -> String {
    const SHOWN: usize = 20;
    let more = items.len().saturating_sub(SHOWN);
    let mut text = items.take(SHOWN).map(|item| item.to_string()).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
