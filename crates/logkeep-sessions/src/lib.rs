//! Sessions of coding agents: their documents, the import of real data, and an
//! event-sourced store of their own.

pub mod documents;
pub mod json;
