//! One conversation with a server.

use std::io;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams, InputRequest,
    InputResponses, PaginatedRequestParams, ProtocolVersion, ReadResourceRequest, ReadResourceRequestParams,
    RequestOptionalParam, ServerPeerInfo, ServerResult, SubscriptionFilter,
};
use rmcp::service::{ClientInitializeError, Peer, PeerRequestOptions, RequestHandle, RunningService, ServiceError};
use rmcp::transport::Transport;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::answer_kind::cut;
use super::error::McpError;
use super::host::{CallGuard, Caller, Host};
use super::last_words::{self, LastWords};
use super::manifest::{List, Manifest};
use super::sampling::NoSample;

/// Most pages of a list.
const MOST_PAGES: usize = 50;

/// Characters of a server's reason to refuse something.
const LONGEST_REASON: usize = 4000;

/// How often a server may want something more before it answers.
const MOST_ROUNDS: usize = 10;

/// How long is waited at first when a server wants nothing but to be asked again.
const STILL_AT_WORK: Duration = Duration::from_millis(50);

/// How a conversation is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Not known yet: asks, and falls back to the older way.
    Unknown,
    /// With `initialize`, as before 2026-07-28.
    Initialize,
}

impl Era {
    /// What is known of a server from its manifest.
    pub(super) fn of(manifest: Option<&Manifest>) -> Self {
        let is_old = |manifest: &Manifest| manifest.protocol.as_str() < ProtocolVersion::V_2026_07_28.as_str();
        if manifest.is_some_and(is_old) { Self::Initialize } else { Self::Unknown }
    }

    /// What is tried when it was not that.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Unknown => Self::Initialize,
            Self::Initialize => Self::Unknown,
        }
    }

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Unknown => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        }
    }
}

/// One conversation with a server. It ends when it is dropped.
pub(super) struct Connection {
    server: String,
    peer: Peer<RoleClient>,
    pub host: Host,
    pub about: ServerPeerInfo,
    /// What its program prints, where it has one.
    pub last_words: Option<LastWords>,
    running: Mutex<Option<RunningService<RoleClient, Host>>>,
    is_over: CancellationToken,
}

/// What a conversation is begun with.
pub(super) struct Beginning<'a> {
    pub server: &'a str,
    pub era: Era,
    pub host: Host,
    /// How long the server may take to answer.
    pub patience: Duration,
    /// Set when the server is gone.
    pub is_over: CancellationToken,
}

impl Connection {
    /// Begins a conversation.
    pub(super) async fn open<T>(transport: T, beginning: Beginning<'_>) -> Result<Self, McpError>
    where
        T: Transport<RoleClient> + 'static,
    {
        let Beginning { server, era, host, patience, is_over } = beginning;
        let failed = |why: String| McpError::Connection { server: server.to_owned(), why };
        let serving = host.clone().serve_with_lifecycle(transport, era.lifecycle());
        let running = match tokio::time::timeout(patience, serving).await {
            Ok(Ok(running)) => running,
            Ok(Err(error)) if error.is_authorization_required() => return Err(McpError::NeedsLogin(server.to_owned())),
            Ok(Err(error)) => return Err(failed(why_not(&error))),
            Err(_) => {
                is_over.cancel();
                return Err(failed(format!("it did not answer within {} s", patience.as_secs())));
            }
        };
        let about = running.peer_info().map(|info| (*info).clone());
        let about = about.ok_or_else(|| failed("it said nothing of itself".to_owned()))?;
        if !ProtocolVersion::KNOWN_VERSIONS.contains(&about.protocol_version) {
            return Err(failed(unknown_version(&about.protocol_version.to_string())));
        }
        let peer = running.peer().clone();
        let (server, last_words, running) = (server.to_owned(), None, Mutex::new(Some(running)));
        Ok(Self { server, peer, host, about, last_words, running, is_over })
    }

    /// What the program of the server printed last, as far as it is shown.
    pub(super) async fn printed(&self) -> Option<String> {
        last_words::shown(&self.last_words.as_ref()?.said().await)
    }

    /// Whether nothing can be asked any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.is_cancelled()
    }

    /// Ready when the server is gone.
    pub(super) async fn over(&self) {
        self.is_over.cancelled().await;
    }

    /// Ends it; ready when the program of the server is gone.
    pub(super) async fn close(&self) {
        self.is_over.cancel();
        if let Some(mut running) = self.running.lock().await.take() {
            let _ = running.close().await;
        }
    }

