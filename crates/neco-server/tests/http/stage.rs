//! A server with one session that does what a test tells it, and a client that writes whatever it likes.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use neco_proto::Client;
use neco_proto::app::blobs::ReadBytes;
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::request::Describes;
use neco_proto::app::sessions::{ForkSession, ListSessions, SessionRow};
use neco_proto::app::{App, AppError, Call, Caller, Described, Request, Scope, Trouble};
use neco_server::RemoteClient;
use neco_server::http::access::{add_token, main_token};
use neco_server::http::tls::TlsFiles;
use neco_server::http::{Ending, HttpSetup, OWN_CALLS, PageFile, connect, serve};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::session::FakeSession;

/// What the program can be asked here.
pub static CALLS: LazyLock<Vec<Described>> = LazyLock::new(|| {
    let rows: Describes = |generator| generator.subschema_for::<SessionRow>();
    let list = Described { item: Some(rows), ..Described::of::<ListSessions>() };
    [&[list, Described::of::<ReadBytes>(), Described::of::<ForkSession>()], OWN_CALLS].concat()
});

/// A page as it is built: a document with room for a nonce, and files that are packed or not.
pub const PAGE: &[PageFile] = &[
    PageFile { path: "index.html", bytes: b"<html><meta nonce=\"%NONCE%\"></html>" },
    PageFile { path: "assets/index-1.js.gz", bytes: b"packed" },
    PageFile { path: "assets/font-1.woff2", bytes: b"font" },
];

/// A program with one session, which it opens.
struct Program(Arc<FakeSession>);

impl App for Program {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        if call.name == ForkSession::ROUTE.name {
            self.0.stuck.send_modify(|begun| *begun += 1);
            let session = Arc::clone(&self.0);
            return async move {
                let _turn = session.busy.lock().await;
                session.callers.lock().unwrap().push(caller.clone());
                Ok(serde_json::json!({ "arguments": call.arguments }))
            }
            .boxed();
        }
        self.0.call(caller, call)
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        self.0.stream(caller, call)
    }

    fn open<'a>(&'a self, caller: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        let (session, id) = (Arc::clone(&self.0), self.0.id);
        let known = match &wanted.which {
            WhichSession::Id(part) => id.to_string().starts_with(part.as_str()),
            WhichSession::New | WhichSession::Latest => true,
        };
        let opened = match (caller.scope >= Scope::Work, known) {
            (false, _) => Err(AppError::new(Trouble::NotAllowed, "opening is not for whoever may only read")),
            (true, false) => Err(AppError::new(Trouble::NotFound, "there is no such session")),
            (true, true) => {
                let since = session.log().len() as u64;
                let client: Arc<dyn Client> = session;
                Ok(OpenedSession { id, client, folder: wanted.folder, owner: None, since, notes: Vec::new() })
            }
        };
        std::future::ready(opened).boxed()
    }
}

/// The session ends with the server.
struct Ends(Arc<FakeSession>);

impl Ending for Ends {
    fn end(&self, _: Vec<OpenSession>) -> BoxFuture<'_, ()> {
        self.0.end();
        std::future::ready(()).boxed()
    }
}

/// A server.
pub struct Stage {
    pub session: Arc<FakeSession>,
    pub address: SocketAddr,
    pub token: String,
    pub folder: TempDir,
    pub stop: CancellationToken,
    pub served: JoinHandle<std::io::Result<()>>,
}

impl Stage {
    pub async fn new() -> Self {
        Self::called(&["neco.example"]).await
    }

    /// One that has more names than its address.
    pub async fn called(names: &[&str]) -> Self {
        Self::set_up(names, None, None).await
    }

    /// One that speaks TLS.
    pub async fn with(tls: TlsFiles) -> Self {
        Self::set_up(&["neco.example"], Some(tls), None).await
    }

    /// One that ends when nobody needs it for so long.
    pub async fn idle(idle: Duration) -> Self {
        Self::set_up(&["neco.example"], None, Some(idle)).await
    }

    async fn set_up(names: &[&str], tls: Option<TlsFiles>, idle: Option<Duration>) -> Self {
        let (folder, session) = (tempfile::tempdir().unwrap(), FakeSession::new());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let setup = HttpSetup {
            app: Arc::new(Program(Arc::clone(&session))),
            calls: &CALLS,
            version: "0.0.0-test",
            folder: folder.path().to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            behind_proxy: false,
            tls,
            idle,
            page: PAGE,
            sessions: Vec::new(),
        };
        let (told, listens) = tokio::sync::oneshot::channel();
        let (ends, stops) = (Arc::clone(&session), stop.clone());
        let served = tokio::spawn(async move {
            let tells = || {
                let _ = told.send(());
                Ok(())
            };
            serve(setup, listener, stops, &Ends(ends), tells).await
        });
        listens.await.unwrap();
        let token = main_token(folder.path()).unwrap().unwrap();
        Self { session, address, token, folder, stop, served }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The path of the session, with something behind it.
    pub fn path(&self, rest: &str) -> String {
        format!("/api/v1/sessions/{}{rest}", self.session.id)
    }

    /// A token that may do less.
    pub async fn named(&self, name: &str, scope: Scope) -> String {
        let token = add_token(self.folder.path(), name, scope).unwrap();
        // The server reads its files every few seconds.
        tokio::time::sleep(Duration::from_millis(2200)).await;
        token
    }

    pub async fn window(&self) -> RemoteClient {
        connect(&self.url(), &self.token).await.unwrap()
    }

    /// What comes back of these bytes, until the server closes the connection or says nothing more.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let mut told = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut told)).await;
        String::from_utf8_lossy(&told).into_owned()
    }

    /// A request with the token and more headers, each a line.
    pub async fn asked(&self, line: &str, headers: &[&str], body: &str) -> (u16, String) {
        let own = format!("Authorization: Bearer {}", self.token);
        self.asked_as(line, &[&[own.as_str()], headers].concat(), body).await
    }

    /// The same without the token.
    pub async fn asked_as(&self, line: &str, headers: &[&str], body: &str) -> (u16, String) {
        let host = format!("Host: {}", self.address);
        let host = if headers.iter().any(|header| header.starts_with("Host:")) { String::new() } else { host + "\r\n" };
        let kind = match body.is_empty() {
            true => String::new(),
            false => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
        };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let request = format!("{line} HTTP/1.1\r\n{host}{headers}{kind}Connection: close\r\n\r\n{body}");
        let told = self.raw(request.as_bytes()).await;
        let status = told.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let (_, body) = told.split_once("\r\n\r\n").unwrap_or_default();
        (status, body.to_owned())
    }

    /// A request whose answer is JSON.
    pub async fn json(&self, line: &str, body: &str) -> Value {
        let (status, told) = self.asked(line, &[], body).await;
        assert!((200..300).contains(&status), "{line}: {status} {told}");
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
    }
}
