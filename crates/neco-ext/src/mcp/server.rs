//! One server: started when something of it is needed, stopped when nothing is, started again when it died.

use std::ffi::OsString;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use neco_proto::visible::visible_line;
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::world::{Freedom, Launch, Leftovers, Stdin};
use neco_toolkit::ToolOutput;
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Beginning, Connection, Era};
use super::content;
use super::error::McpError;
use super::host::{Caller, Hold, Host};
use super::line::Lines;
use super::log::ServerLog;
use super::manifest::{Manifest, ToolInfo};
use super::pins::Pins;
use super::servers::MakeProcesses;
use super::settings::{Reach, ServerAddress, ServerProgram, ServerSettings};

/// A pause that is waited for; a longer one is told.
const SHORT: Duration = Duration::from_secs(3);

/// The first pause before a server is started again that could not be, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A server that lived so long did not die of being started.
const LIVED: Duration = Duration::from_secs(30);

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It is switched off.
    Disabled,
    /// Nothing is known of it yet: it never ran with these settings.
    Configured,
    /// It does not run; what it offers is known.
    Known,
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It wants a login.
    NeedsLogin,
    /// It could not be started or reached; says why.
    Failed(String),
}

/// What all servers of a folder have in common.
pub(super) struct Common {
    pub data_dir: PathBuf,
    /// The folder that is worked in.
    pub folder: PathBuf,
    pub processes: MakeProcesses,
    pub redactor: Redactor,
}

/// One server.
pub(super) struct Server {
    pub settings: ServerSettings,
    common: Arc<Common>,
    log: ServerLog,
    pub pins: Pins,
    manifest: Mutex<Option<Arc<Manifest>>>,
    state: Mutex<ServerState>,
    link: tokio::sync::Mutex<Link>,
    /// It is to be stopped: a start is given up.
    stopping: Notify,
    /// Takes up what the server offers now.
    offers: Box<dyn Fn(&Arc<Server>) + Send + Sync>,
}

/// The conversation with a server, and how the last ones went.
#[derive(Default)]
struct Link {
    open: Option<Open>,
    failures: u32,
    not_before: Option<Instant>,
    why: String,
}

struct Open {
    connection: Arc<Connection>,
    since: Instant,
    /// Follows what the server offers, and stops it when nothing is wanted of it.
    _keeper: AbortOnDropHandle<()>,
}

impl Server {
    /// A server that nothing was wanted of yet; `offers` is told whenever it offers something else.
    pub(super) fn new(
        settings: ServerSettings,
        common: &Arc<Common>,
        offers: impl Fn(&Arc<Self>) + Send + Sync + 'static,
    ) -> Self {
        let manifest = if settings.enabled { Manifest::load(&common.data_dir, &settings) } else { None };
        let state = match (settings.enabled, &manifest) {
            (false, _) => ServerState::Disabled,
            (true, None) => ServerState::Configured,
            (true, Some(_)) => ServerState::Known,
        };
        Self {
            log: ServerLog::new(&common.data_dir, &settings.name, common.redactor.clone()),
            pins: Pins::open(&common.data_dir, &settings.name),
            settings,
            common: Arc::clone(common),
            manifest: Mutex::new(manifest.map(Arc::new)),
            state: Mutex::new(state),
            link: tokio::sync::Mutex::default(),
            stopping: Notify::new(),
            offers: Box::new(offers),
        }
    }