    /// Everything that the server offers, if it says that in time.
    pub(super) async fn manifest(&self, patience: Duration) -> Result<Manifest, McpError> {
        let silent = McpError::Silent { server: self.server.clone(), after: patience };
        tokio::time::timeout(patience, self.lists(patience)).await.unwrap_or(Err(silent))
    }

    async fn lists(&self, patience: Duration) -> Result<Manifest, McpError> {
        let about = &self.about;
        let server = about.server_info.as_ref().map(|info| format!("{} {}", info.name, info.version));
        let protocol = about.protocol_version.to_string();
        let mut manifest = Manifest::of(protocol, server.unwrap_or_default(), about.instructions.clone());
        let can = &about.capabilities;
        let lists = [
            (List::Tools, can.tools.is_some()),
            (List::Prompts, can.prompts.is_some()),
            (List::Resources, can.resources.is_some()),
            (List::Templates, can.resources.is_some()),
        ];
        for (list, _) in lists.into_iter().filter(|(_, has)| *has) {
            match self.list(list, &mut manifest, patience).await {
                // Not every server that has resources knows patterns of them.
                Err(McpError::Refused { .. }) if list != List::Tools => {}
                result => result?,
            }
        }
        Ok(manifest)
    }

    async fn list(&self, list: List, manifest: &mut Manifest, patience: Duration) -> Result<(), McpError> {
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = match list {
                List::Tools => ClientRequest::ListToolsRequest(RequestOptionalParam::with_param(params)),
                List::Prompts => ClientRequest::ListPromptsRequest(RequestOptionalParam::with_param(params)),
                List::Resources => ClientRequest::ListResourcesRequest(RequestOptionalParam::with_param(params)),
                List::Templates => {
                    ClientRequest::ListResourceTemplatesRequest(RequestOptionalParam::with_param(params))
                }
            };
            let page = self.request(request, patience, None).await?;
            manifest.add(list, &page);
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Value,
        patience: Duration,
        caller: &Caller,
    ) -> Result<Value, McpError> {
        let arguments = if let Value::Object(arguments) = arguments { arguments } else { Map::new() };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.request(ClientRequest::CallToolRequest(CallToolRequest::new(params)), patience, Some(caller)).await
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str, patience: Duration, caller: &Caller) -> Result<Value, McpError> {
        let params = ReadResourceRequestParams::new(uri);
        self.request(ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params)), patience, Some(caller)).await
    }

    /// Fills in a prompt.
    pub(super) async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        patience: Duration,
        caller: &Caller,
    ) -> Result<Value, McpError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        self.request(ClientRequest::GetPromptRequest(GetPromptRequest::new(params)), patience, Some(caller)).await
    }

    /// Follows what the server offers, until that is not possible any more: a server of the newer kind tells changes only
    /// to those who listen.
    pub(super) async fn listen(&self) {
        if self.about.protocol_version.as_str() < ProtocolVersion::V_2026_07_28.as_str() {
            return std::future::pending().await;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().resources_list_changed();
        let Ok(mut subscription) = self.peer.listen(filter.build()).await else { return std::future::pending().await };
        // Something may have changed between the lists and this.
        self.host.note_change();
        while let Ok(Some(_)) = subscription.next().await {
            self.host.note_change();
        }
        std::future::pending().await
    }

    /// Asks for something; what the server wants to know first is asked of the person or the model.
    async fn request(
        &self,
        mut request: ClientRequest,
        patience: Duration,
        caller: Option<&Caller>,
    ) -> Result<Value, McpError> {
        let under_way = caller.map(|caller| self.host.begin(caller.clone()));
        for round in 0..MOST_ROUNDS {
            match self.ask(request.clone(), patience, under_way.as_ref()).await? {
                ServerResult::InputRequiredResult(wanted) => {
                    let inputs = wanted.input_requests.unwrap_or_default();
                    if inputs.is_empty() {
                        tokio::time::sleep(STILL_AT_WORK.saturating_mul(1 << round.min(4))).await;
                    }
                    let mut given = InputResponses::new();
                    for (key, input) in inputs {
                        given.insert(key, self.fulfil(input, under_way.as_ref()).await?);
                    }
                    give(&mut request, given, wanted.request_state);
                }
                result => return serde_json::to_value(result).map_err(|error| self.refused(error.to_string())),
            }
        }
        Err(self.refused(format!("it wanted something more {MOST_ROUNDS} times")))
    }

    /// Asks once. A server that gives no sign of life is given up, and one that is not wanted any more is told so.
    async fn ask(
        &self,
        request: ClientRequest,
        patience: Duration,
        under_way: Option<&CallGuard>,
    ) -> Result<ServerResult, McpError> {
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await.map_err(|error| self.why(error))?;
        let stopped = async {
            match under_way {
                Some(call) => call.caller.cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(stopped);
        if let Some(call) = under_way {
            call.follow(sent.progress_token.clone());
        }
        let mut sent = Sent(Some(sent));
        let news = async || match under_way {
            Some(call) => call.signs.news.notified().await,
            None => std::future::pending().await,
        };
        let error = loop {
            tokio::select! {
                biased;
                answer = sent.answer() => {
                    return answer.unwrap_or(Err(ServiceError::TransportClosed)).map_err(|error| self.why(error));
                }
                () = &mut stopped => break McpError::Stopped,
                () = news() => {}
                () = tokio::time::sleep(patience) => {
                    if !under_way.is_some_and(|call| call.signs.waits_for_us()) {
                        break McpError::Silent { server: self.server.clone(), after: patience };
                    }
                }
            }
        };
        sent.give_up(error.to_string()).await;
        Err(error)
    }

    /// What a server wants to know before it answers.
    async fn fulfil(&self, input: InputRequest, under_way: Option<&CallGuard>) -> Result<Value, McpError> {
        let given = match input {
            InputRequest::Elicitation(request) => {
                serde_json::to_value(self.host.elicit(request.params, under_way.map(CallGuard::asker)).await)
            }
            InputRequest::ListRoots(_) => serde_json::to_value(self.host.roots()),
            InputRequest::CreateMessage(request) => {
                let sampled = self.host.sample(request.params, under_way.map(CallGuard::asker)).await;
                let sampled = sampled.map_err(|why| match why {
                    NoSample::CallIsOver => McpError::Stopped,
                    why => self.refused(format!("it needs the model for that, and {why}")),
                });
                serde_json::to_value(sampled?)
            }
            _ => return Err(self.refused("it wants something that is not known here".to_owned())),
        };
        given.map_err(|error| self.refused(error.to_string()))
    }

    fn ended(&self) -> McpError {
        McpError::Ended { server: self.server.clone(), printed: None }
    }

    fn why(&self, error: ServiceError) -> McpError {
        match error {
            ServiceError::TransportClosed | ServiceError::TransportSend(_) | ServiceError::Cancelled { .. } => {
                self.ended()
            }
            ServiceError::McpError(error) => self.refused(cut(&error.message, LONGEST_REASON)),
            error => self.refused(cut(&error.to_string(), LONGEST_REASON)),
        }
    }

    fn refused(&self, why: String) -> McpError {
        McpError::Refused { server: self.server.clone(), why }
    }
}

/// A question that was sent. The server is told when nobody waits for its answer any more, also where whoever asked is
/// just gone.
struct Sent(Option<RequestHandle<RoleClient>>);

impl Sent {
    /// The answer, once; nothing when the conversation is over.
    async fn answer(&mut self) -> Option<Result<ServerResult, ServiceError>> {
        let answer = (&mut self.0.as_mut()?.rx).await.ok();
        self.0 = None;
        answer
    }

    async fn give_up(&mut self, why: String) {
        if let Some(sent) = self.0.take() {
            let _ = sent.cancel(Some(why)).await;
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let (Some(sent), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            drop(runtime.spawn(sent.cancel(Some("nobody waits for it any more".to_owned()))));
        }
    }
}

/// Puts what a server wanted to know into the request that is made again.
fn give(request: &mut ClientRequest, inputs: InputResponses, state: Option<String>) {
    let inputs = (!inputs.is_empty()).then_some(inputs);
    match request {
        ClientRequest::CallToolRequest(request) => {
            (request.params.input_responses, request.params.request_state) = (inputs, state);
        }
        ClientRequest::ReadResourceRequest(request) => {
            (request.params.input_responses, request.params.request_state) = (inputs, state);
        }
        ClientRequest::GetPromptRequest(request) => {
            (request.params.input_responses, request.params.request_state) = (inputs, state);
        }
        _ => {}
    }
}

/// Why a conversation could not be begun, in the words of the field.
fn why_not(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => why_not(fallback),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "its first answer is none that MCP knows; is it an MCP server?".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<String> = server_supported.iter().map(ToString::to_string).collect();
            unknown_version(&versions.join(", "))
        }
        ClientInitializeError::TransportError { error, .. }
            if error
                .error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) =>
        {
            "it ended before it answered".to_owned()
        }
        error => error.to_string(),
    }
}

fn unknown_version(versions: &str) -> String {
    format!("it speaks a version of the protocol that is not known here: {versions}")
}
