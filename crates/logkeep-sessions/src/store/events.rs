//! The seven events of a session, version 1.

use sha2::{Digest, Sha256};

use crate::ids;
use crate::json::Json;

/// One change of a session (SY section 11). Objects are complete documents of
/// the agent, unknown fields included.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A new session; `info` is the whole session.
    Created {
        /// The session with its id.
        info: Json,
    },
    /// Changed fields of a session: absent keeps, `null` clears.
    Updated {
        /// The changed fields.
        info: Json,
    },
    /// The session is gone with everything in it.
    Deleted {
        /// The session as it was.
        info: Json,
    },
    /// A message as a whole, new or changed.
    MessageUpdated {
        /// The message with its id.
        info: Json,
    },
    /// A message is gone with its parts.
    MessageRemoved {
        /// Its id.
        message: String,
    },
    /// A part as a whole, new or changed.
    PartUpdated {
        /// The part with its ids.
        part: Json,
        /// When it came to be, in milliseconds since 1970.
        time: i64,
    },
    /// A part is gone.
    PartRemoved {
        /// The message it belonged to.
        message: String,
        /// Its id.
        part: String,
    },
}

impl SessionEvent {
    /// The stored type name: type, full stop, version (SY-011).
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "session.created.1",
            Self::Updated { .. } => "session.updated.1",
            Self::Deleted { .. } => "session.deleted.1",
            Self::MessageUpdated { .. } => "message.updated.1",
            Self::MessageRemoved { .. } => "message.removed.1",
            Self::PartUpdated { .. } => "message.part.updated.1",
            Self::PartRemoved { .. } => "message.part.removed.1",
        }
    }

    /// The data stored beside the type, as JSON text. Nothing is copied to print it.
    pub fn data(&self, session: &str) -> String {
        let session = Json::from(session);
        match self {
            Self::Created { info }
            | Self::Updated { info }
            | Self::Deleted { info }
            | Self::MessageUpdated { info } => format!(r#"{{"sessionID":{session},"info":{info}}}"#),
            Self::MessageRemoved { message } => {
                format!(r#"{{"sessionID":{session},"messageID":{}}}"#, Json::from(message.as_str()))
            }
            Self::PartUpdated { part, time } => {
                format!(r#"{{"sessionID":{session},"part":{part},"time":{time}}}"#)
            }
            Self::PartRemoved { message, part } => {
                let (message, part) = (Json::from(message.as_str()), Json::from(part.as_str()));
                format!(r#"{{"sessionID":{session},"messageID":{message},"partID":{part}}}"#)
            }
        }
    }
}

/// An event as the log holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedEvent {
    /// Id of the event.
    pub id: String,
    /// Position in the log of its session, from 0.
    pub seq: i64,
    /// Versioned type, for instance `message.updated.1`.
    pub type_name: String,
    /// The session.
    pub session: String,
    /// The data.
    pub data: Json,
}

impl LoggedEvent {
    /// The form for exchange: `id`, `seq`, `type`, `aggregateID`, `data`.
    pub fn to_json(&self) -> Json {
        Json::object([
            ("id", Json::from(self.id.as_str())),
            ("seq", Json::from(self.seq)),
            ("type", Json::from(self.type_name.as_str())),
            ("aggregateID", Json::from(self.session.as_str())),
            ("data", self.data.clone()),
        ])
    }
}

/// The id of an imported event: a function of what it says and where it stands,
/// so that two machines that import the same source make the same events.
pub(super) fn imported_event_id(session: &str, seq: i64, type_name: &str, data: &str, time: i64) -> String {
    let mut digest = Sha256::new();
    for field in [session, &seq.to_string(), type_name, data] {
        digest.update((field.len() as u64).to_be_bytes());
        digest.update(field);
    }
    ids::with_time("evt", time, &digest.finalize())
}
