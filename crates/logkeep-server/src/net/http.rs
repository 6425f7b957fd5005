//! The HTTP side of a WebSocket listener: the upgrade on any path, and the health checks (WIRE-010).

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::io::Io;
use super::server::Shared;
use super::transport::WebSocket;
use crate::limits::Limits;

/// How long a client may take to send its request.
const REQUEST: Duration = Duration::from_secs(10);

/// A WebSocket reads this much at once. Longer messages are read into memory of their own.
const READ_BUFFER: usize = 4 * 1024;

/// Answers the one request of `io`; an upgraded connection goes on as a connection of the service.
pub(super) async fn serve(shared: Shared, peer: std::net::IpAddr, io: Io) {
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(answer(&shared, peer, request)) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST)
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, %peer, "an HTTP request failed");
    }
}

fn answer(shared: &Shared, peer: std::net::IpAddr, request: Request<Incoming>) -> Response<Full<Bytes>> {
    match request.uri().path() {
        "/healthz" => text(StatusCode::OK, "ok\n"),
        "/readyz" if shared.is_ready() => text(StatusCode::OK, "ready\n"),
        "/readyz" => text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
        _ => match accept_key(&request) {
            Some(accept) => upgrade(shared.clone(), peer, request, accept),
            None => {
                let mut response =
                    text(StatusCode::UPGRADE_REQUIRED, "this is a sync server: connect with a WebSocket\n");
                response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
                response
            }
        },
    }
}

/// The answer to the key of a WebSocket request (RFC 6455, 4.2); `None` if it is none.
fn accept_key(request: &Request<Incoming>) -> Option<HeaderValue> {
    let headers = request.headers();
    let has = |name, token: &str| {
        headers.get_all(name).iter().any(|value| {
            let tokens = value.to_str().unwrap_or_default().split(',');
            tokens.map(str::trim).any(|candidate| candidate.eq_ignore_ascii_case(token))
        })
    };
    let websocket = request.method() == Method::GET
        && has(CONNECTION, "upgrade")
        && has(UPGRADE, "websocket")
        && has(SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|_| websocket)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

fn upgrade(
    shared: Shared,
    peer: std::net::IpAddr,
    mut request: Request<Incoming>,
    accept: HeaderValue,
) -> Response<Full<Bytes>> {
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(upgraded) = upgraded.await else { return };
        let Ok(parts) = upgraded.downcast::<TokioIo<Io>>() else { return };
        let io = parts.io.into_inner();
        let activity = io.activity();
        let config = config(&shared.service.limits);
        let early = parts.read_buf.to_vec();
        let socket = WebSocketStream::from_partially_read(io, early, Role::Server, Some(config)).await;
        shared.run(peer, activity, WebSocket::new(socket)).await;
    });
    let mut response = text(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    response
}

fn config(limits: &Limits) -> WebSocketConfig {
    // An envelope of the greatest length and its header still fit one message.
    let message = limits.envelope + 16;
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_message_size(Some(message))
        .max_frame_size(Some(message))
}

fn text(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    if status != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
