//! Frames: a length, an envelope byte, and a value.

use crate::wire::Reader;
use crate::{Code, Error};

/// First byte of a body in default mode: version 2, no flags.
pub(crate) const ENVELOPE: u8 = 0x20;

/// First byte of a body in fingerprint mode: version 2, flag bit 0.
pub(crate) const ENVELOPE_FINGERPRINT: u8 = 0x21;

/// What choices both sides make about the form of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Fields carry ids, so that schemas may change. What a reader does not know it skips.
    #[default]
    Default,
    /// Shorter: fields stand by position, and both sides must have the same layout, told by its hash.
    Fingerprint,
    /// As the default, but a reader refuses what it does not know.
    Strict,
}

/// The bytes every body begins with: the envelope byte, and in fingerprint mode the layout's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    mode: Mode,
    fingerprint: [u8; 8],
}

impl Head {
    /// The head of a mode; `fingerprint` is asked for only where it is part of the head.
    pub(crate) fn new(mode: Mode, fingerprint: impl FnOnce() -> u64) -> Self {
        let fingerprint = if mode == Mode::Fingerprint { fingerprint().to_le_bytes() } else { [0; 8] };
        Self { mode, fingerprint }
    }

    pub(crate) const fn mode(self) -> Mode {
        self.mode
    }

    /// Appends the head.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        if self.mode == Mode::Fingerprint {
            out.push(ENVELOPE_FINGERPRINT);
            out.extend_from_slice(&self.fingerprint);
        } else {
            out.push(ENVELOPE);
        }
    }

    /// Reads a head that must be this one.
    pub(crate) fn expect(self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let envelope = if self.mode == Mode::Fingerprint { ENVELOPE_FINGERPRINT } else { ENVELOPE };
        if reader.byte()? != envelope {
            return Err(Code::Envelope.into());
        }
        if self.mode == Mode::Fingerprint && reader.take(8)? != self.fingerprint {
            return Err(Code::Fingerprint.into());
        }
        Ok(())
    }
}

/// Splits the first frame off `bytes`: its body, and what follows it.
pub(crate) fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let mut reader = Reader::new(bytes);
    match reader.uvarint()? {
        0 => Err(Code::ZeroFrame.into()),
        length => Ok((reader.take(length)?, reader.rest())),
    }
}
