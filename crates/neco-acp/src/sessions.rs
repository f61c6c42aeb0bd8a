//! The sessions that an editor has open, several at once and in different folders, and the list of all there are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client as Editor, Error};
use futures::StreamExt;
use futures::future::join_all;
use neco_proto::app::models::ListModels;
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::sessions::{ListSessions, RemoveSessions, SessionRow};
use neco_proto::app::{App, AppError, Caller, Scope};
use neco_proto::clean::clean_line;
use neco_proto::{Actor, Answer, Client, Command, Event, Query, Seq, SessionSnapshot};
use tokio_util::task::TaskTracker;

use crate::connection::AcpSetup;
use crate::options::{self, Settings};
use crate::permission::Asked;
use crate::terminal::Terminals;
use crate::transcript::{Transcript, aside};
use crate::window::{Base, Order, Prompted, Window};
use crate::world::OpenFiles;
use crate::{commands, failure, login, prompt, servers};

/// Sessions of a page.
const PAGE: usize = 50;

/// How long a session may take to stop what it does.
const SOON: Duration = Duration::from_secs(5);

/// What an editor said of itself.
#[derive(Clone, Debug, Default)]
struct Told {
    name: String,
    capabilities: acp::ClientCapabilities,
}

/// The sessions of an editor.
pub(crate) struct Sessions {
    setup: AcpSetup,
    told: Mutex<Told>,
    windows: Mutex<HashMap<Arc<str>, Arc<Window>>>,
    /// The requests that are answered.
    pub underway: TaskTracker,
}

/// How a session is set, and what is told once the editor knows that it is open.
pub(crate) struct Opened {
    pub modes: acp::SessionModeState,
    pub options: Vec<acp::SessionConfigOption>,
    window: Arc<Window>,
    notes: Vec<String>,
}

/// What an editor asks for when it opens a session.
pub(crate) struct Asks {
    /// The folder.
    pub cwd: PathBuf,
    /// Folders that are open besides.
    pub also: Vec<PathBuf>,
    /// MCP servers of the editor.
    pub servers: Vec<acp::McpServer>,
}

/// What of a session is shown when it is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// What happens from now on.
    Known,
    /// Everything that was said and done, too.
    Shown,
}

impl Sessions {
    pub fn new(setup: AcpSetup) -> Self {
        Self { setup, told: Mutex::default(), windows: Mutex::default(), underway: TaskTracker::new() }
    }

