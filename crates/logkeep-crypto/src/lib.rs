//! Identities, sealed batches and session signatures of Logkeep
