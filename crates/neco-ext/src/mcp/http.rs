//! Messages over streamable HTTP.
//!
//! Sessions and streams are kept by the official crate; what is sent, how much is read and what is said of failures is
//! decided here. A question that fails in the middle of a conversation has an answer that says why.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use http::header::{AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use neco_config::without_secrets;
use neco_model::build_client;
use neco_safety::secrets::{Redactor, Scope};
use reqwest::Response;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::common::client_side_sse::{BoxedSseResponse, SseRetryPolicy};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use rmcp::transport::{StreamableHttpClientTransport, Transport, WWWAuthenticateParams};
use secrecy::SecretString;
use serde_json::json;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::answers::{Kind, answers, beginning, events, first_answer, is_too_long, kind_of, read, whole};
use super::auth::{Keeping, TokenStore, Tokens};
use super::request::{LAST_EVENT, Outgoing, Question, SESSION, VERSION, bearer, headers_of};
use super::settings::ServerAddress;
use super::trouble::{LONGEST, Trouble, shown};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);

/// How long is looked whether a server speaks the old transport.
const LOOK: Duration = Duration::from_secs(3);

/// How often an address may lead on to another one of the same server.
const MOST_REDIRECTS: usize = 3;

/// Streams of news that are opened at once when the last one ended, the pause before each after that, and most of all.
const QUICK_STREAMS: usize = 10;
const STREAM_PAUSE: Duration = Duration::from_secs(1);
const MOST_STREAMS: usize = 100_000;

/// The first pause before a stream is opened again that could not be; it doubles five times.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// What a server at an address is reached with.
pub(super) struct HttpSetup<'a> {
    pub server: &'a str,
    pub address: &'a ServerAddress,
    /// How long it may take to answer for the first time.
    pub patience: Duration,
    pub redactor: &'a Redactor,
    pub logins: &'a Arc<dyn TokenStore>,
    /// Set when a new conversation has to be begun.
    pub is_over: CancellationToken,
}

/// The way to a server at an address. Clones are the same.
#[derive(Clone)]
pub(super) struct Http(Arc<Way>);

struct Way {
    server: String,
    url: Url,
    client: reqwest::Client,
    /// The headers of the settings.
    headers: HeaderMap,
    /// Nothing where the settings say what the server is shown.
    tokens: Option<Arc<Tokens>>,
    redactor: Redactor,
    patience: Duration,
    is_over: CancellationToken,
    /// What went wrong with the last question.
    trouble: Mutex<Option<Trouble>>,
    streams: AtomicUsize,
}

/// Whether a server asks for a login.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// It does; with what it says of it.
    Login(Option<String>),
    Nothing,
}

impl Asks {
    /// What the server says of the login.
    pub(super) fn challenge(&self) -> Option<&str> {
        match self {
            Self::Login(challenge) => challenge.as_deref(),
            Self::Nothing => None,
        }
    }
}

impl Http {
    /// The way to a server; nothing is asked yet.
    pub(super) async fn new(setup: HttpSetup<'_>) -> Result<Self, Trouble> {
        let HttpSetup { server, address, patience, redactor, logins, is_over } = setup;
        let url = url_of(address)?;
        let headers = headers_of(address)?;
        let is_shown = headers.contains_key(AUTHORIZATION) || !url.username().is_empty() || url.password().is_some();
        let tokens = match is_shown {
            true => None,
            false => Some(Tokens::load(keeping(server, &url, logins, redactor)).await),
        };
        let client = build_client(url.as_str(), Some(CONNECT)).await;
        let client = client.map_err(|error| Trouble::Setup(format!("the connection can't be set up: {error}")))?;
        Ok(Self(Arc::new(Way {
            server: server.to_owned(),
            url,
            client,
            headers,
            tokens,
            redactor: redactor.clone(),
            patience,
            is_over,
            trouble: Mutex::default(),
            streams: AtomicUsize::new(0),
        })))
    }

