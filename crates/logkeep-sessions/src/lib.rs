//! Sessions of coding agents: their documents, the import of real data, and an
//! event-sourced store of their own.

pub mod documents;
pub mod export;
mod ids;
pub mod import;
pub mod json;
mod lock;
pub mod store;
mod time;
