//! The server: which tools there are, what a call begins, and the end of everything.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::tools::{CALLER_MODEL, CallTool, ListTools, OfferedTool};
use neco_proto::app::{App, AppError, Caller, Scope, Trouble};
use neco_proto::{Actor, Answer, CallId, Client, Command, Query, Receipt, SessionId, SessionSnapshot};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::Asked;
use super::call_sessions::CallSessions;
use super::lines::ClientLines;
use super::talk::{Followed, Talk, answer_in, round};
use super::work::{Kind, Task, Work, failed};

/// The tool that has an agent do something.
const RUN_TASK: &str = "run_task";

const TASK: &str = "Has Neco's own agent do a whole task in this folder: it reads, edits, runs commands and checks its \
                    work, in a session of its own that `neco session list` shows. Say what is wanted, where, and how \
                    to tell that it is done; the agent knows nothing of this conversation. Gives its last words.";

/// Calls that may be under way, each in a session; more of them wait.
const MOST_CALLS: usize = 16;

/// Calls and tasks that may wait for a client to come back: one that comes back to none must not keep others from being
/// made.
const MOST_ROUNDS: usize = 8;

/// Tasks that may be under way.
const MOST_TASKS: usize = 8;

/// How long a client may take to come back with an answer.
const LONGEST_ROUND: Duration = Duration::from_secs(600);

/// How long a session may take to stop what it does.
const SOON: Duration = Duration::from_secs(5);

/// What is served.
pub struct McpSetup {
    /// The program.
    pub app: Arc<dyn App>,
    /// How sessions are opened: the folder, the rules, the model of tasks.
    pub wanted: OpenSession,
    /// Only the tools of these names, in which `*` stands for anything; all where none is named.
    pub only: Vec<String>,
    /// Whether whole tasks can be run.
    pub tasks: bool,
    /// The version of the program.
    pub version: &'static str,
    /// As whom sessions are opened: whoever said what is allowed in them.
    pub opens_as: Caller,
    /// As whom calls are made in them, and tasks given.
    pub caller: Caller,
}

impl McpSetup {
    /// A program that speaks for the person at this machine, who started it.
    #[must_use]
    pub fn callers() -> (Caller, Caller) {
        let program = Actor::Program { name: "MCP client".to_owned() };
        (Caller::person(), Caller { actor: program, scope: Scope::Work, tenant: None })
    }
}

/// How commands of clients reach their sessions.
pub(crate) trait Says: Send + Sync {
    /// Hands a command to a session that was opened for clients.
    fn say<'a>(
        &'a self,
        session: SessionId,
        client: &'a dyn Client,
        command: Command,
    ) -> BoxFuture<'a, Result<Receipt, AppError>>;
}

/// Commands go to sessions as they are: whoever started the server is at this machine.
struct Straight(Actor);

impl Says for Straight {
    fn say<'a>(
        &'a self,
        _: SessionId,
        client: &'a dyn Client,
        command: Command,
    ) -> BoxFuture<'a, Result<Receipt, AppError>> {
        async move { client.send_as(self.0.clone(), command).await.map_err(AppError::from) }.boxed()
    }
}