    /// What carries the messages of one conversation.
    pub(super) fn exchange(&self) -> Exchange {
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.0.url.as_str());
        config.retry_config = Arc::new(Pauses);
        let inner = StreamableHttpClientTransport::with_client(self.clone(), config);
        Exchange { inner, is_over: self.0.is_over.clone() }
    }

    /// Where the login at the server is kept; nowhere where the settings say what it is shown.
    pub(super) fn keeping(&self) -> Option<&Keeping> {
        self.0.tokens.as_ref().map(|tokens| &tokens.keeping)
    }

    /// What went wrong with the last question, if anything did.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a conversation may have failed only because the server is of another era.
    pub(super) fn may_be_of_another_era(&self) -> bool {
        self.trouble().is_none_or(|trouble| trouble.may_be_of_the_question())
    }

    /// Why a conversation could not be begun, as far as that lies at the address.
    pub(super) async fn explanation(&self) -> Option<Trouble> {
        let trouble = self.trouble()?;
        let may_be_older = matches!(trouble, Trouble::NoServer(_) | Trouble::Status { status: 400..=499, .. });
        Some(if may_be_older && self.is_old_transport().await { Trouble::OldTransport } else { trouble })
    }

    /// Whether the server asks those for a login who have none.
    pub(super) async fn asks(&self) -> Result<Asks, Trouble> {
        let question = json!({ "jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {} });
        let mut outgoing = self.outgoing(Method::POST, HashMap::new(), None);
        outgoing.headers.insert(VERSION, HeaderValue::from_static("2026-07-28"));
        outgoing.body = question.to_string().into_bytes();
        let asked = timeout(self.0.patience, self.send_as(&outgoing, None)).await;
        let response = asked.unwrap_or(Err(Trouble::Silent(self.0.patience)))?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(Asks::Nothing);
        }
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let challenges: Vec<&str> = challenges.collect();
        let leads_on =
            |challenge: &&&str| WWWAuthenticateParams::parse(challenge, &self.0.url).resource_metadata_url.is_some();
        let best = challenges.iter().find(leads_on).or(challenges.first());
        Ok(Asks::Login(best.map(|challenge| (*challenge).to_owned())))
    }

    /// Whether the server speaks the old transport: there a stream begins with where messages are sent to.
    async fn is_old_transport(&self) -> bool {
        let looked = async {
            let response = self.send(&self.outgoing(Method::GET, HashMap::new(), None)).await.ok()?;
            let is_stream = response.status().is_success() && kind_of(response.headers()) == Kind::Events;
            if is_stream { events(response).next().await?.ok()?.event } else { None }
        };
        timeout(LOOK, looked).await.ok().flatten().is_some_and(|event| event == "endpoint")
    }

    fn outgoing(&self, method: Method, headers: HashMap<HeaderName, HeaderValue>, session: Option<&str>) -> Outgoing {
        Outgoing::new(self.0.headers.clone(), method, headers, session)
    }

    /// Sends a request with what the server is shown; once more with another token where it does not like the first.
    async fn send(&self, outgoing: &Outgoing) -> Result<Response, Trouble> {
        let refused = |response: &Response| response.status() == StatusCode::UNAUTHORIZED;
        let Some(tokens) = &self.0.tokens else {
            let response = self.send_as(outgoing, None).await?;
            return if refused(&response) { Err(Trouble::TokenRefused) } else { Ok(response) };
        };
        let token = tokens.current().await;
        let response = self.send_as(outgoing, token.as_ref()).await?;
        if !refused(&response) {
            return Ok(response);
        }
        let Some(token) = tokens.after(token.as_ref()).await? else { return Err(Trouble::NeedsLogin) };
        let response = self.send_as(outgoing, Some(&token)).await?;
        if refused(&response) { Err(Trouble::NeedsLogin) } else { Ok(response) }
    }

    /// Sends a request with this token. An address that leads on is followed only to another one of the same server.
    async fn send_as(&self, outgoing: &Outgoing, token: Option<&SecretString>) -> Result<Response, Trouble> {
        let mut headers = outgoing.headers.clone();
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, bearer(token)?);
        }
        let mut url = self.0.url.clone();
        for _ in 0..MOST_REDIRECTS {
            let mut request = self.0.client.request(outgoing.method.clone(), url.clone()).headers(headers.clone());
            if !outgoing.body.is_empty() {
                request = request.body(outgoing.body.clone());
            }
            let response = match request.send().await {
                Ok(response) => response,
                Err(error) => return Err(Trouble::unsent(error, &url).await),
            };
            let Some(next) = leads_to(&response, &url) else { return Ok(response) };
            let is_kept = matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            if !is_kept || next.origin() != url.origin() {
                return Err(Trouble::Moved(shown(&without_secrets(next.as_str()))));
            }
            url = next;
        }
        Err(Trouble::Moved(shown(&without_secrets(url.as_str()))))
    }

    async fn post(
        &self,
        outgoing: Outgoing,
        question: &Question,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Trouble> {
        let response = self.send(&outgoing).await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(Trouble::Forgotten);
        }
        let Some(id) = question.id() else {
            let is_taken = status.is_success();
            return if is_taken {
                Ok(StreamableHttpPostResponse::Accepted)
            } else {
                Err(Trouble::of_status(status, ""))
            };
        };
        if !status.is_success() {
            return Ok(StreamableHttpPostResponse::Json(self.refused(response, id).await?, None));
        }
        let is_bare = matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
        if is_bare && matches!(question, Question::Other(_)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        match kind_of(response.headers()) {
            Kind::Events if matches!(question, Question::Other(_)) => {
                Ok(StreamableHttpPostResponse::Sse(answers(response, id.clone()), session))
            }
            Kind::Events => Ok(StreamableHttpPostResponse::Json(first_answer(response, id).await?, session)),
            Kind::Json => {
                let answer = read(&whole(response, LONGEST).await?, id)?;
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            Kind::Page => Err(Trouble::WebPage),
            Kind::Other(kind) => Err(Trouble::Unreadable(format!("it is {}", shown(&kind)))),
        }
    }

    /// What an answer says that is no success: the protocol's own words, or what went wrong.
    async fn refused(&self, response: Response, id: &RequestId) -> Result<ServerJsonRpcMessage, Trouble> {
        let (status, kind) = (response.status(), kind_of(response.headers()));
        if status == StatusCode::FORBIDDEN
            && let (Some(tokens), Some(scopes)) = (&self.0.tokens, self.wants_more(response.headers()))
        {
            tokens.want(&scopes).await;
            return Err(Trouble::NeedsLogin);
        }
        let body = beginning(response).await;
        if status != StatusCode::FORBIDDEN
            && let Ok(JsonRpcMessage::Error(error)) = serde_json::from_slice::<ServerJsonRpcMessage>(&body)
        {
            return Ok(JsonRpcMessage::error(error.error, Some(id.clone())));
        }
        let said = match kind {
            Kind::Page => String::new(),
            _ => shown(&self.0.redactor.redact(&String::from_utf8_lossy(&body), Scope::Outside)),
        };
        Err(Trouble::of_status(status, &said))
    }

    /// The scopes that a login lacks, where the server says that this is why it refuses.
    fn wants_more(&self, headers: &HeaderMap) -> Option<String> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let mut params = values.map(|value| WWWAuthenticateParams::parse(value, &self.0.url));
        params.find(WWWAuthenticateParams::is_insufficient_scope).map(|params| params.scope.unwrap_or_default())
    }

    /// What becomes of a question that failed.
    fn fail(&self, question: Question, trouble: Trouble) -> Posted {
        let failure = |id: RequestId, words: String| -> Posted {
            let error = ErrorData::internal_error(words, None);
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::error(error, Some(id)), None))
        };
        match (question, trouble) {
            // Nobody waits for an answer.
            (Question::Nothing, trouble) => {
                tracing::debug!(server = self.0.server, %trouble, "a message to an MCP server was lost");
                Ok(StreamableHttpPostResponse::Accepted)
            }
            (Question::Discover(id), trouble) if trouble.may_be_of_the_question() => failure(id, trouble.to_string()),
            (Question::Discover(_) | Question::Initialize(_), trouble) => {
                self.0.is_over.cancel();
                self.note(Some(trouble.clone()));
                Err(StreamableHttpError::Client(trouble))
            }
            (Question::Other(_), Trouble::Forgotten) => Err(StreamableHttpError::SessionExpired),
            (Question::Other(id), Trouble::NeedsLogin) => {
                // The next one who wants something is told so before anything is sent.
                self.0.is_over.cancel();
                self.note(Some(Trouble::NeedsLogin));
                failure(id, format!("it wants you to log in; run `neco mcp login {}`", self.0.server))
            }
            (Question::Other(id), trouble) => {
                let words = trouble.to_string();
                self.note(Some(trouble));
                failure(id, words)
            }
        }
    }

    fn note(&self, trouble: Option<Trouble>) {
        *self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

/// What came of a message.
type Posted = Result<StreamableHttpPostResponse, StreamableHttpError<Trouble>>;

impl StreamableHttpClient for Http {
    type Error = Trouble;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Posted {
        let question = Question::of(&message);
        let mut outgoing = self.outgoing(Method::POST, headers, session.as_deref());
        outgoing.body = serde_json::to_vec(&message)?;
        let posting = self.post(outgoing, &question, session.is_some());
        let posted = match question.limit(self.0.patience) {
            Some(limit) => timeout(limit, posting).await.unwrap_or(Err(Trouble::Silent(self.0.patience))),
            None => posting.await,
        };
        match posted {
            Ok(answer) => {
                if question.id().is_some() {
                    self.note(None);
                }
                Ok(answer)
            }
            Err(trouble) => self.fail(question, trouble),
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Trouble>> {
        // A server that does not know how keeps it until it is too old.
        let _ = self.send(&self.outgoing(Method::DELETE, headers, Some(&session))).await;
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, StreamableHttpError<Trouble>> {
        let streams = self.0.streams.fetch_add(1, Ordering::Relaxed);
        if streams >= MOST_STREAMS {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if streams >= QUICK_STREAMS {
            sleep(STREAM_PAUSE).await;
        }
        let mut outgoing = self.outgoing(Method::GET, headers, session.as_deref());
        if let Some(last_event) = last_event.and_then(|id| HeaderValue::from_str(&id).ok()) {
            outgoing.headers.insert(LAST_EVENT, last_event);
        }
        let response = match self.send(&outgoing).await {
            Ok(response) => response,
            Err(Trouble::NeedsLogin | Trouble::TokenRefused) => {
                return Err(StreamableHttpError::ServerDoesNotSupportSse);
            }
            Err(trouble) => return Err(StreamableHttpError::Client(trouble)),
        };
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(StreamableHttpError::Client(Trouble::of_status(status, "")));
        }
        if !status.is_success() || kind_of(response.headers()) != Kind::Events {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let way = Arc::clone(&self.0);
        let watched = events(response).inspect(move |event| {
            // Who floods is not listened to any more.
            if event.as_ref().is_err_and(is_too_long) {
                way.streams.store(MOST_STREAMS, Ordering::Relaxed);
            }
        });
        Ok(watched.boxed())
    }
}

/// The address of a server.
pub(super) fn url_of(address: &ServerAddress) -> Result<Url, Trouble> {
    let url =
        Url::parse(&address.url).map_err(|error| Trouble::Setup(format!("its address can't be read: {error}")))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(Trouble::Setup("its address does not begin with http:// or https://".to_owned())),
    }
}

/// Where the login of a server is kept.
pub(super) fn keeping(server: &str, url: &Url, logins: &Arc<dyn TokenStore>, redactor: &Redactor) -> Keeping {
    let (store, redactor) = (Arc::clone(logins), redactor.clone());
    Keeping { server: server.to_owned(), address: url.clone(), store, redactor }
}

/// Where an answer leads on to.
fn leads_to(response: &Response, url: &Url) -> Option<Url> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    url.join(location.to_str().ok()?).ok()
}

/// The pauses before a stream of news is opened again.
#[derive(Debug)]
struct Pauses;

impl SseRetryPolicy for Pauses {
    fn retry(&self, times: usize) -> Option<Duration> {
        Some(FIRST_PAUSE * (1 << times.min(5)))
    }
}

/// The messages of one conversation with a server at an address.
pub(super) struct Exchange {
    inner: StreamableHttpClientTransport<Http>,
    is_over: CancellationToken,
}

impl Transport<RoleClient> for Exchange {
    type Error = StreamableHttpError<Trouble>;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let received = self.inner.receive().await;
        if received.is_none() {
            self.is_over.cancel();
        }
        received
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
