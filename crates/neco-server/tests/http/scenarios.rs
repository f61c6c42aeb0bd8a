//! Every scenario, played by a person who is at the other end of a server: the same happens as in process.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::{Client, SessionId};
use neco_server::http::access::main_token;
use neco_server::http::{Ending, HttpSetup, connect, serve};
use neco_testkit::Scenario;
use neco_testkit::scenario::play_through;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::requests::ByRequests;

/// A program that has one session.
struct One(SessionId, Arc<dyn Client>);

impl App for One {
    fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        std::future::ready(Err(AppError::unknown(&call.name))).boxed()
    }

    fn open<'a>(&'a self, _: &'a Caller, _: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        let (id, client) = (self.0, Arc::clone(&self.1));
        let opened = OpenedSession { id, client, folder: String::new(), owner: None, since: 0, notes: Vec::new() };
        std::future::ready(Ok(opened)).boxed()
    }
}

/// Nothing has to be ended.
struct Nothing;

impl Ending for Nothing {
    fn end(&self, _: Vec<OpenSession>) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}

/// The way to a session by a server of its own, which lives as long as `folder`.
async fn by_server(
    id: SessionId,
    client: Arc<dyn Client>,
    folder: &Path,
    stop: CancellationToken,
    by_requests: bool,
) -> Result<Arc<dyn Client>, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let url = format!("http://{address}");
    let setup = HttpSetup {
        app: Arc::new(One(id, client)),
        calls: &[],
        version: "0.0.0-test",
        folder: folder.to_owned(),
        names: Vec::new(),
        behind_proxy: false,
        tls: None,
        idle: None,
        page: &[],
        sessions: Vec::new(),
    };
    let (told, listens) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let tells = || {
            let _ = told.send(());
            Ok(())
        };
        serve(setup, listener, stop, &Nothing, tells).await
    });
    listens.await.map_err(|error| error.to_string())?;
    let token = main_token(folder).ok().flatten().ok_or("no token")?;
    let server = connect(&url, &token).await.map_err(|error| error.to_string())?;
    let opened = server
        .open(&Caller::person(), OpenSession { folder: "/project".to_owned(), ..OpenSession::default() })
        .await
        .map_err(|error| error.to_string())?;
    if by_requests {
        return Ok(Arc::new(ByRequests { address, token, id }));
    }
    Ok(opened.client)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_plays_over_http_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let only = std::env::var("SCENARIO").unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().contains(&only));
    let (mut failures, mut played) = (Vec::new(), 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let scenario = Scenario::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let (folder, stop) = (tempfile::tempdir().unwrap(), CancellationToken::new());
        // Every third one over POST and server-sent events, the others over a WebSocket.
        let by_requests = played % 3 == 0;
        let way = async |id, client| by_server(id, client, folder.path(), stop.clone(), by_requests).await;
        played += 1;
        if let Err(error) = play_through(&scenario, way).await {
            failures.push(format!("{}: {error}", path.display()));
        }
        stop.cancel();
    }
    assert!(played > 20 || !only.is_empty(), "only {played} scenarios were found");
    assert!(failures.is_empty(), "{} of {played} scenarios failed\n{}", failures.len(), failures.join("\n"));
}
