//! The program and its sessions over HTTP: requests, streams of events, WebSockets.
//!
//! Invariants: nothing is done for whoever does not pass the guard; routes, arguments and the description of the API come
//! from the one table of requests; a reader is a place in a session's log, and whoever reads slowly takes no memory; what
//! is said over a WebSocket is what is said over the Unix sockets of [`remote`](crate::remote).
//!
//! Reading order: [`found`] (the one server of a data folder), [`access`] (who may come in), [`mod@guard`] (what every
//! request passes) with [`neighbour`], [`listen`] (connections) with [`crowd`] and [`tls`], [`hall`] (the sessions that
//! are held) with [`handed`], [`loosening`], [`left`], [`audit`] and [`own_calls`], [`calls`] with [`arguments`], [`schemas`] and [`once`],
//! [`sessions`], [`stream`], [`ws`] with [`visitor`], [`page`] and [`auth`] (browsers), [`mcp`] (MCP clients),
//! [`openapi`], [`numbers`], [`problem`], [`client`] (the way to a server) with [`trust`], and [`take_over`] (another
//! process goes on with all of it).

pub mod access;
mod arguments;
mod audit;
mod auth;
mod calls;
pub mod client;
mod crowd;
pub mod found;
mod guard;
mod hall;
mod handed;
mod left;
mod listen;
mod loosening;
pub mod mcp;
mod neighbour;
mod numbers;
mod once;
mod openapi;
mod own_calls;
mod page;
mod problem;
mod schemas;
mod sessions;
mod stream;
pub mod take_over;
pub mod tls;
pub mod trust;
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
use futures::FutureExt;
use futures::future::BoxFuture;
use http::StatusCode;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, Described};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use access::Access;
use guard::{Guard, guard};
use hall::Hall;
use mcp::McpClients;
use once::Once;
use problem::{Answer, Problem};
use tls::{Certificate, TlsFiles};

pub use client::{can_be_read, connect, connect_trusting, post};
pub use own_calls::DESCRIBED as OWN_CALLS;
pub use page::PageFile;

/// Where a server listens unless told otherwise.
pub const DEFAULT_PORT: u16 = 7420;

/// How often is looked for sessions that nobody needs.
const TIDY: Duration = Duration::from_secs(30);

/// How often tokens and the certificate are read again.
const REFRESH: Duration = Duration::from_secs(2);

/// How long agents may go on when the server is to end.
const WIND_DOWN: Duration = Duration::from_secs(30);

/// How long connections may take to hear the last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What is served, and how.
pub struct HttpSetup {
    /// The program.
    pub app: Arc<dyn App>,
    /// What can be asked of it, and of the server itself ([`OWN_CALLS`]).
    pub calls: &'static [Described],
    /// Its version.
    pub version: &'static str,
    /// The folder of tokens.
    pub folder: PathBuf,
    /// Names that the server has besides its address.
    pub names: Vec<String>,
    /// Whether somebody else ends TLS before it.
    pub behind_proxy: bool,
    /// Its certificate, where it speaks TLS itself.
    pub tls: Option<TlsFiles>,
    /// After how long the server ends when nobody needs it.
    pub idle: Option<Duration>,
    /// The page that browsers get; empty where none was built.
    pub page: &'static [PageFile],
    /// The sessions that it goes on with.
    pub sessions: Vec<OpenSession>,
}

/// What becomes of sessions when a server ends.
pub trait Ending: Send + Sync {
    /// Whether another process goes on with them.
    fn hands_over(&self) -> bool {
        false
    }

    /// Ready when nothing of them would be cut short, or nobody waits any longer for that.
    fn come_to_boundary(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    /// Ends what there is of them here; `not_opened` are those that were handed to this server and are not open.
    fn end(&self, not_opened: Vec<OpenSession>) -> BoxFuture<'_, ()>;
}

/// What all requests need.
pub(crate) struct House {
    hall: Arc<Hall>,
    access: Access,
    guard: Guard,
    once: Once,
    /// What can be asked.
    calls: &'static [Described],
    certificate: Option<Arc<Certificate>>,
    mcp: McpClients,
    version: &'static str,
    /// Where a browser finds the server.
    url: String,
}

/// Where a browser finds a server: by its first name, if it has one, and by TLS where that is spoken.
fn link_url(address: SocketAddr, names: &[String], behind_proxy: bool, is_tls: bool) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    match names.first() {
        Some(name) if behind_proxy => format!("https://{name}"),
        Some(name) if is_tls || address.ip().is_unspecified() => format!("{scheme}://{name}:{}", address.port()),
        Some(_) | None if !address.ip().is_unspecified() => format!("{scheme}://{address}"),
        Some(_) | None => format!("{scheme}://localhost:{}", address.port()),
    }
}

