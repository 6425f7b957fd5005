//! What an import tells about itself.

use crate::json::Json;

/// Something that was not stored as it is, or contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The document, by its path inside the source, or the row or log, by database and id.
    pub place: String,
    /// What was found and what was done about it.
    pub reason: String,
}

impl Finding {
    /// `{"place","reason"}`.
    pub fn to_json(&self) -> Json {
        Json::object([
            ("place", Json::from(self.place.as_str())),
            ("reason", Json::from(self.reason.as_str())),
        ])
    }
}

/// How much was read and accepted, whether it was new or stored before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Projects.
    pub projects: i64,
    /// Sessions.
    pub sessions: i64,
    /// Messages.
    pub messages: i64,
    /// Parts.
    pub parts: i64,
    /// Entries of todo lists.
    pub todos: i64,
    /// Permission documents.
    pub permissions: i64,
    /// Shares.
    pub shares: i64,
    /// Diff documents.
    pub diffs: i64,
    /// Events that this import added to the logs.
    pub events: i64,
}

impl Counts {
    /// An object with one field a figure.
    pub fn to_json(&self) -> Json {
        Json::object([
            ("projects", Json::from(self.projects)),
            ("sessions", Json::from(self.sessions)),
            ("messages", Json::from(self.messages)),
            ("parts", Json::from(self.parts)),
            ("todos", Json::from(self.todos)),
            ("permissions", Json::from(self.permissions)),
            ("shares", Json::from(self.shares)),
            ("diffs", Json::from(self.diffs)),
            ("events", Json::from(self.events)),
        ])
    }
}

/// The result of an import.
#[derive(Debug, Default)]
pub struct Report {
    /// What was accepted.
    pub counts: Counts,
    /// What was set aside, shortened, rebuilt or contradictory.
    pub findings: Vec<Finding>,
    /// Whether a database was refused, or a folder could not be looked into.
    pub refused: bool,
}

impl Report {
    /// Nothing could be taken from the source, and not because there is nothing.
    pub fn is_failure(&self) -> bool {
        self.refused && self.counts.sessions == 0
    }

    pub(super) fn find(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.findings.push(Finding { place: place.into(), reason: reason.into() });
    }
}

/// How far an import is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Sessions that are done.
    pub current: usize,
    /// Sessions in all.
    pub total: usize,
}