/// Serves an MCP client until its input ends or `stop` is set; then everything it began is stopped, and the sessions
/// are closed.
///
/// # Errors
/// When there are no such tools to offer, or the settings of the folder can't be used.
pub async fn serve(
    setup: McpSetup,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> Result<(), AppError> {
    let gone = stop.child_token();
    let says = Arc::new(Straight(setup.caller.actor.clone()));
    let served = Served::open(setup, says, gone.clone()).await?;
    let lines = ClientLines::new(input, output, gone);
    let running = rmcp::service::serve_directly_with_ct(McpServer(Arc::clone(&served)), lines, None, stop);
    if let Err(error) = running.waiting().await {
        tracing::error!(%error, "the server ended");
    }
    served.end().await;
    Ok(())
}

/// What clients are served with.
pub(super) struct Served {
    setup: McpSetup,
    says: Arc<dyn Says>,
    tools: Vec<OfferedTool>,
    /// The sessions that single calls are made in.
    calls: CallSessions,
    call_permits: Arc<Semaphore>,
    task_permits: Arc<Semaphore>,
    /// What waits for a client to come back, the oldest first.
    rounds: Mutex<Vec<Round>>,
    /// The requests that are answered, the ends of rounds, and the sessions that are just being closed.
    underway: TaskTracker,
    /// Set when the client is gone.
    gone: CancellationToken,
}

/// A work that waits for a client to come back.
struct Round {
    /// The word that the client comes back with.
    state: String,
    work: Work,
    asked: Asked,
    tool: String,
}

impl Served {
    /// Looks which tools there are; `gone` is set when the clients are gone.
    pub async fn open(setup: McpSetup, says: Arc<dyn Says>, gone: CancellationToken) -> Result<Arc<Self>, AppError> {
        let list = ListTools { folder: setup.wanted.folder.clone(), only: setup.only.clone(), all: false };
        let tools = setup.app.ask(&setup.caller, &list).await?.tools;
        Ok(Arc::new(Self {
            setup,
            says,
            tools,
            calls: CallSessions::default(),
            call_permits: Arc::new(Semaphore::new(MOST_CALLS)),
            task_permits: Arc::new(Semaphore::new(MOST_TASKS)),
            rounds: Mutex::default(),
            underway: TaskTracker::new(),
            gone,
        }))
    }

    /// Whether a request is answered, or a client waited for.
    pub fn is_at_work(&self) -> bool {
        !self.underway.is_empty()
    }

    /// Begins what a request asks for, unless `stopped` is ready before its turn comes. Nobody drops this: what has begun
    /// is given back, so that it can be let go.
    async fn begin(
        &self,
        request: &CallToolRequestParams,
        asks: bool,
        stopped: impl Future<Output = ()>,
    ) -> Result<Work, AppError> {
        let arguments = request.arguments.clone().unwrap_or_default();
        match request.name == RUN_TASK {
            true => self.begin_task(&arguments, asks, stopped).await,
            false => self.begin_call(&request.name, arguments, asks, stopped).await,
        }
    }

    async fn begin_call(
        &self,
        tool: &str,
        arguments: JsonObject,
        asks: bool,
        stopped: impl Future<Output = ()>,
    ) -> Result<Work, AppError> {
        let permit = permit(&self.call_permits, stopped).await?;
        let session = self.calls.take(asks, |beside| self.open_session(self.wanted_for_calls(asks, beside))).await?;
        self.calls.used_up().await.into_iter().for_each(|session| self.close(session));
        let client = Arc::clone(&session.client);
        let since = match standing(client.as_ref()).await {
            Ok(standing) => standing.last_seq,
            Err(error) => {
                self.calls.forget(session.id).await.into_iter().for_each(|session| self.close(session));
                return Err(error);
            }
        };
        let (id, tool, arguments) = (CallId::generate(), tool.to_owned(), Value::Object(arguments));
        let call = CallTool { session: session.id.to_string(), call_id: id.clone(), tool, arguments };
        let (app, caller) = (Arc::clone(&self.setup.app), self.setup.caller.clone());
        let done = async move { app.ask(&caller, &call).await }.boxed();
        let (events, says) = (client.events(since), Arc::clone(&self.says));
        Ok(Work::new(client, says, events, Kind::Call { id, done, session }, permit))
    }

    /// A session in which the client makes calls in a model's place.
    fn wanted_for_calls(&self, asks: bool, beside: Option<String>) -> OpenSession {
        let tools = self.tools.iter().map(|tool| tool.name.clone()).collect();
        OpenSession { tools, model: Some(CALLER_MODEL.to_owned()), beside, ..self.wanted(asks) }
    }

    async fn begin_task(
        &self,
        arguments: &JsonObject,
        asks: bool,
        stopped: impl Future<Output = ()>,
    ) -> Result<Work, AppError> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        let invalid = |words: &str| Err(AppError::new(Trouble::Invalid, words));
        // A line that begins with this sign would be a note of the person for their memory, and no task.
        let task = text("task").trim_start_matches('#').trim_start();
        if task.is_empty() {
            return invalid("task: what is to be done, as text");
        }
        if arguments.get("model").is_some_and(|model| !model.is_string()) {
            return invalid("model: provider/model, or the name of a group");
        }
        let permit = permit(&self.task_permits, stopped).await?;
        let model = Some(text("model").to_owned()).filter(|model| !model.is_empty());
        let wanted = self.wanted(asks);
        let model = model.or_else(|| wanted.model.clone());
        self.start_task(OpenSession { model, ..wanted }, task.to_owned(), permit).await
    }

    /// Says what is to be done in a session of its own.
    async fn start_task(
        &self,
        wanted: OpenSession,
        task: String,
        permit: OwnedSemaphorePermit,
    ) -> Result<Work, AppError> {
        let OpenedSession { id, client, since, .. } = self.open_session(wanted).await?;
        let begun = async {
            let root = standing(client.as_ref()).await?.root_agent;
            let said = Command::UserMessage { content: task, attachments: Vec::new() };
            self.says.say(id, client.as_ref(), said).await?;
            Ok(root)
        };
        match begun.await {
            Ok(root) => {
                let (events, says) = (client.events(since), Arc::clone(&self.says));
                Ok(Work::new(client, says, events, Kind::Task(Box::new(Task::new(id, root))), permit))
            }
            Err(error) => {
                self.close((id, client));
                Err(error)
            }
        }
    }

    /// A session as the person who started the server wants it.
    fn wanted(&self, attended: bool) -> OpenSession {
        OpenSession { which: WhichSession::New, attended, interactive: false, ..self.setup.wanted.clone() }
    }

    async fn open_session(&self, wanted: OpenSession) -> Result<OpenedSession, AppError> {
        self.setup.app.open(&self.setup.opens_as, wanted).await
    }

    /// Lets a work go. A task has a session, which is closed after it.
    fn leave(&self, work: Work) {
        if let Some(session) = work.into_own_session() {
            self.close(session);
        }
    }

    /// Closes a session aside, with everything that it does.
    fn close(&self, session: (SessionId, Arc<dyn Client>)) {
        let (app, says) = (Arc::clone(&self.setup.app), Arc::clone(&self.says));
        self.underway.spawn(async move { close(app.as_ref(), says.as_ref(), session).await });
    }

    /// Keeps a work until the client comes back, for a while. The oldest one goes where there are too many.
    fn wait(self: &Arc<Self>, work: Work, asked: Asked, tool: String) -> String {
        let state = CallId::generate().to_string();
        let over = {
            let mut rounds = self.rounds();
            rounds.push(Round { state: state.clone(), work, asked, tool });
            (rounds.len() > MOST_ROUNDS).then(|| rounds.remove(0))
        };
        self.drop_round(over);
        let (served, waits) = (Arc::clone(self), state.clone());
        self.underway.spawn(async move {
            let _ = tokio::time::timeout(LONGEST_ROUND, served.gone.cancelled()).await;
            let over = served.take_round(&waits);
            served.drop_round(over);
        });
        state
    }

    /// Lets go what nobody comes back to.
    fn drop_round(&self, round: Option<Round>) {
        if let Some(Round { work, .. }) = round {
            self.leave(work);
        }
    }

    fn take_round(&self, state: &str) -> Option<Round> {
        let mut rounds = self.rounds();
        let at = rounds.iter().position(|round| round.state == state)?;
        Some(rounds.remove(at))
    }

    fn rounds(&self) -> MutexGuard<'_, Vec<Round>> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The work that a client comes back to, after it was told the answer.
    async fn come_back(&self, request: &CallToolRequestParams, state: &str) -> Result<Work, ErrorData> {
        let found = self.take_round(state);
        let gone = || ErrorData::invalid_params("no call waits with this requestState: make the call again", None);
        let Round { mut work, asked, tool, .. } = found.ok_or_else(gone)?;
        if tool != request.name {
            self.leave(work);
            return Err(ErrorData::invalid_params(format!("this requestState is one of {tool}"), None));
        }
        work.decide(&asked, &answer_in(request.input_responses.as_ref())).await;
        Ok(work)
    }

    /// The clients are gone: everything that was begun is over, and every session closed, when this is ready.
    pub async fn end(&self) {
        self.gone.cancel();
        self.underway.close();
        self.underway.wait().await;
        let (app, says) = (self.setup.app.as_ref(), self.says.as_ref());
        join_all(self.calls.all().await.into_iter().map(|session| close(app, says, session))).await;
    }
}