/// Serves until `stop`, or until nobody needs the server any more; then agents may go on for a moment, `ending` ends what
/// there is of sessions, and whoever follows them hears it. `tells` tells others once requests are answered.
///
/// # Errors
/// When nothing can be served.
pub async fn serve(
    setup: HttpSetup,
    listener: TcpListener,
    stop: CancellationToken,
    ending: &dyn Ending,
    tells: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let HttpSetup { app, calls, version, folder, names, behind_proxy, tls, idle, page, sessions } = setup;
    let address = listener.local_addr()?;
    let opened = tokio::task::spawn_blocking(move || {
        let certificate = tls.map(|files| Certificate::open(files, &folder)).transpose()?;
        Ok::<_, io::Error>((Access::open(&folder)?, certificate, Hall::new(app, calls, version, &folder, sessions)))
    });
    let (access, certificate, hall) = opened.await.map_err(io::Error::other)??;
    let acceptor = certificate.as_ref().map(Certificate::acceptor).transpose()?;
    let url = link_url(address, &names, behind_proxy, certificate.is_some());
    let house = Arc::new(House {
        hall,
        access,
        guard: Guard::new(address, &names, behind_proxy, certificate.is_some()),
        once: Once::default(),
        calls,
        certificate,
        mcp: McpClients::default(),
        version,
        url,
    });
    let router = page::add(router(&house, calls, version), page).layer(from_fn_with_state(Arc::clone(&house), guard));
    let refreshing = tokio::spawn(refresh(Arc::clone(&house)));
    let tidying = tokio::spawn(tidy(Arc::clone(&house), idle, stop.clone()));
    tells()?;
    let (own, opens) = (Arc::clone(&house), Arc::clone(&house));
    let comes_back = tokio::spawn(async move { own.hall.bring_back().await });
    let opening = tokio::spawn(async move { opens.hall.open_handed("").await });
    let open = listen::accept(listener, router, Arc::clone(&house), acceptor, stop).await?;
    // Both end with the session that is just opened.
    house.hall.take_nothing_new();
    comes_back.abort();
    let _ = opening.await;
    let not_opened = house.hall.not_opened().await;
    let hands_over = ending.hands_over();
    if hands_over {
        ending.come_to_boundary().await;
        house.hall.goes_on_elsewhere();
    } else {
        house.hall.wind_down(WIND_DOWN, house.mcp.rest()).await;
    }
    house.mcp.end().await;
    ending.end(not_opened).await;
    // Whoever goes on with them has to bring them back, should it fall.
    if !hands_over {
        house.hall.forget();
    }
    let _ = tokio::time::timeout(LAST_WORDS, open.wait()).await;
    refreshing.abort();
    tidying.abort();
    Ok(())
}

async fn refresh(house: Arc<House>) {
    loop {
        tokio::time::sleep(REFRESH).await;
        let own = Arc::clone(&house);
        let refreshed = tokio::task::spawn_blocking(move || {
            (own.access.refresh(), own.certificate.as_ref().map_or(Ok(()), |certificate| certificate.refresh()))
        });
        let Ok((tokens, certificate)) = refreshed.await else { continue };
        if let Err(error) = tokens {
            tracing::warn!(%error, "the tokens could not be read again");
        }
        if let Err(error) = certificate {
            tracing::warn!(%error, "the certificate could not be read again; the one before goes on being shown");
        }
    }
}

/// Hands back sessions that nobody needs, and ends the server when nobody needs that.
async fn tidy(house: Arc<House>, idle: Option<Duration>, stop: CancellationToken) {
    let every = idle.map_or(TIDY, |idle| idle.min(TIDY));
    let mut needed = Instant::now();
    loop {
        tokio::time::sleep(every).await;
        let held = house.hall.tidy().await + house.mcp.tidy().await;
        if held > 0 || house.hall.numbers.connections.get() > 0 {
            needed = Instant::now();
        }
        if idle.is_some_and(|idle| needed.elapsed() >= idle) {
            tracing::info!("nobody needs the server any more");
            return stop.cancel();
        }
    }
}

/// All routes but those of the page; the guard stands before both.
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
    let router = mcp::add(auth::add(sessions::add(router, house), house), house);
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
        .method_not_allowed_fallback(|| async {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this is asked with another method: `allow` names those there are",
            )
        })
        .fallback(any(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here") }))
}
