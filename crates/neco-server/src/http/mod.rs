//! The program and its sessions over HTTP: requests, streams of events, WebSockets.
//!
//! Invariants: nothing is done for whoever does not pass the guard; routes, arguments and the description of the API come
//! from the one table of requests; a reader is a place in a session's log, and whoever reads slowly takes no memory; what
//! is said over a WebSocket is what is said over the Unix sockets of [`remote`](crate::remote).
//!
//! Reading order: [`found`] (the one server of a data folder), [`access`] (who may come in), [`mod@guard`] (what every
//! request passes) with [`neighbour`], [`listen`] (connections), [`hall`] (the sessions that are held) with
//! [`loosening`], [`left`] and [`audit`], [`calls`] with [`arguments`], [`schemas`] and [`once`], [`sessions`],
//! [`stream`], [`ws`] with [`visitor`], [`auth`] (browsers), [`openapi`], [`numbers`], [`problem`], and [`client`] (the
//! way to a server).

pub mod access;
mod arguments;
mod audit;
mod auth;
mod calls;
pub mod client;
pub mod found;
mod guard;
mod hall;
mod left;
mod listen;
mod loosening;
mod neighbour;
mod numbers;
mod once;
mod openapi;
mod problem;
mod schemas;
mod sessions;
mod stream;
mod visitor;
mod ws;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, any, get};
use http::StatusCode;
use neco_proto::app::{App, Described};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use access::Access;
use guard::{Guard, guard};
use hall::Hall;
use once::Once;
use problem::{Answer, Problem};

pub use client::{can_be_read, connect, post};

/// Where a server listens unless told otherwise.
pub const DEFAULT_PORT: u16 = 7420;

/// How often is looked for sessions that nobody needs.
const TIDY: Duration = Duration::from_secs(30);

/// How often tokens are read again.
const REFRESH: Duration = Duration::from_secs(2);

/// How long agents may go on when the server is to end.
const WIND_DOWN: Duration = Duration::from_secs(30);

/// How long connections may take to hear the last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What is served, and how.
pub struct HttpSetup {
    /// The program.
    pub app: Arc<dyn App>,
    /// What can be asked of it.
    pub calls: &'static [Described],
    /// Its version.
    pub version: &'static str,
    /// The folder of tokens.
    pub folder: PathBuf,
    /// Names that the server has besides its address.
    pub names: Vec<String>,
    /// Whether somebody else ends TLS before it.
    pub behind_proxy: bool,
    /// After how long the server ends when nobody needs it.
    pub idle: Option<Duration>,
}

/// What all requests need.
pub(crate) struct House {
    hall: Arc<Hall>,
    access: Access,
    guard: Guard,
    once: Once,
    /// Where a browser finds the server.
    url: String,
}

/// Where a browser finds a server: by its first name, if it has one, and by TLS where a proxy ends that.
fn link_url(address: SocketAddr, names: &[String], behind_proxy: bool) -> String {
    match names.first() {
        Some(name) if behind_proxy => format!("https://{name}"),
        Some(_) | None if !address.ip().is_unspecified() => format!("http://{address}"),
        Some(name) => format!("http://{name}:{}", address.port()),
        None => format!("http://localhost:{}", address.port()),
    }
}

/// Serves until `stop`, or until nobody needs the server any more; then agents may go on for a moment, `ends` ends what
/// there is of sessions, and whoever follows them hears it. `tells` tells others once requests are answered.
///
/// # Errors
/// When nothing can be served.
pub async fn serve(
    setup: HttpSetup,
    listener: TcpListener,
    stop: CancellationToken,
    ends: impl Future<Output = ()>,
    tells: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let HttpSetup { app, calls, version, folder, names, behind_proxy, idle } = setup;
    let address = listener.local_addr()?;
    let opened = move || Ok::<_, io::Error>((Access::open(&folder)?, Hall::new(app, calls, version, &folder)));
    let (access, hall) = tokio::task::spawn_blocking(opened).await.map_err(io::Error::other)??;
    let url = link_url(address, &names, behind_proxy);
    let house =
        Arc::new(House { hall, access, guard: Guard::new(address, &names, behind_proxy), once: Once::default(), url });
    let router = router(&house, calls, version);
    let refreshing = tokio::spawn(refresh(Arc::clone(&house)));
    let tidying = tokio::spawn(tidy(Arc::clone(&house), idle, stop.clone()));
    tells()?;
    let comes_back = tokio::spawn({
        let house = Arc::clone(&house);
        async move { house.hall.bring_back().await }
    });
    let open = listen::accept(listener, router, Arc::clone(&house), stop).await?;
    comes_back.abort();
    house.hall.wind_down(WIND_DOWN).await;
    ends.await;
    house.hall.forget();
    let _ = tokio::time::timeout(LAST_WORDS, open.wait()).await;
    refreshing.abort();
    tidying.abort();
    Ok(())
}

async fn refresh(house: Arc<House>) {
    loop {
        tokio::time::sleep(REFRESH).await;
        let own = Arc::clone(&house);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || own.access.refresh()).await {
            tracing::warn!(%error, "the tokens could not be read again");
        }
    }
}

/// Hands back sessions that nobody needs, and ends the server when nobody needs that.
async fn tidy(house: Arc<House>, idle: Option<Duration>, stop: CancellationToken) {
    let every = idle.map_or(TIDY, |idle| idle.min(TIDY));
    let mut needed = Instant::now();
    loop {
        tokio::time::sleep(every).await;
        if house.hall.tidy().await > 0 || house.hall.numbers.connections.get() > 0 {
            needed = Instant::now();
        }
        if idle.is_some_and(|idle| needed.elapsed() >= idle) {
            tracing::info!("nobody needs the server any more");
            return stop.cancel();
        }
    }
}

/// All routes, behind the guard.
fn router(house: &Arc<House>, calls: &'static [Described], version: &'static str) -> Router {
    let mut by_path = BTreeMap::<&str, MethodRouter>::new();
    for described in calls {
        let route = calls::route(house, described);
        let merged = match by_path.remove(described.route.path) {
            Some(there) => there.merge(route),
            None => route,
        };
        by_path.insert(described.route.path, merged);
    }
    let router =
        by_path.into_iter().fold(Router::new(), |router, (path, route)| router.route(&format!("/api/v1{path}"), route));
    let router = auth::add(sessions::add(router, house), house);
    let (ready, numbers, sockets) = (Arc::clone(house), Arc::clone(house), Arc::clone(house));
    router
        .route(
            "/api/v1/ws",
            get(move |request: Request| async move { sessions::answered(ws::upgrade(&sockets, request)) }),
        )
        .route(
            "/api/v1/openapi.json",
            get(move || async move {
                let told = tokio::task::spawn_blocking(move || openapi::description(calls, version)).await;
                let told = told.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()));
                sessions::answered(
                    told.and_then(|told| Answer::json(StatusCode::OK, &told)).map(IntoResponse::into_response),
                )
            }),
        )
        .route("/health/live", get(|| async { "ok\n" }))
        .route(
            "/health/ready",
            get(move || async move {
                match ready.hall.is_ready() {
                    true => (StatusCode::OK, "ready\n"),
                    false => (StatusCode::SERVICE_UNAVAILABLE, "about to end\n"),
                }
            }),
        )
        .route(
            "/metrics",
            get(move || async move { numbers.hall.numbers.told(numbers.hall.count(), &numbers.hall.version) }),
        )
        .fallback(any(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here") }))
        .layer(from_fn_with_state(Arc::clone(house), guard))
}
