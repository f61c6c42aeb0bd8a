//! The sessions that an editor has open, several at once and in different folders, and the list of all there are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client as Editor, Error};
use futures::future::join_all;
use neco_proto::app::models::ListModels;
use neco_proto::app::opening::{GivenServer, OpenSession, OpenedSession, WhichSession};
use neco_proto::app::sessions::{ForkSession, ListSessions, RemoveSessions, SessionRow};
use neco_proto::app::{App, AppError, Caller, Scope};
use neco_proto::clean::clean_line;
use neco_proto::{Actor, Answer, Client, Command, Query, SessionSnapshot};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::AcpSetup;
use crate::options::{self, Settings};
use crate::permission::Asked;
use crate::prompt::Sent;
use crate::prompts::Prompted;
use crate::terminal::Terminals;
use crate::transcript::Transcript;
use crate::transport::Room;
use crate::updates::aside;
use crate::window::{Base, Loan, Order, Past, SetReply, Start, Window};
use crate::world::OpenFiles;
use crate::{failure, login, servers};

/// Sessions of a page.
const PAGE: usize = 50;

/// How long it may take that nothing is done any more.
const SOON: Duration = Duration::from_secs(1);

/// What an editor said of itself.
#[derive(Clone, Debug, Default)]
struct Told {
    name: String,
    capabilities: acp::ClientCapabilities,
}

/// The sessions of an editor.
pub(crate) struct Sessions {
    setup: AcpSetup,
    /// The room for what the editor is told.
    room: Room,
    told: Mutex<Told>,
    /// What the person should know of the key that the editor brought last.
    of_login: Mutex<Option<String>>,
    /// The provider whose key the editor brought.
    logged_in: Mutex<Option<String>>,
    windows: Mutex<HashMap<Arc<str>, Arc<Window>>>,
    /// The requests that are answered.
    underway: TaskTracker,
    /// That the editor is gone.
    gone: CancellationToken,
}

/// Which session an editor wants.
pub(crate) enum Which {
    /// A new one.
    New,
    /// The one of this id.
    Known(String),
    /// A new one that goes on from where that one is.
    Fork(String),
}

/// What an editor asks for when it opens a session.
pub(crate) struct Opening {
    pub which: Which,
    /// The folder.
    pub cwd: PathBuf,
    /// Folders that are open besides.
    pub also: Vec<PathBuf>,
    /// MCP servers of the editor.
    pub servers: Vec<acp::McpServer>,
    /// What of it is shown.
    pub past: Past,
}

/// A session that was opened, and waits until the editor knows that.
pub(crate) struct Opened {
    window: Arc<Window>,
    /// Whether the editor had it open before.
    was_open: bool,
    shown: oneshot::Receiver<Result<Settings, Error>>,
    begin: oneshot::Sender<()>,
    notes: Vec<String>,
}

impl Opened {
    fn of(window: Arc<Window>, past: Past, was_open: bool, notes: Vec<String>) -> Self {
        let (shows, shown) = oneshot::channel();
        let (begin, begins) = oneshot::channel();
        window.order(Order::Show { past, shown: shows, begins });
        Self { window, was_open, shown, begin, notes }
    }

    pub fn id(&self) -> acp::SessionId {
        self.window.base.id.clone()
    }

    /// How it is set, once everything is told that is told before the editor knows that it is open.
    pub async fn shown(&mut self) -> Result<(acp::SessionModeState, Vec<acp::SessionConfigOption>), Error> {
        let gone = || failure::of_client(neco_proto::ClientError::Gone);
        let settings = (&mut self.shown).await.map_err(|_| gone())??;
        Ok((settings.modes(), settings.options(&self.window.base.models)))
    }
}

impl Sessions {
    pub fn new(setup: AcpSetup, room: Room) -> Self {
        Self {
            setup,
            room,
            told: Mutex::default(),
            of_login: Mutex::default(),
            logged_in: Mutex::default(),
            windows: Mutex::default(),
            underway: TaskTracker::new(),
            gone: CancellationToken::new(),
        }
    }

