//! One server: started when something of it is needed, stopped when nothing is, started again when it died.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use neco_proto::visible::visible_line;
use neco_safety::secrets::Redactor;
use neco_safety::world::{Freedom, Launch, Leftovers, Processes, Stdin};
use neco_toolkit::ToolOutput;
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::advice::{BoxFacts, advice, advice_after_call};
use super::auth::TokenStore;
use super::connection::{Beginning, Connection, Era};
use super::content;
use super::error::McpError;
use super::failures::{self, Failure};
use super::host::{Caller, Host};
use super::http::{Http, HttpSetup, keeping, url_of};
use super::kept_tools::{KeptTool, KeptTools};
use super::last_words::{self, LastWords};
use super::line::Lines;
use super::link::{Held, Link, Open, Starting, keep, wants_login};
use super::log::ServerLog;
use super::login::{self, LoggedOut, LoginUi};
use super::manifest::Manifest;
use super::pins::Pins;
use super::servers::MakeProcesses;
use super::settings::{Reach, ServerAddress, ServerProgram, ServerSettings};
use super::trouble::Trouble;
use super::wanted::WantedTools;

/// A pause that is waited for; a longer one is told.
const SHORT: Duration = Duration::from_secs(3);

/// A server that lived so long did not die of being started.
const LIVED: Duration = Duration::from_secs(30);

/// Why a program is not started that is another one by now.
const CHANGED: &str =
    "a file that it runs was changed since you trusted it, so it is not started; `neco trust` or /trust shows it";

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
    pub logins: Arc<dyn TokenStore>,
}

/// Takes up what a server offers now.
type Offers = Box<dyn Fn(&Arc<Server>) + Send + Sync>;

/// One server.
pub(super) struct Server {
    pub settings: ServerSettings,
    common: Arc<Common>,
    pub log: ServerLog,
    pub pins: Pins,
    wanted: WantedTools,
    offer: Mutex<Offer>,
    state: Mutex<ServerState>,
    pub link: tokio::sync::Mutex<Link>,
    /// Tells those who wait for it that it is stopped.
    stops: Notify,
    /// Takes up what the server offers now.
    offers: Offers,
}

/// What is known of what a server offers.
enum Offer {
    Nothing,
    /// The tools that the settings let; the rest is in a file that nobody wanted to read yet.
    Tools(Vec<Arc<KeptTool>>),
    All(Arc<Manifest>),
}

impl Server {
    /// A server that nothing was wanted of yet; `offers` is told whenever it offers something else.
    pub(super) fn new(
        settings: ServerSettings,
        common: &Arc<Common>,
        kept: &mut KeptTools<'_>,
        offers: impl Fn(&Arc<Self>) + Send + Sync + 'static,
    ) -> Self {
        let wanted = WantedTools::of(&settings);
        let kept = || kept.tools(&settings, |tool| wanted.has(tool));
        let (state, offer) = match settings.enabled.then(kept) {
            None => (ServerState::Disabled, Offer::Nothing),
            Some(None) => (ServerState::Configured, Offer::Nothing),
            Some(Some(tools)) => (ServerState::Known, Offer::Tools(tools)),
        };
        Self {
            log: ServerLog::new(&common.data_dir, &settings.name, common.redactor.clone()),
            pins: Pins::of(&common.data_dir, &settings.name),
            settings,
            common: Arc::clone(common),
            wanted,
            offer: Mutex::new(offer),
            state: Mutex::new(state),
            link: tokio::sync::Mutex::default(),
            stops: Notify::new(),
            offers: Box::new(offers),
        }
    }

    /// How it stands.
    pub(super) fn state(&self) -> ServerState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it offers, as far as that is known. The first time it may read a file.
    pub(super) fn manifest(&self) -> Option<Arc<Manifest>> {
        let mut offer = self.offer();
        if let Offer::Tools(_) = &*offer
            && let Some(manifest) = Manifest::load(&self.common.data_dir, &self.settings)
        {
            *offer = Offer::All(Arc::new(manifest));
        }
        match &*offer {
            Offer::All(manifest) => Some(Arc::clone(manifest)),
            Offer::Nothing | Offer::Tools(_) => None,
        }
    }