    /// How it stands.
    pub(super) fn state(&self) -> ServerState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it offers, as far as that is known.
    pub(super) fn manifest(&self) -> Option<Arc<Manifest>> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes out of what it said what nobody may read.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.common.redactor
    }

    /// Starts it, unless it runs.
    pub(super) async fn start(self: &Arc<Self>) -> Result<Arc<Manifest>, McpError> {
        self.connection().await?;
        self.manifest().ok_or_else(|| self.failed("it offers nothing".to_owned()))
    }

    /// Stops it; ready when it is gone. It is started again when something is wanted of it.
    pub(super) async fn stop(&self) {
        self.stopping.notify_waiters();
        let open = self.link.lock().await.open.take();
        if let Some(open) = open {
            open.connection.close().await;
            self.rest();
        }
    }

    /// Calls a tool.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &ToolInfo,
        arguments: &Value,
        caller: &Caller,
    ) -> Result<ToolOutput, McpError> {
        let connection = self.connection_for(caller).await?;
        let result = connection.call(&tool.name, arguments, self.settings.call_timeout, caller).await?;
        Ok(content::of_call(&self.settings.name, &result))
    }

    /// Reads a resource.
    pub(super) async fn read(self: &Arc<Self>, uri: &str, caller: &Caller) -> Result<ToolOutput, McpError> {
        let connection = self.connection_for(caller).await?;
        let result = connection.read(uri, self.settings.call_timeout, caller).await?;
        Ok(content::of_resource(&self.settings.name, &result))
    }

    /// Fills in a prompt.
    pub(super) async fn prompt(
        self: &Arc<Self>,
        name: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, McpError> {
        let connection = self.connection_for(caller).await?;
        let result = connection.prompt(name, arguments, self.settings.call_timeout, caller).await?;
        Ok(content::of_prompt(&result))
    }

    async fn connection_for(self: &Arc<Self>, caller: &Caller) -> Result<Held, McpError> {
        caller.cancel.run_until_cancelled(self.connection()).await.unwrap_or(Err(McpError::Stopped))
    }

    /// The conversation with it, which is begun when there is none.
    async fn connection(self: &Arc<Self>) -> Result<Held, McpError> {
        if !self.settings.enabled {
            return Err(McpError::Disabled(self.settings.name.clone()));
        }
        let mut link = self.link.lock().await;
        if let Some(open) = &link.open {
            if !open.connection.is_over() {
                return Ok(Held::new(&open.connection));
            }
            if open.since.elapsed() < LIVED {
                link.fail("it ended right after it was started".to_owned());
            }
            link.open = None;
        }
        if let Some(pause) = link.not_before.and_then(|when| when.checked_duration_since(Instant::now())) {
            if pause > SHORT {
                return Err(self.failed(format!("{}; it is tried again in {} s", link.why, pause.as_secs() + 1)));
            }
            tokio::time::sleep(pause).await;
        }
        let starting = Starting::new(self);
        let begun = starting.0.run_until_stopped(self.begin()).await;
        drop(starting);
        match begun {
            Ok(connection) => {
                let connection = Arc::new(connection);
                let held = Held::new(&connection);
                let keeper = AbortOnDropHandle::new(tokio::spawn(keep(Arc::downgrade(self), Arc::clone(&connection))));
                link.open = Some(Open { connection, since: Instant::now(), _keeper: keeper });
                (link.failures, link.not_before) = (link.failures.min(1), None);
                self.be(ServerState::Running);
                Ok(held)
            }
            Err(McpError::Stopped) => Err(McpError::Stopped),
            Err(error) => {
                self.log.note(&error.to_string());
                self.be(match &error {
                    McpError::NeedsLogin(_) => ServerState::NeedsLogin,
                    McpError::Connection { why, .. } => ServerState::Failed(why.clone()),
                    error => ServerState::Failed(error.to_string()),
                });
                link.fail(match &error {
                    McpError::Connection { why, .. } => why.clone(),
                    error => error.to_string(),
                });
                Err(error)
            }
        }
    }

    /// Does something of a start, unless the server is to be stopped.
    async fn run_until_stopped<T>(&self, work: impl Future<Output = Result<T, McpError>>) -> Result<T, McpError> {
        let stopping = self.stopping.notified();
        tokio::select! {
            result = work => result,
            () = stopping => Err(McpError::Stopped),
        }
    }

    /// Begins a conversation and asks what there is.
    async fn begin(self: &Arc<Self>) -> Result<Connection, McpError> {
        let known = self.manifest();
        let connection = match &self.settings.reach {
            Reach::Program(program) => self.begin_with_program(program, Era::of(known.as_deref())).await?,
            Reach::Address(address) => self.begin_with_address(address, Era::of(known.as_deref())).await?,
        };
        let manifest = connection.manifest(self.settings.start_timeout).await?;
        self.take(manifest).await;
        Ok(connection)
    }

    async fn begin_with_program(&self, program: &ServerProgram, era: Era) -> Result<Connection, McpError> {
        let is_over = CancellationToken::new();
        match (self.try_program(program, era, is_over.clone()).await, era) {
            // Some older servers die of a question that they don't know.
            (Err(McpError::Connection { .. }), Era::Unknown) if is_over.is_cancelled() => {
                self.try_program(program, Era::Initialize, CancellationToken::new()).await
            }
            // It may be a newer one by now.
            (Err(McpError::Connection { .. }), Era::Initialize) => {
                self.try_program(program, Era::Unknown, CancellationToken::new()).await
            }
            (result, _) => result,
        }
    }

    async fn try_program(
        &self,
        program: &ServerProgram,
        era: Era,
        is_over: CancellationToken,
    ) -> Result<Connection, McpError> {
        let processes = (self.common.processes)(program).map_err(|error| self.failed(error.to_string()))?;
        let (errors, prints) = std::io::pipe().map_err(|error| self.failed(error.to_string()))?;
        self.follow_errors(errors.into()).map_err(|error| self.failed(error.to_string()))?;
        let variable = |(name, value): (&String, &secrecy::SecretString)| {
            (OsString::from(name), OsString::from(value.expose_secret()))
        };
        let launch = Launch {
            program: OsString::from(&program.program),
            arguments: program.arguments.iter().map(OsString::from).collect(),
            folder: program.folder.clone().unwrap_or_else(|| self.common.folder.clone()),
            stdin: Stdin::Piped,
            terminal: false,
            leftovers: Leftovers::EndAll,
            variables: program.variables.iter().map(variable).collect(),
            errors: Some(Arc::new(OwnedFd::from(prints))),
        };
        self.log.note(&format!("starting: {}", self.settings.in_short()));
        let freedom = match (program.unboxed, program.network) {
            (true, _) => Freedom::Unboxed,
            (false, true) => Freedom::Network,
            (false, false) => Freedom::AsConfigured,
        };
        let process = processes.run(launch, freedom.into()).await.map_err(|error| self.failed(error.to_string()))?;
        let lines = Lines::new(process, self.log.clone(), is_over.clone());
        Connection::open(lines, self.beginning(era, is_over)).await
    }

    async fn begin_with_address(&self, _address: &ServerAddress, _era: Era) -> Result<Connection, McpError> {
        Err(self.failed("servers with an address are not reached yet".to_owned()))
    }

    fn beginning(&self, era: Era, is_over: CancellationToken) -> Beginning<'_> {
        let folder = &self.common.folder;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let root = url::Url::from_directory_path(folder).map(|url| (url.to_string(), name));
        let host = Host::new(&self.settings.name, root.into_iter().collect(), self.log.clone());
        Beginning { server: &self.settings.name, era, host, patience: self.settings.start_timeout, is_over }
    }

    /// Puts what it prints on its standard error into its log, until it is gone.
    fn follow_errors(&self, errors: OwnedFd) -> std::io::Result<()> {
        let mut errors = pipe::Receiver::from_owned_fd(errors)?;
        let log = self.log.clone();
        // A secret may come in two pieces.
        let mut clean = self.common.redactor.stream(Scope::Outside);
        tokio::spawn(async move {
            let mut piece = vec![0; 8 * 1024];
            while let Ok(length) = errors.read(&mut piece).await {
                let Some(piece) = piece.get(..length).filter(|piece| !piece.is_empty()) else { break };
                log.add(&clean.push_str(&String::from_utf8_lossy(piece)));
            }
            log.add(&clean.finish_str());
        });
        Ok(())
    }

    /// It offers this from now on.
    async fn take(self: &Arc<Self>, manifest: Manifest) {
        let is_new = self.manifest().is_none_or(|known| *known != manifest);
        let manifest = Arc::new(manifest);
        let (server, kept) = (Arc::clone(self), Arc::clone(&manifest));
        let keeping = tokio::task::spawn_blocking(move || {
            server.pins.meet(&kept.tools)?;
            if is_new { kept.save(&server.common.data_dir, &server.settings) } else { Ok(()) }
        });
        if let Err(error) = keeping.await.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            tracing::warn!(%error, "what a server offers can't be kept");
        }
        if is_new {
            *self.manifest.lock().unwrap_or_else(PoisonError::into_inner) = Some(manifest);
            (self.offers)(self);
        }
    }

    /// It does not run.
    fn rest(&self) {
        self.be(if self.manifest().is_some() { ServerState::Known } else { ServerState::Configured });
    }

    fn be(&self, state: ServerState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn failed(&self, why: String) -> McpError {
        McpError::Connection { server: self.settings.name.clone(), why: visible_line(&why).to_string() }
    }
}