    /// Begins something that ends with the connection at the latest.
    pub fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let gone = self.gone.clone();
        self.underway.spawn(async move { gone.run_until_cancelled(work).await });
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
            .close(acp::SessionCloseCapabilities::new())
            .fork(acp::SessionForkCapabilities::new());
        let capabilities = acp::AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(acp::PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(acp::McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let auth = acp::AgentAuthCapabilities::new().logout(acp::LogoutCapabilities::new());
        let this = acp::Implementation::new("neco", self.setup.version).title("Neco".to_owned());
        acp::InitializeResponse::new(ProtocolVersion::V1)
            .agent_info(this)
            .agent_capabilities(capabilities.auth(auth))
            .auth_methods(login::methods(terminal))
    }

    /// Keeps a key that the editor brings. What is to be known of it the next session tells, too: editors do not show the
    /// answer.
    pub async fn authenticate(&self, request: acp::AuthenticateRequest) -> Result<acp::AuthenticateResponse, Error> {
        let provider = login::provider(request.meta.as_ref());
        let answer = login::log_in(self.app(), &self.caller(), &self.setup.wanted.folder, request).await?;
        let note = answer.meta.as_ref().and_then(|meta| meta.get("note")?.as_str());
        *locked(&self.of_login) = note.map(str::to_owned);
        if provider.is_some() {
            *locked(&self.logged_in) = provider;
        }
        Ok(answer)
    }

    /// Forgets a key: of the provider that is named, or the one that the editor brought.
    pub async fn log_out(&self, request: acp::LogoutRequest) -> Result<acp::LogoutResponse, Error> {
        let provider = login::provider(request.meta.as_ref()).or_else(|| locked(&self.logged_in).clone());
        let answer = login::log_out(self.app(), &self.caller(), &self.setup.wanted.folder, provider).await?;
        (*locked(&self.logged_in), *locked(&self.of_login)) = (None, None);
        Ok(answer)
    }

    /// Opens a session, or makes one. What is dropped before it is open leaves nothing open.
    pub async fn open(&self, asked: Opening, editor: ConnectionTo<Editor>) -> Result<Opened, Error> {
        let Opening { which, cwd, also, servers, past } = asked;
        if !cwd.is_absolute() {
            return Err(failure::invalid("cwd: the whole path of the folder, from / on"));
        }
        let servers = servers::given(servers)?;
        let which = match which {
            Which::New => WhichSession::New,
            Which::Known(id) => {
                match self.known(&id) {
                    Some(window) if window.is_followed() => {
                        let others = servers != *window.base.servers && !servers.is_empty();
                        let words = "The session is open already, so the MCP servers that are set up now are used when \
                                     it is opened the next time";
                        let notes = others.then(|| words.to_owned()).into_iter().collect();
                        return Ok(Opened::of(window, past, true, notes));
                    }
                    // It has ended by itself.
                    Some(_) => self.close(&acp::SessionId::new(id.as_str())).await,
                    None => {}
                }
                WhichSession::Id(id)
            }
            Which::Fork(session) => WhichSession::Id(self.fork(session, &cwd).await?),
        };
        let folders = std::iter::once(&cwd).chain(&also).map(PathBuf::as_path);
        let files = OpenFiles::of(&editor, &self.room, &locked(&self.told).capabilities, folders);
        let editor_files = files.as_ref().map(OpenFiles::handed_over);
        let given = servers.clone().into();
        let wanted = OpenSession { servers, editor: editor_files, ..self.wanted(which, &cwd, &also) };
        let opened = self.setup.app.open(&self.caller(), wanted).await.map_err(failure::of_app)?;
        let loan = Loan::new(Arc::clone(&self.setup.app), Arc::clone(&opened.client), self.underway.clone());
        if let Some(files) = &files {
            let _ = files.session.set(acp::SessionId::new(opened.id.to_string()));
        }
        self.show(opened, loan, past, (editor, files, given)).await
    }

    /// A session that goes on from where another one is.
    async fn fork(&self, session: String, cwd: &Path) -> Result<String, Error> {
        let folder = cwd.display().to_string();
        let fork = ForkSession { session: Some(session), folder, ..ForkSession::default() };
        let forked = self.app().ask(&self.caller(), &fork).await.map_err(failure::of_app)?;
        Ok(forked.session.id.to_string())
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
        loan: Loan,
        past: Past,
        (editor, files, servers): (ConnectionTo<Editor>, Option<OpenFiles>, Arc<[GivenServer]>),
    ) -> Result<Opened, Error> {
        let OpenedSession { id, client, folder, owner, since, mut notes } = opened;
        let session = standing(client.as_ref()).await?;
        let nodes = match client.ask(Query::Tree).await {
            Ok(Answer::Tree { nodes }) => nodes,
            _ => Vec::new(),
        };
        let list = ListModels { folder: folder.clone(), ..ListModels::default() };
        let models = self.app().ask(&self.caller(), &list).await.map(options::names).unwrap_or_default();
        let shared = owner.is_some_and(|owner| owner != std::process::id());
        if shared {
            notes.extend(unused(&locked(&self.told).capabilities, &servers));
        }
        let id = acp::SessionId::new(id.to_string());
        // What another process runs is not this editor's to end.
        let shows = files.clone().filter(|_| locked(&self.told).capabilities.terminal && !shared);
        let terminals = shows.map(|files| Terminals::new(editor.clone(), id.clone(), &folder, files.kills));
        let base = Base {
            id,
            client,
            app: Arc::clone(&self.setup.app),
            folder,
            editor,
            room: self.room.clone(),
            caller: self.caller(),
            shared,
            terminals: terminals.clone(),
            servers,
            files,
            forms: locked(&self.told).capabilities.elicitation.as_ref().is_some_and(|offered| offered.supports_form()),
            models: models.into(),
            pictures: self.setup.pictures,
        };
        let since = match (past, owner) {
            // What came of opening it is told, too.
            (Past::Known, None) => since.min(session.last_seq),
            _ => session.last_seq,
        };
        let is_asked = since == session.last_seq;
        let calls = session.pending.iter().cloned().map(|request| Asked::Call(Box::new(request)));
        let questions = session.questions.iter().cloned().map(Asked::Question);
        let asks = calls.chain(questions).filter(|_| is_asked).collect();
        let at_work = session.state.is_at_work() || nodes.iter().any(|node| node.state.is_live());
        let start = Start { transcript: Transcript::new(&session, nodes, terminals), since, asks, at_work };
        let (window, was_open) = match locked(&self.windows).entry(Arc::clone(&base.id.0)) {
            // Somebody was faster, or it was named by the beginning of its id.
            Entry::Occupied(open) if open.get().is_followed() => (Arc::clone(open.get()), true),
            entry => {
                let window = Arc::new(Window::new(base, start, loan));
                entry.insert_entry(Arc::clone(&window));
                (window, false)
            }
        };
        Ok(Opened::of(window, past, was_open, notes))
    }

    /// The editor does not want a session any more that was opened for it.
    pub async fn take_back(&self, opened: Opened) {
        if !opened.was_open {
            self.close(&opened.id()).await;
        }
    }

    /// What an editor is told of a session once it knows that it is open.
    pub fn introduce(&self, opened: Opened) {
        let Opened { window, notes, begin, .. } = opened;
        let notes: Vec<String> = locked(&self.of_login).take().into_iter().chain(notes).collect();
        notes.iter().for_each(|note| window.order(Order::Tell(Box::new(aside(note)))));
        // Whoever has ended meanwhile begins nothing.
        let _ = begin.send(());
        window.offer_commands();
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

    /// Stops what a session does, answers its prompts and hands it back; one that is not open needs nothing.
    pub async fn close(&self, id: &acp::SessionId) {
        let Some(window) = locked(&self.windows).remove(&id.0) else { return };
        window.close().await;
        window.hand_back().await;
    }

    /// The same for an editor, which is answered when nothing runs any more: what is done at the end of a session may
    /// take a while.
    pub async fn close_soon(&self, id: acp::SessionId) {
        let Some(window) = locked(&self.windows).remove(&id.0) else { return };
        window.close().await;
        let handed_back = self.underway.spawn(async move { window.hand_back().await });
        let _ = tokio::time::timeout(SOON, handed_back).await;
    }

    /// A prompt, which is answered when the work is over. What follows it, such as a cancel, is behind it.
    pub fn prompt(&self, request: acp::PromptRequest, prompted: Prompted) -> Result<(), Error> {
        match self.window(&request.session_id) {
            Ok(window) => {
                let sent = Sent { blocks: request.prompt, meta: request.meta };
                window.order(Order::Prompt(Box::new((sent, prompted))));
                Ok(())
            }
            Err(error) => prompted.respond_with_error(error),
        }
    }

    /// Stops what a session does; one that is not open does nothing.
    pub fn cancel(&self, id: &acp::SessionId) {
        if let Ok(window) = self.window(id) {
            window.order(Order::Cancel(None));
        }
    }

    /// Sets the mode, behind everything that the editor wanted of the session before.
    pub fn set_mode(
        &self,
        request: &acp::SetSessionModeRequest,
        reply: impl FnOnce(Result<Vec<acp::SessionConfigOption>, Error>) + Send + 'static,
    ) {
        self.set(&request.session_id, |_| options::mode(&request.mode_id.0), Box::new(reply));
    }

    /// Sets an option, as the mode is set; the answer is all of them as they are then.
    pub fn set_option(
        &self,
        request: &acp::SetSessionConfigOptionRequest,
        reply: impl FnOnce(Result<Vec<acp::SessionConfigOption>, Error>) + Send + 'static,
    ) {
        let command = |window: &Window| {
            let value = request.value.as_value_id();
            let value = value.ok_or_else(|| failure::invalid("value: one of the choices of the option"))?;
            options::command(&request.config_id.0, &value.0, &window.base.models)
        };
        self.set(&request.session_id, command, Box::new(reply));
    }

    fn set(&self, id: &acp::SessionId, command: impl FnOnce(&Window) -> Result<Command, Error>, reply: SetReply) {
        match self.window(id).and_then(|window| Ok((command(&window)?, window))) {
            Ok((command, window)) => window.order(Order::Set { command, reply }),
            Err(error) => reply(Err(error)),
        }
    }

    /// The editor is gone: everything stops, and every session is handed back.
    pub async fn end(&self) {
        self.gone.cancel();
        self.room.close();
        let windows: Vec<Arc<Window>> = locked(&self.windows).drain().map(|(_, window)| window).collect();
        let ends = windows.iter().map(|window| async move {
            window.close().await;
            window.hand_back().await;
        });
        self.underway.close();
        // Nobody waits for what is remembered of them.
        let _ = tokio::time::timeout(SOON, async { tokio::join!(join_all(ends), self.underway.wait()) }).await;
    }

    fn known(&self, id: &str) -> Option<Arc<Window>> {
        locked(&self.windows).get(id).cloned()
    }

    fn window(&self, id: &acp::SessionId) -> Result<Arc<Window>, Error> {
        self.known(&id.0).ok_or_else(|| failure::no_session(&id.0))
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

/// What a person should know of a session that another process runs: of what the editor brings, it uses nothing.
fn unused(offered: &acp::ClientCapabilities, servers: &[GivenServer]) -> Option<String> {
    let has_files = offered.fs.read_text_file || offered.fs.write_text_file;
    let all = [
        (has_files, "what you type here and do not save"),
        (offered.terminal, "the terminals here"),
        (!servers.is_empty(), "the MCP servers that are set up here"),
    ];
    let all: Vec<&str> = all.into_iter().filter_map(|(is, what)| is.then_some(what)).collect();
    let words = || format!("This session runs in another process, which makes no use of {}", all.join(", "));
    (!all.is_empty()).then(words)
}

/// How a session stands.
pub(crate) async fn standing(client: &dyn Client) -> Result<SessionSnapshot, Error> {
    match client.ask(Query::Snapshot).await.map_err(failure::of_client)? {
        Answer::Snapshot(session) => Ok(session),
        _ => Err(failure::of_app(AppError::unsupported("does not tell how a session stands"))),
    }
}

fn listed(row: SessionRow) -> acp::SessionInfo {
    let title = Some(clean_line(&row.title)).filter(|title| !title.is_empty());
    acp::SessionInfo::new(row.id.to_string(), row.cwd).title(title).updated_at(row.updated.to_string())
}