async fn close(app: &dyn App, says: &dyn Says, (id, client): (SessionId, Arc<dyn Client>)) {
    // One that does not answer is ended all the same.
    let _ = tokio::time::timeout(SOON, says.say(id, client.as_ref(), Command::StopAll)).await;
    if let Err(error) = app.close(client).await {
        tracing::warn!(%error, "a session was not closed");
    }
}

async fn permit(permits: &Arc<Semaphore>, stopped: impl Future<Output = ()>) -> Result<OwnedSemaphorePermit, AppError> {
    let failed = |words: String| AppError::new(Trouble::Failed, words);
    tokio::select! {
        biased;
        () = stopped => Err(failed("cancelled".to_owned())),
        permit = Arc::clone(permits).acquire_owned() => permit.map_err(|error| failed(error.to_string())),
    }
}

async fn standing(client: &dyn Client) -> Result<SessionSnapshot, AppError> {
    match client.ask(Query::Snapshot).await? {
        Answer::Snapshot(snapshot) => Ok(snapshot),
        _ => Err(AppError::new(Trouble::Failed, "the session does not answer")),
    }
}

pub(super) struct McpServer(pub Arc<Served>);

impl McpServer {
    fn knows(&self, tool: &str) -> bool {
        let served = &self.0;
        served.setup.tasks && tool == RUN_TASK || served.tools.iter().any(|offered| offered.name == tool)
    }

