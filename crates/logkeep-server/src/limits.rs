//! What one connection may ask of the server.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Bounds on what clients may do. All of them are enforced; none is needed by an honest client of default
/// settings.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of one envelope. Longer ones end the connection with close code 1009. Default 16 MiB, which is
    /// what peers accept themselves (WIRE-051).
    pub envelope: usize,
    /// The same before the first successful Authenticate. Default 1 MiB.
    pub envelope_before_login: usize,
    /// Bytes of one write that was cut into parts. Default 4 GiB.
    pub write: u64,
    /// Messages that have begun and not ended, per connection. Default 64.
    pub open_messages: usize,
    /// Parts of one message. Default 65,536.
    pub parts: u64,
    /// Bytes of parts that wait in memory for their message to complete, per connection; what exceeds it
    /// waits in a temporary file. Default 2 MiB.
    pub parts_in_memory: usize,
    /// Bytes of uploads that are being stored, per connection, before it is read no further. Default 8 MiB.
    pub uploads_in_flight: usize,
    /// Change streams per connection. Default 256.
    pub streams: usize,
    /// Authenticated identities per connection. Default 64.
    pub identities: usize,
    /// Bytes of a store id. Default 1 KiB.
    pub store_id: usize,
    /// Bytes of a public key. Default 1 KiB.
    pub public_key: usize,
    /// Requests in flight per connection, streams included. Default 1,024.
    pub requests: usize,
    /// Connections that are not logged in, from one address. The oldest is closed first. Default 256.
    pub anonymous_per_address: usize,
    /// Connections that are not logged in, from all addresses. Default 4,096.
    pub anonymous: usize,
    /// Bytes of all acks in one answer; the others are acknowledged when they are sent again. Default 8 MiB.
    pub acks: usize,
    /// How long an answer may wait for a peer that takes nothing. Default 5 minutes.
    pub stalled: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            envelope: 16 * MIB,
            envelope_before_login: MIB,
            write: 4 * 1024 * MIB as u64,
            open_messages: 64,
            parts: 65_536,
            parts_in_memory: 2 * MIB,
            uploads_in_flight: 8 * MIB,
            streams: 256,
            identities: 64,
            store_id: KIB,
            public_key: KIB,
            requests: 1024,
            anonymous_per_address: 256,
            anonymous: 4096,
            acks: 8 * MIB,
            stalled: Duration::from_secs(300),
        }
    }
}
