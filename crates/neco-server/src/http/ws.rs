//! The WebSocket of the API: the same words as over the Unix sockets of sessions, for many sessions at once.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::House;
use super::calls::{LONGEST_BODY, ends, rights};
use super::guard::Asker;
use super::listen::Seat;
use super::problem::Problem;
use super::visitor::Visitor;
use crate::remote::desk;
use crate::remote::transport::{Duplex, config, halves};

/// What browsers name besides the header token of their tab, since they can't set headers here.
pub(crate) const PROTOCOL: &str = "neco.v1";

/// Takes a WebSocket up.
pub(crate) fn upgrade(house: &Arc<House>, mut request: Request) -> Result<Response, Problem> {
    let (rights, ends) = (rights(&request)?, ends(&request)?);
    let seat = request.extensions().get::<Seat>().cloned();
    let seat = seat.ok_or_else(|| Problem::bad("it is not known who asks"))?;
    let asker = request.extensions().get::<Asker>().copied();
    let asker = asker.ok_or_else(|| Problem::bad("it is not known who asks"))?;
    let headers = request.headers();
    let says = |name, word: &str| {
        let said = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
        said.split(',').any(|said| said.trim().eq_ignore_ascii_case(word))
    };
    if !says(header::CONNECTION, "upgrade") || !says(header::UPGRADE, "websocket") {
        return Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "this is a WebSocket"));
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| says(header::SEC_WEBSOCKET_VERSION, "13"));
    let key = key.ok_or_else(|| Problem::bad("this is no WebSocket of version 13"))?;
    let accept = derive_accept_key(key.as_bytes());
    let named = protocols(headers).any(|name| name == PROTOCOL);
    let upgrade = hyper::upgrade::on(&mut request);
    let (house, hall) = (Arc::clone(house), Arc::clone(&house.hall));
    let open = hall.numbers.streams.count();
    let tasks = seat.open.clone();
    // The connection ends for HTTP; its place is taken until this ends.
    tasks.spawn(async move {
        let (_open, _seat) = (open, seat);
        let Ok(upgraded) = upgrade.await else { return };
        let io: Box<dyn Duplex> = Box::new(TokioIo::new(upgraded));
        let web = WebSocketStream::from_raw_socket(io, Role::Server, Some(config(LONGEST_BODY))).await;
        let served = desk::serve(halves(web), Arc::new(Visitor { house, hall, rights, asker }), Ok(()));
        match ends.run_until_cancelled(served).await {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!(%error, "a window is gone"),
            None => tracing::info!("a window may stay no longer"),
        }
    });
    let mut response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::CONNECTION, "Upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_ACCEPT, accept);
    if named {
        response = response.header(header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL);
    }
    response.body(Body::empty()).map_err(|error| Problem::bad(error.to_string()))
}

/// What a browser offers to speak.
pub(crate) fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    offered.flat_map(|names| names.split(',')).map(str::trim)
}
