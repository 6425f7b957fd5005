//! Sockets: listeners, WebSocket and TCP transports, TLS, and the task that runs each connection.

mod driver;
mod http;
mod io;
mod registry;
mod server;
pub mod tls;
mod transport;

pub use server::{Protocol, Server};
