//! Hello's challenge and Authenticate (SV-020…028, SV-W01, SV-W06).

use logkeep_crypto::session::verify_session;
use logkeep_protocol::{Authenticate, ErrorCode, Exit, ProtocolError};

use super::Connection;
use super::operations::Operation;
use super::requests::Caller;
use crate::executor::Command;
use crate::storage::{Millis, StorageError};

/// How long a challenge can be answered, in milliseconds (SV-022).
const CHALLENGE_LIFE: Millis = 30_000;

/// 32 random bytes that the next Authenticate has to sign.
pub(super) struct Challenge {
    bytes: [u8; 32],
    expires: Millis,
}

/// An attempt to log in.
pub(super) struct Login {
    public_key: String,
    signing_key: Vec<u8>,
    signature: Vec<u8>,
    challenge: [u8; 32],
}

const EXPIRED: &str = "Session auth challenge has expired";
const LOOKUP_FAILED: &str = "Session auth binding lookup failed";
const NOT_VERIFIED: &str = "Session auth signature verification failed";

impl Connection {
    /// The challenge that is live, or a new one; `None` if there is no randomness.
    pub(super) fn live_challenge(&mut self, now: Millis) -> Option<[u8; 32]> {
        if let Some(challenge) = &self.challenge
            && now < challenge.expires
        {
            return Some(challenge.bytes);
        }
        let mut bytes = [0; 32];
        if let Err(error) = self.service.random.fill(&mut bytes) {
            tracing::error!(%error, "no randomness for a challenge");
            return None;
        }
        self.challenge = Some(Challenge { bytes, expires: now + CHALLENGE_LIFE });
        Some(bytes)
    }

    pub(super) fn authenticate(&mut self, login: &Authenticate<'_>, caller: Caller, now: Millis) {
        // Used up whatever happens next (SV-023).
        let challenge = self.challenge.take().filter(|challenge| now < challenge.expires);
        let Some(challenge) = challenge else {
            return self.refuse_login(&caller, login.public_key, EXPIRED);
        };
        if let Err(message) = self.check_identity(login.public_key) {
            let error = ProtocolError::new("Authenticate", ErrorCode::InvalidRequest, &message);
            return self.answer(&caller, &Exit::Fail(error.of(login.public_key)));
        }
        let login = Login {
            public_key: login.public_key.to_owned(),
            signing_key: login.signing_public_key.to_vec(),
            signature: login.signature.to_vec(),
            challenge: challenge.bytes,
        };
        let command = Command::Binding { public_key: login.public_key.clone() };
        self.submit(Operation::Lookup { caller: caller.clone(), login }, &caller, command);
    }

    fn check_identity(&self, public_key: &str) -> Result<(), String> {
        let limits = &self.service.limits;
        let known = self.identities.iter().any(|identity| **identity == *public_key);
        if public_key.len() > limits.public_key {
            let (length, limit) = (public_key.len(), limits.public_key);
            return Err(format!("a public key of {length} bytes exceeds the limit of {limit} bytes"));
        }
        if !known && self.identities.len() >= limits.identities {
            let limit = limits.identities;
            return Err(format!(
                "{limit} identities are authenticated on this connection, which is the limit"
            ));
        }
        Ok(())
    }

    /// The signature is checked before anything is bound, so a forged first login binds nothing (SV-W01).
    pub(super) fn looked_up(
        &mut self,
        caller: Caller,
        login: Login,
        binding: Result<Option<[u8; 32]>, StorageError>,
    ) {
        let binding = match binding {
            Ok(binding) => binding,
            Err(error) => return self.binding_failed(&caller, &login, &error),
        };
        let Ok(presented) = <[u8; 32]>::try_from(login.signing_key.as_slice()) else {
            return self.refuse_login(&caller, &login.public_key, NOT_VERIFIED);
        };
        let key = binding.unwrap_or(presented);
        let remote_id = self.service.remote_id.0;
        let verified =
            verify_session(&key, &login.signature, &remote_id, &login.challenge, &login.public_key);
        if verified.is_err() {
            return self.refuse_login(&caller, &login.public_key, NOT_VERIFIED);
        }
        if binding.is_some() {
            return self.log_in(&caller, &login.public_key);
        }
        let command = Command::Bind { public_key: login.public_key.clone(), signing_key: presented };
        self.submit(Operation::Bind { caller: caller.clone(), login }, &caller, command);
    }

    /// Another connection may have bound another key in between: the first one counts.
    pub(super) fn bound(&mut self, caller: &Caller, login: &Login, bound: Result<[u8; 32], StorageError>) {
        match bound {
            Ok(key) if key == login.signing_key.as_slice() => self.log_in(caller, &login.public_key),
            Ok(_) => self.refuse_login(caller, &login.public_key, NOT_VERIFIED),
            Err(error) => self.binding_failed(caller, login, &error),
        }
    }

    fn log_in(&mut self, caller: &Caller, public_key: &str) {
        if !self.identities.iter().any(|identity| **identity == *public_key) {
            self.identities.push(public_key.into());
        }
        self.frames.set_limit(self.service.limits.envelope);
        self.drop_parts();
        self.finish(caller, &Exit::Void);
    }

    fn binding_failed(&mut self, caller: &Caller, login: &Login, error: &StorageError) {
        tracing::error!(%error, "cannot look up the signing key of an identity");
        self.refuse_login(caller, &login.public_key, LOOKUP_FAILED);
    }

    fn refuse_login(&mut self, caller: &Caller, public_key: &str, message: &'static str) {
        let error = ProtocolError::new("Authenticate", ErrorCode::Forbidden, message).of(public_key);
        self.finish(caller, &Exit::Fail(error));
    }
}