    /// Those of its tools that the settings let, as far as they are known.
    pub(super) fn tools(&self) -> Vec<Arc<KeptTool>> {
        match &*self.offer() {
            Offer::Nothing => Vec::new(),
            Offer::Tools(tools) => tools.clone(),
            Offer::All(manifest) => {
                let wanted = manifest.tools.iter().filter(|tool| self.wanted.has(&tool.name));
                wanted.cloned().map(|info| Arc::new(KeptTool::from(info))).collect()
            }
        }
    }

    /// What it says of a tool, as far as that is known.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<KeptTool>> {
        match &*self.offer() {
            Offer::Nothing => None,
            Offer::Tools(tools) => tools.iter().find(|tool| tool.name == name).cloned(),
            Offer::All(manifest) => {
                let found = manifest.tools.iter().find(|tool| tool.name == name);
                found.map(|info| Arc::new(KeptTool::from(info.clone())))
            }
        }
    }

    /// That it could not be reached when that was last tried, which is not known otherwise. It reads a file.
    pub(super) fn failure(&self) -> Option<Failure> {
        let is_open = matches!(self.state(), ServerState::Configured | ServerState::Known);
        is_open.then(|| Failure::load(&self.common.data_dir, &self.settings)).flatten()
    }

    fn offer(&self) -> MutexGuard<'_, Offer> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Logs in and keeps what that gives; the next conversation has it.
    pub(super) async fn log_in(&self, ui: &dyn LoginUi) -> Result<(), McpError> {
        let address = self.address().map_err(|trouble| trouble.of(&self.settings.name))?;
        let http = self.way_to(address, CancellationToken::new()).await?;
        let logged_in = login::log_in(&http, &address.login, ui).await;
        logged_in.map_err(|trouble| trouble.of(&self.settings.name))?;
        self.begin_anew().await;
        Ok(())
    }

    /// Forgets what a login gave, here and, where it offers that, at the server.
    pub(super) async fn log_out(&self) -> Result<LoggedOut, McpError> {
        let name = &self.settings.name;
        let url = self.address().and_then(url_of).map_err(|trouble| trouble.of(name))?;
        let keeping = keeping(name, &url, &self.common.logins, &self.common.redactor);
        let logged_out = login::log_out(&keeping).await.map_err(|trouble| trouble.of(name))?;
        self.begin_anew().await;
        Ok(logged_out)
    }

    /// Ends the conversation with it and forgets how the last ones went: it may be reached with something else now.
    async fn begin_anew(&self) {
        let before = std::mem::take(&mut *self.link.lock().await);
        if let Some(open) = before.open {
            open.connection.close().await;
        }
        self.rest();
    }

    /// Somebody may have logged in since it was found out that it wants that.
    pub(super) fn may_be_tried_again(&self) {
        if self.state() == ServerState::NeedsLogin {
            self.rest();
        }
    }

    /// Stops it; ready when it is gone. It is started again when something is wanted of it.
    pub(super) async fn stop(&self) {
        self.stops.notify_waiters();
        let open = self.link.lock().await.open.take();
        if let Some(open) = open {
            open.connection.close().await;
            self.rest();
        }
        self.log.written().await;
    }

    /// Calls a tool.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: Value,
        caller: &Caller,
    ) -> Result<ToolOutput, McpError> {
        let connection = self.connection_for(caller).await?;
        match connection.call(tool, arguments, self.settings.call_timeout, caller).await {
            Ok(result) => {
                let mut output = content::of_call(&self.settings.name, &result);
                if output.error_code.is_some()
                    && let Some(helps) = self.advice_after_call(output.model.clone()).await
                {
                    output.model.push_str(&format!("\n[{helps}]"));
                }
                Ok(output)
            }
            Err(McpError::Refused { server, why }) => {
                let helps = self.advice_after_call(why.clone()).await;
                let why = helps.map(|helps| format!("{why}; {helps}")).unwrap_or(why);
                Err(McpError::Refused { server, why })
            }
            Err(McpError::Ended { server, .. }) => Err(McpError::Ended { server, printed: connection.printed().await }),
            Err(error) => Err(error),
        }
    }

    /// What may help when a call failed with these words, as its box may have stopped it.
    async fn advice_after_call(&self, said: String) -> Option<String> {
        let Reach::Program(program) = &self.settings.reach else { return None };
        let (processes, freedom) = (self.processes_for(program).await.ok()?, program.freedom());
        let looked = tokio::task::spawn_blocking(move || advice_after_call(&said, &processes.closed(freedom)?));
        let helps = looked.await.ok().flatten()?;
        Some(format!("the box of the MCP server {} may be the reason: {helps}", self.settings.name))
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

    /// The conversation with it, begun for a call where there is none.
    pub(super) async fn connection_for(self: &Arc<Self>, caller: &Caller) -> Result<Held, McpError> {
        caller.cancel.run_until_cancelled(self.connection()).await.unwrap_or(Err(McpError::Stopped))
    }

    /// The conversation with it, which is begun when there is none. Nobody gets one who waited when it was stopped.
    async fn connection(self: &Arc<Self>) -> Result<Held, McpError> {
        if !self.settings.enabled {
            return Err(McpError::Disabled(self.settings.name.clone()));
        }
        let stopped = self.stops.notified();
        tokio::select! {
            biased;
            () = stopped => Err(McpError::Stopped),
            held = self.linked() => held,
        }
    }

    async fn linked(self: &Arc<Self>) -> Result<Held, McpError> {
        let mut link = self.link.lock().await;
        if let Some(open) = &link.open {
            if !open.connection.is_over() {
                return Ok(Held::new(&open.connection));
            }
            if matches!(self.settings.reach, Reach::Program(_)) && open.since.elapsed() < LIVED {
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
        let begun = self.begin().await;
        drop(starting);
        match begun {
            Ok((connection, http)) => {
                let connection = Arc::new(connection);
                let held = Held::new(&connection);
                let keeper = tokio::spawn(keep(Arc::downgrade(self), Arc::clone(&connection), http));
                let keeper = AbortOnDropHandle::new(keeper);
                link.open = Some(Open { connection, since: Instant::now(), _keeper: keeper });
                (link.failures, link.not_before) = (link.failures.min(1), None);
                self.be(ServerState::Running);
                Ok(held)
            }
            Err(error) => {
                self.log.note(&error.to_string());
                let why = match &error {
                    McpError::Connection { why, .. } => why.clone(),
                    error => error.to_string(),
                };
                // Somebody may log in at any moment, and asking again costs little.
                if let McpError::NeedsLogin(_) = error {
                    self.be(ServerState::NeedsLogin);
                } else {
                    self.be(ServerState::Failed(why.clone()));
                    link.fail(why.clone());
                    self.keep_failure(why).await;
                }
                Err(error)
            }
        }
    }

    /// Begins a conversation and asks what there is; gives the way to the server where it has an address.
    async fn begin(self: &Arc<Self>) -> Result<(Connection, Option<Http>), McpError> {
        let server = Arc::clone(self);
        let known = tokio::task::spawn_blocking(move || server.manifest()).await.ok().flatten();
        let (connection, http) = match &self.settings.reach {
            Reach::Program(program) => {
                self.check_files(program).await?;
                (self.begin_with_program(program, Era::of(known.as_deref())).await?, None)
            }
            Reach::Address(address) => {
                let (connection, http) = self.begin_with_address(address, Era::of(known.as_deref())).await?;
                (connection, Some(http))
            }
        };
        let manifest = connection.manifest(self.settings.start_timeout).await;
        // Some servers greet everybody, and want a login for everything else.
        let manifest = manifest.map_err(|error| match wants_login(http.as_ref()) {
            true => McpError::NeedsLogin(self.settings.name.clone()),
            false => error,
        });
        self.take(manifest?).await;
        let (data_dir, name) = (self.common.data_dir.clone(), self.settings.name.clone());
        let _ = tokio::task::spawn_blocking(move || failures::forget(&data_dir, &name)).await;
        Ok((connection, http))
    }

    /// Keeps why it could not be reached, for those who ask later.
    async fn keep_failure(&self, why: String) {
        let (failure, data_dir) = (Failure::now(&self.settings, why), self.common.data_dir.clone());
        let name = self.settings.name.clone();
        let kept = tokio::task::spawn_blocking(move || failure.save(&data_dir, &name)).await;
        if let Err(error) = kept.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            tracing::debug!(%error, "that a server could not be reached is not kept");
        }
    }

    /// A program of a repository is not started when its files are not what a person trusted.
    async fn check_files(&self, program: &ServerProgram) -> Result<(), McpError> {
        let Some(pinned) = program.pinned.clone() else { return Ok(()) };
        let program = program.clone();
        match tokio::task::spawn_blocking(move || pinned.are_others(&program)).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.failed(CHANGED.to_owned())),
            Err(error) => Err(self.failed(error.to_string())),
        }
    }

    async fn begin_with_program(&self, program: &ServerProgram, era: Era) -> Result<Connection, McpError> {
        let is_over = CancellationToken::new();
        match (self.try_program(program, era, is_over.clone()).await, era) {
            // Some older servers die of a question that they don't know, say nothing, or answer with something else.
            (Err(first @ McpError::Connection { .. }), Era::Unknown) => {
                let second = self.try_program(program, Era::Initialize, CancellationToken::new()).await;
                if is_over.is_cancelled() { second } else { second.or(Err(first)) }
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
        let processes = self.processes_for(program).await.map_err(|error| self.failed(error.to_string()))?;
        let (errors, prints) = std::io::pipe().map_err(|error| self.failed(error.to_string()))?;
        let last_words = LastWords::follow(errors.into(), self.log.clone(), &self.common.redactor);
        let last_words = last_words.map_err(|error| self.failed(error.to_string()))?;
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
        let freedom = program.freedom();
        let process = processes.run(launch, freedom.into()).await.map_err(|error| self.failed(error.to_string()))?;
        let lines = Lines::new(process, Arc::clone(&processes), self.log.clone(), is_over.clone());
        match Connection::open(lines, self.beginning(era, is_over)).await {
            Err(McpError::Connection { why, .. }) => {
                let said = last_words.said().await;
                let helps = advice_for(program.clone(), said.clone(), processes, freedom).await;
                let printed = last_words::shown(&said).map(|said| format!("it printed: {said}"));
                Err(self.failed([Some(why), printed, helps].into_iter().flatten().collect::<Vec<_>>().join("; ")))
            }
            Ok(mut connection) => {
                connection.last_words = Some(last_words);
                Ok(connection)
            }
            Err(error) => Err(error),
        }
    }

    /// What starts a program; it looks at files.
    async fn processes_for(&self, program: &ServerProgram) -> std::io::Result<Arc<dyn Processes>> {
        let (make, program) = (Arc::clone(&self.common.processes), program.clone());
        let made = tokio::task::spawn_blocking(move || make(&program)).await;
        made.unwrap_or_else(|error| Err(std::io::Error::other(error)))
    }

    async fn begin_with_address(&self, address: &ServerAddress, era: Era) -> Result<(Connection, Http), McpError> {
        let (opened, http) = match self.try_address(address, era).await? {
            // It may be a newer one by now, or one that answers what it does not know with something else.
            (Err(McpError::Connection { .. }), http) if http.may_be_of_another_era() => {
                self.try_address(address, era.other()).await?
            }
            tried => tried,
        };
        match opened {
            Ok(connection) => Ok((connection, http)),
            Err(error) => {
                let explained = http.explanation().await;
                Err(explained.map_or(error, |trouble| trouble.of(&self.settings.name)))
            }
        }
    }

    /// What came of a conversation in one way, with the way to the address.
    async fn try_address(
        &self,
        address: &ServerAddress,
        era: Era,
    ) -> Result<(Result<Connection, McpError>, Http), McpError> {
        let is_over = CancellationToken::new();
        let http = self.way_to(address, is_over.clone()).await?;
        self.log.note(&format!("connecting: {}", self.settings.in_short()));
        let opened = Connection::open(http.exchange(), self.beginning(era, is_over)).await;
        Ok((opened, http))
    }

    /// The way to its address; nothing is asked yet.
    async fn way_to(&self, address: &ServerAddress, is_over: CancellationToken) -> Result<Http, McpError> {
        let setup = HttpSetup {
            server: &self.settings.name,
            address,
            patience: self.settings.start_timeout,
            redactor: &self.common.redactor,
            logins: &self.common.logins,
            is_over,
        };
        Http::new(setup).await.map_err(|trouble| trouble.of(&self.settings.name))
    }

    fn address(&self) -> Result<&ServerAddress, Trouble> {
        match &self.settings.reach {
            Reach::Address(address) => Ok(address),
            Reach::Program(_) => Err(Trouble::Login("it is a program, and nobody logs in at one".to_owned())),
        }
    }

    fn beginning(&self, era: Era, is_over: CancellationToken) -> Beginning<'_> {
        let folder = &self.common.folder;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let root = url::Url::from_directory_path(folder).map(|url| (url.to_string(), name));
        let host = Host::new(&self.settings.name, root.into_iter().collect(), self.settings.sampling, self.log.clone());
        Beginning { server: &self.settings.name, era, host, patience: self.settings.start_timeout, is_over }
    }

    /// It offers this from now on.
    pub(super) async fn take(self: &Arc<Self>, manifest: Manifest) {
        let manifest = Arc::new(manifest);
        let (server, offered) = (Arc::clone(self), Arc::clone(&manifest));
        let keeping = tokio::task::spawn_blocking(move || {
            let is_new = server.manifest().is_none_or(|known| known != offered);
            let seen = server.pins.meet(&offered.tools);
            let kept = if is_new { offered.save(&server.common.data_dir, &server.settings) } else { Ok(()) };
            (is_new, seen.and(kept))
        });
        let (is_new, kept) = keeping.await.unwrap_or_else(|error| (true, Err(std::io::Error::other(error))));
        if let Err(error) = kept {
            tracing::warn!(%error, "what a server offers can't be kept");
        }
        if is_new {
            *self.offer() = Offer::All(manifest);
            (self.offers)(self);
        }
    }

    /// It does not run.
    pub(super) fn rest(&self) {
        let is_known = !matches!(&*self.offer(), Offer::Nothing);
        self.be(if is_known { ServerState::Known } else { ServerState::Configured });
    }

    pub(super) fn be(&self, state: ServerState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn failed(&self, why: String) -> McpError {
        McpError::Connection { server: self.settings.name.clone(), why: visible_line(&why).to_string() }
    }
}

/// What may help a program that ended after it said this.
async fn advice_for(
    mut program: ServerProgram,
    said: String,
    processes: Arc<dyn Processes>,
    freedom: Freedom,
) -> Option<String> {
    let looked = tokio::task::spawn_blocking(move || {
        let facts = BoxFacts { closed: processes.closed(freedom)?, own_tmp: processes.has_own_tmp() };
        if let Some(found) = processes.find_program(program.program.as_ref()) {
            program.program = found.to_string_lossy().into_owned();
        }
        advice(&program, &said, &facts)
    });
    looked.await.ok().flatten()
}