    /// What this agent is and does.
    pub fn initialize(&self, request: acp::InitializeRequest) -> acp::InitializeResponse {
        let name = request.client_info.map(|info| info.title.unwrap_or(info.name));
        let terminal = request.client_capabilities.auth.terminal;
        let name = name.map(|name| clean_line(&name)).filter(|name| !name.trim().is_empty());
        *locked(&self.told) =
            Told { name: name.unwrap_or_else(|| "an editor".to_owned()), capabilities: request.client_capabilities };
        let sessions = acp::SessionCapabilities::new()
            .list(acp::SessionListCapabilities::new())
            .delete(acp::SessionDeleteCapabilities::new())
            .additional_directories(acp::SessionAdditionalDirectoriesCapabilities::new())
            .resume(acp::SessionResumeCapabilities::new())
            .close(acp::SessionCloseCapabilities::new());
        let capabilities = acp::AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(acp::PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(acp::McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let this = acp::Implementation::new("neco", self.setup.version).title("Neco".to_owned());
        acp::InitializeResponse::new(ProtocolVersion::V1)
            .agent_info(this)
            .agent_capabilities(capabilities)
            .auth_methods(login::methods(terminal))
    }

    /// Keeps a key that the editor brings.
    pub async fn authenticate(&self, request: acp::AuthenticateRequest) -> Result<acp::AuthenticateResponse, Error> {
        login::log_in(self.app(), &self.caller(), &self.setup.wanted.folder, request).await
    }

    /// Opens a session, or makes one.
    pub async fn open(
        &self,
        which: WhichSession,
        asked: Asks,
        past: Past,
        editor: ConnectionTo<Editor>,
    ) -> Result<(acp::SessionId, Opened), Error> {
        let Asks { cwd, also, servers } = asked;
        if !cwd.is_absolute() {
            return Err(failure::invalid("cwd: the whole path of the folder, from / on"));
        }
        let folders = std::iter::once(&cwd).chain(&also).map(PathBuf::as_path);
        let files = OpenFiles::of(&editor, &locked(&self.told).capabilities, folders);
        let wanted = OpenSession {
            servers: servers::given(servers)?,
            editor: files.as_ref().map(OpenFiles::handed_over),
            ..self.wanted(which, &cwd, &also)
        };
        let opened = self.setup.app.open(&self.caller(), wanted).await.map_err(failure::of_app)?;
        if let Some(files) = &files {
            let _ = files.session.set(acp::SessionId::new(opened.id.to_string()));
        }
        let client = Arc::clone(&opened.client);
        let shown = self.show(opened, past, editor, files).await;
        if shown.is_err() {
            let _ = self.setup.app.close(client).await;
        }
        shown
    }

    /// How a session is opened for an editor.
    fn wanted(&self, which: WhichSession, cwd: &Path, also: &[PathBuf]) -> OpenSession {
        let mut wanted = OpenSession {
            which,
            folder: cwd.display().to_string(),
            chose_folder: true,
            attended: true,
            interactive: true,
            ..self.setup.wanted.clone()
        };
        wanted.given.add_dir.extend(also.iter().map(|folder| folder.display().to_string()));
        wanted
    }

    async fn show(
        &self,
        opened: OpenedSession,
        past: Past,
        editor: ConnectionTo<Editor>,
        files: Option<OpenFiles>,
    ) -> Result<(acp::SessionId, Opened), Error> {
        let OpenedSession { id, client, folder, owner, since, notes } = opened;
        let session = standing(client.as_ref()).await?;
        let nodes = match client.ask(Query::Tree).await {
            Ok(Answer::Tree { nodes }) => nodes,
            _ => Vec::new(),
        };
        let list = ListModels { folder: folder.clone(), ..ListModels::default() };
        let models = self.app().ask(&self.caller(), &list).await.map(options::names).unwrap_or_default();
        let shared = owner.is_some_and(|owner| owner != std::process::id());
        let id = acp::SessionId::new(id.to_string());
        // What another process runs is not this editor's to end.
        let shows = files.filter(|_| locked(&self.told).capabilities.terminal && !shared);
        let terminals = shows.map(|files| Terminals::new(editor.clone(), id.clone(), &folder, files.kills));
        let base = Base {
            id,
            client,
            app: Arc::clone(&self.setup.app),
            folder,
            editor,
            caller: self.caller(),
            shared,
            terminals: terminals.clone(),
            forms: locked(&self.told).capabilities.elicitation.as_ref().is_some_and(|offered| offered.supports_form()),
            models: models.into(),
        };
        let settings = Settings::from(&session);
        let mut transcript = Transcript::new(&session, nodes, terminals);
        let since = match (past, owner) {
            (Past::Shown, _) => {
                let past = past_of(base.client.as_ref(), session.last_seq).await?;
                transcript.replay(&past, &session).into_iter().for_each(|update| base.tell(update));
                session.last_seq
            }
            // What came of opening it is told, too.
            (Past::Known, None) => since.min(session.last_seq),
            (Past::Known, Some(_)) => session.last_seq,
        };
        let is_asked = since == session.last_seq;
        let calls = session.pending.iter().cloned().map(|request| Asked::Call(Box::new(request)));
        let questions = session.questions.iter().cloned().map(Asked::Question);
        let asks = calls.chain(questions).filter(|_| is_asked).collect();
        let (modes, options) = (settings.modes(), settings.options(&base.models));
        let name = base.id.clone();
        let window = Arc::new(Window::new(base, transcript, since, asks));
        let before = locked(&self.windows).insert(Arc::clone(&name.0), Arc::clone(&window));
        if let Some(before) = before {
            before.leave();
            self.hand_back(Arc::clone(&before.base.client)).await;
        }
        Ok((name, Opened { modes, options, window, notes }))
    }

    /// What an editor is told of a session once it knows that it is open.
    pub async fn introduce(&self, opened: Opened) {
        let Opened { window, notes, .. } = opened;
        notes.iter().for_each(|note| window.base.tell(aside(note)));
        let commands = commands::offered(self.app(), &self.caller(), &window.base.folder).await;
        let update = acp::AvailableCommandsUpdate::new(commands);
        window.base.tell(acp::SessionUpdate::AvailableCommandsUpdate(update));
    }

    /// The sessions there are, a page of them.
    pub async fn list(&self, request: acp::ListSessionsRequest) -> Result<acp::ListSessionsResponse, Error> {
        let folder = request.cwd.map(|cwd| cwd.display().to_string());
        let list = ListSessions { folder, limit: PAGE, cursor: request.cursor, ..ListSessions::default() };
        let page = self.app().ask(&self.caller(), &list).await.map_err(failure::of_app)?;
        // Where a folder has none, the program tells those of the one above; an editor asked for this one.
        let rows = if page.above.is_some() { Vec::new() } else { page.sessions };
        let next = page.next.filter(|_| !rows.is_empty());
        Ok(acp::ListSessionsResponse::new(rows.into_iter().map(listed).collect()).next_cursor(next))
    }

    /// Removes a session for good.
    pub async fn delete(&self, id: &acp::SessionId) -> Result<(), Error> {
        self.close(id).await;
        let remove = RemoveSessions { sessions: vec![id.0.to_string()], ..RemoveSessions::default() };
        match self.app().ask(&self.caller(), &remove).await {
            Ok(_) => Ok(()),
            // Nothing was said in it, so that nothing stayed.
            Err(error) if error.trouble == neco_proto::app::Trouble::NotFound => Ok(()),
            Err(error) => Err(failure::of_app(error)),
        }
    }

    /// Stops what a session does and hands it back; one that is not open needs nothing.
    pub async fn close(&self, id: &acp::SessionId) {
        let Some(window) = locked(&self.windows).remove(&id.0) else { return };
        window.order(Order::Cancel);
        self.stop(&window).await;
        window.settle().await;
        window.leave();
        self.hand_back(Arc::clone(&window.base.client)).await;
    }

    /// The same for an editor, which is answered when nothing runs any more: what is done at the end of a session may
    /// take a while.
    pub async fn close_soon(self: Arc<Self>, id: acp::SessionId) {
        let sessions = Arc::clone(&self);
        let closes = self.underway.spawn(async move { sessions.close(&id).await });
        let _ = tokio::time::timeout(SOON / 5, closes).await;
    }

    /// A prompt, which is answered when the work is over. What follows it, such as a cancel, is behind it.
    pub fn prompt(&self, request: acp::PromptRequest, prompted: Prompted) -> Result<(), Error> {
        let read = self.window(&request.session_id).and_then(|window| {
            let folder = Path::new(&window.base.folder);
            let open = prompt::open(request.meta.as_ref(), folder);
            let said = prompt::read(request.prompt, folder)?;
            Ok((Arc::clone(&window), prompt::Said { open, ..said }))
        });
        match read {
            Ok((window, said)) => {
                window.order(Order::Prompt(Box::new((said, prompted))));
                Ok(())
            }
            Err(error) => prompted.respond_with_error(error),
        }
    }

    /// Stops what a session does; one that is not open does nothing.
    pub fn cancel(&self, id: &acp::SessionId) {
        if let Ok(window) = self.window(id) {
            window.order(Order::Cancel);
        }
    }

    /// Sets the mode.
    pub async fn set_mode(&self, id: &acp::SessionId, mode: &acp::SessionModeId) -> Result<(), Error> {
        self.set(id, options::mode(&mode.0)?).await.map(drop)
    }

    /// Sets an option; all of them as they are now.
    pub async fn set_option(
        &self,
        request: acp::SetSessionConfigOptionRequest,
    ) -> Result<Vec<acp::SessionConfigOption>, Error> {
        let value = request.value.as_value_id();
        let value = value.ok_or_else(|| failure::invalid("value: one of the choices of the option"))?;
        let window = self.set(&request.session_id, options::command(&request.config_id.0, &value.0)?).await?;
        let session = standing(window.base.client.as_ref()).await?;
        Ok(Settings::from(&session).options(&window.base.models))
    }

    async fn set(&self, id: &acp::SessionId, command: Command) -> Result<Arc<Window>, Error> {
        let window = self.window(id)?;
        window.base.client.send_as(self.actor(), command).await.map_err(failure::of_client)?;
        Ok(window)
    }

    /// Stops everything and hands back every session.
    pub async fn end(&self) {
        let windows: Vec<Arc<Window>> = locked(&self.windows).drain().map(|(_, window)| window).collect();
        join_all(windows.iter().map(|window| async move {
            self.stop(window).await;
            window.leave();
            // Nobody waits for what is remembered of it.
            let _ = tokio::time::timeout(SOON, self.hand_back(Arc::clone(&window.base.client))).await;
        }))
        .await;
        self.underway.close();
        let _ = tokio::time::timeout(SOON, self.underway.wait()).await;
    }

    /// Stops what is done in a session of this process, in a moment.
    async fn stop(&self, window: &Window) {
        if window.base.shared {
            return;
        }
        let stopped = window.base.client.send_as(self.actor(), Command::StopAll);
        let _ = tokio::time::timeout(SOON, stopped).await;
    }

    async fn hand_back(&self, client: Arc<dyn Client>) {
        if let Err(error) = self.setup.app.close(client).await {
            tracing::warn!(%error, "a session could not be closed");
        }
    }

    fn window(&self, id: &acp::SessionId) -> Result<Arc<Window>, Error> {
        locked(&self.windows).get(&id.0).cloned().ok_or_else(|| failure::no_session(&id.0))
    }

    fn app(&self) -> &dyn App {
        self.setup.app.as_ref()
    }

    /// The person, who speaks by way of their editor.
    fn actor(&self) -> Actor {
        Actor::Device { name: locked(&self.told).name.clone() }
    }

    fn caller(&self) -> Caller {
        Caller { actor: self.actor(), scope: Scope::Manage, tenant: None }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn standing(client: &dyn Client) -> Result<SessionSnapshot, Error> {
    match client.ask(Query::Snapshot).await.map_err(failure::of_client)? {
        Answer::Snapshot(session) => Ok(session),
        _ => Err(failure::of_app(AppError::unsupported("does not tell how a session stands"))),
    }
}

/// The events of a session until one of them.
async fn past_of(client: &dyn Client, last: Seq) -> Result<Vec<Event>, Error> {
    let mut past = Vec::new();
    let mut events = client.events(0);
    while past.last().is_none_or(|event: &Event| event.seq < last) && last > 0 {
        match events.next().await {
            Some(event) => past.push(event.map_err(failure::of_client)?),
            None => break,
        }
    }
    Ok(past)
}

fn listed(row: SessionRow) -> acp::SessionInfo {
    let title = Some(clean_line(&row.title)).filter(|title| !title.is_empty());
    acp::SessionInfo::new(row.id.to_string(), row.cwd).title(title).updated_at(row.updated.to_string())
}