/// That a server is being started; however that ends, it is not said to go on.
struct Starting<'a>(&'a Server);

impl<'a> Starting<'a> {
    fn new(server: &'a Server) -> Self {
        server.be(ServerState::Starting);
        Self(server)
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.rest();
    }
}

/// A conversation that is not ended while somebody wants something of it.
struct Held {
    connection: Arc<Connection>,
    _hold: Hold,
}

impl Held {
    fn new(connection: &Arc<Connection>) -> Self {
        Self { connection: Arc::clone(connection), _hold: connection.host.hold() }
    }
}

impl Deref for Held {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Link {
    fn fail(&mut self, why: String) {
        self.failures += 1;
        let pause = FIRST_PAUSE.saturating_mul(1 << (self.failures - 1).min(10)).min(LONGEST_PAUSE);
        (self.not_before, self.why) = (Some(Instant::now() + pause), why);
    }
}

/// Takes up what a server offers whenever it says that this changed, and stops it when nothing is wanted of it.
async fn keep(server: Weak<Server>, connection: Arc<Connection>) {
    let listening = connection.listen();
    tokio::pin!(listening);
    let Some(idle) = server.upgrade().map(|server| server.settings.idle) else { return };
    loop {
        tokio::select! {
            () = connection.host.changed() => {
                let Some(server) = server.upgrade() else { return };
                match connection.manifest(server.settings.start_timeout).await {
                    Ok(manifest) => server.take(manifest).await,
                    Err(error) => server.log.note(&format!("its lists can't be read again: {error}")),
                }
            }
            () = &mut listening => return,
            () = connection.over() => {
                let Some(server) = server.upgrade() else { return };
                server.rest();
                return;
            }
            () = connection.host.idle(idle) => {
                let Some(server) = server.upgrade() else { return };
                let mut link = server.link.lock().await;
                // Somebody may have come in the meantime.
                if connection.host.is_held() {
                    continue;
                }
                server.log.note(&format!("stopped: nothing was wanted of it for {} s", idle.as_secs()));
                // This task ends with what is taken here.
                let open = link.open.take();
                drop(link);
                server.rest();
                connection.close().await;
                drop(open);
                return;
            }
        }
    }
}