    /// What a request begins, or comes back to.
    async fn begun(
        &self,
        request: &CallToolRequestParams,
        talk: &Talk,
        stopped: impl Future<Output = ()>,
    ) -> Result<Result<Work, AppError>, ErrorData> {
        match &request.request_state {
            Some(state) => self.0.come_back(request, state).await.map(Ok),
            None => Ok(self.0.begin(request, talk.asks, stopped).await),
        }
    }

    /// Answers a call; nothing when nobody waits for the answer any more.
    async fn answer(
        &self,
        request: CallToolRequestParams,
        talk: &Talk,
        stopped: impl Future<Output = ()>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let served = &self.0;
        tokio::pin!(stopped);
        let mut work = match self.begun(&request, talk, &mut stopped).await {
            Ok(Ok(work)) => work,
            Ok(Err(error)) => return Some(Ok(failed(error.words()).into())),
            Err(error) => return Some(Err(error)),
        };
        let followed = tokio::select! {
            biased;
            () = &mut stopped => None,
            followed = talk.follow(&mut work) => Some(followed),
        };
        match followed {
            Some(Followed::Asks(asked)) => {
                let form = asked.clone();
                let state = served.wait(work, asked, request.name.into_owned());
                Some(Ok(round(&form, state).into()))
            }
            Some(Followed::Ended(result)) => {
                served.leave(work);
                Some(Ok(result.into()))
            }
            None => {
                served.leave(work);
                None
            }
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let folder = &self.0.setup.wanted.folder;
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("neco", self.0.setup.version))
            .with_instructions(format!(
                "These tools work in {folder}, under the rules and in the sandbox of the person who started Neco \
                 there. Calls run side by side. What the rules ask about is asked of the person by way of this client."
            ))
    }

    /// What was agreed on holds for the requests that follow.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let task = self.0.setup.tasks.then(task_tool);
        Ok(ListToolsResult::with_all_items(self.0.tools.iter().map(tool).chain(task).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.knows(&request.name) {
            return Err(ErrorData::invalid_params(format!("there is no tool {}", request.name), None));
        }
        let stopped = async {
            tokio::select! {
                () = context.ct.cancelled() => {}
                () = self.0.gone.cancelled() => {}
            }
        };
        let talk = Talk::of(&context);
        let answer = self.0.underway.track_future(self.answer(request, &talk, stopped)).await;
        answer.unwrap_or_else(|| Err(ErrorData::internal_error("cancelled", None)))
    }

    /// What is no request of the protocol, or one that is not written as it should be.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_known = ["initialize", "server/discover", "tools/list", "tools/call"].contains(&request.method.as_str());
        match is_known {
            true => Err(ErrorData::invalid_params(format!("the parameters of {} do not fit", request.method), None)),
            false => Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }
}

fn tool(offered: &OfferedTool) -> Tool {
    let schema = offered.schema.as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::new().read_only(offered.reads_only).open_world(offered.network);
    Tool::new(offered.name.clone(), offered.description.clone(), schema).with_annotations(annotations)
}

fn task_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "task": { "type": "string", "description": "What is to be done" },
            "model": { "type": "string", "description": "provider/model or a group; by itself the one that is set" },
        },
        "required": ["task"],
        "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(RUN_TASK, TASK, schema).with_annotations(ToolAnnotations::new().read_only(false).open_world(true))
}
