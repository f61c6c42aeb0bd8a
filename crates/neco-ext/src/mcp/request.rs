//! What is sent to the address of a server: a question, and the headers around it.

use std::collections::HashMap;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use secrecy::{ExposeSecret, SecretString};

use super::settings::ServerAddress;
use super::trouble::{Trouble, shown};

/// How long a server may take to say that it is of the newer kind; one that does not know the question may say nothing.
const DISCOVERY: Duration = Duration::from_secs(8);

/// Headers of the protocol.
pub(super) const SESSION: &str = "mcp-session-id";
pub(super) const LAST_EVENT: &str = "last-event-id";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// A request, before it is known what the server is shown.
pub(super) struct Outgoing {
    pub method: Method,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Outgoing {
    /// A request of this method. `all` are the headers of the settings, `headers` those of the message.
    pub(super) fn new(
        mut all: HeaderMap,
        method: Method,
        headers: HashMap<HeaderName, HeaderValue>,
        session: Option<&str>,
    ) -> Self {
        // What the protocol says comes after the settings, which can't change it.
        all.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if method == Method::POST {
            all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in headers {
            all.insert(name, value);
        }
        if let Some(session) = session.and_then(|session| HeaderValue::from_str(session).ok()) {
            all.insert(SESSION, session);
        }
        Self { method, headers: all, body: Vec::new() }
    }
}

/// What a message asks.
pub(super) enum Question {
    /// Whether the server is of the newer kind.
    Discover(RequestId),
    /// Whether a conversation can be begun.
    Initialize(RequestId),
    Other(RequestId),
    /// Nothing: there is no answer to it.
    Nothing,
}

impl Question {
    pub(super) fn of(message: &ClientJsonRpcMessage) -> Self {
        let JsonRpcMessage::Request(message) = message else { return Self::Nothing };
        let id = message.id.clone();
        match &message.request {
            ClientRequest::DiscoverRequest(_) => Self::Discover(id),
            ClientRequest::InitializeRequest(_) => Self::Initialize(id),
            _ => Self::Other(id),
        }
    }

    pub(super) fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Discover(id) | Self::Initialize(id) | Self::Other(id) => Some(id),
            Self::Nothing => None,
        }
    }

    /// How long its answer may take; whoever asks looks at the time of all others. A conversation is begun before
    /// whoever waits for it gives up, so that it is told why it was not.
    pub(super) fn limit(&self, patience: Duration) -> Option<Duration> {
        match self {
            Self::Discover(_) => Some(DISCOVERY.min(patience / 2)),
            Self::Initialize(_) => Some(patience.saturating_sub(patience / 10)),
            Self::Other(_) | Self::Nothing => None,
        }
    }
}

/// The headers that the settings say.
pub(super) fn headers_of(address: &ServerAddress) -> Result<HeaderMap, Trouble> {
    let mut headers = HeaderMap::new();
    for (name, value) in &address.headers {
        let unfit = || Trouble::Setup(format!("its header {} has characters that can't be sent", shown(name)));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| unfit())?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| unfit())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    // How long a body is, is not for the settings to say.
    headers.remove(CONTENT_LENGTH);
    headers.remove(TRANSFER_ENCODING);
    if let Some(token) = &address.bearer {
        headers.insert(AUTHORIZATION, bearer(token)?);
    }
    Ok(headers)
}

pub(super) fn bearer(token: &SecretString) -> Result<HeaderValue, Trouble> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
    let mut value = value.map_err(|_| Trouble::Setup("its token has characters that can't be sent".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}
