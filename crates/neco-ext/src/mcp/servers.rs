//! All servers of a folder.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::StreamExt;
use neco_proto::ToolOrigin;
use neco_safety::secrets::Redactor;
use neco_safety::world::Processes;
use neco_toolkit::{DynTool, PluggedTools, ToolOutput};
use serde_json::{Map, Value};

use super::auth::TokenStore;
use super::error::McpError;
use super::failures::{self, Failure};
use super::host::Caller;
use super::kept_tools::{KeptTool, KeptTools};
use super::login::{LoggedOut, LoginUi};
use super::manifest::{self, Manifest};
use super::server::{Common, Server, ServerState};
use super::settings::{ServerProgram, ServerSettings};
use super::tool::McpTool;
use super::{log, names};

/// How many servers are started at the same time.
const AT_ONCE: usize = 8;

/// Makes what starts the program of a server, in its box.
pub type MakeProcesses = Arc<dyn Fn(&ServerProgram) -> io::Result<Arc<dyn Processes>> + Send + Sync>;

/// What the servers of a folder are made of.
pub struct McpSetup {
    /// The folder that is worked in.
    pub folder: PathBuf,
    /// Where what is known of servers is kept.
    pub data_dir: PathBuf,
    /// Makes what starts their programs.
    pub processes: MakeProcesses,
    /// Takes secrets out of what they say.
    pub redactor: Redactor,
    /// Keeps what logins at them gave.
    pub logins: Arc<dyn TokenStore>,
}

/// All servers of a folder. Clones are the same.
#[derive(Clone)]
pub struct Servers(Arc<Inner>);

struct Inner {
    common: Arc<Common>,
    plugged: PluggedTools,
    servers: Mutex<Vec<Arc<Server>>>,
}

/// How a server stands, for whoever looks after it.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// The settings.
    pub settings: ServerSettings,
    /// How it stands.
    pub state: ServerState,
    /// What it offers, as far as that is known.
    pub manifest: Option<Arc<Manifest>>,
    /// What of it is left out, and why.
    pub left_out: Vec<String>,
    /// That it could not be reached when that was last tried, where nobody has tried since.
    pub failed: Option<Failure>,
}

impl Servers {
    /// The servers of these settings; none is started.
    pub fn new(setup: McpSetup, settings: Vec<ServerSettings>) -> Self {
        let McpSetup { folder, data_dir, processes, redactor, logins } = setup;
        let common = Arc::new(Common { folder, data_dir, processes, redactor, logins });
        let servers = Self(Arc::new(Inner { common, plugged: PluggedTools::default(), servers: Mutex::default() }));
        servers.renew(settings);
        servers
    }

    /// The tools that they bring; agents follow them.
    pub fn plugged(&self) -> &PluggedTools {
        &self.0.plugged
    }

    /// The settings are these now. A server that they say the same of goes on; one that is gone is stopped when its last
    /// call is over.
    pub fn renew(&self, settings: Vec<ServerSettings>) {
        let before = self.0.lock().clone();
        // Who has no new servers has no use for it.
        let mut kept = None;
        let server = |settings: ServerSettings| match before.iter().find(|server| server.settings == settings) {
            Some(server) => {
                server.may_be_tried_again();
                Arc::clone(server)
            }
            None => {
                let kept = kept.get_or_insert_with(|| KeptTools::open(&self.0.common.data_dir));
                Arc::new(self.0.make(settings, kept))
            }
        };
        // Files are read before anybody has to wait for the list.
        let now: Vec<Arc<Server>> = settings.into_iter().map(server).collect();
        kept.into_iter().for_each(KeptTools::close);
        let mut servers = self.0.lock();
        servers.clone_from(&now);
        // Those of servers that are gone among them, and all at once: each look at what is plugged in costs by how much
        // that is.
        let tools = now.iter().flat_map(tools_of).collect();
        self.0.plugged.replace(|origin| matches!(origin, ToolOrigin::Mcp { .. }), tools);
        drop(servers);
    }

    /// How they stand. It may read files.
    pub fn status(&self) -> Vec<ServerStatus> {
        let servers = self.0.lock().clone();
        let status = |server: &Arc<Server>| {
            let manifest = server.manifest();
            let said = manifest.iter().flat_map(|manifest| manifest.left_out.clone());
            let left_out = said.chain(told_apart(server).1).collect();
            let (settings, failed) = (server.settings.clone(), server.failure());
            ServerStatus { settings, state: server.state(), manifest, left_out, failed }
        };
        servers.iter().map(status).collect()
    }

    /// Those of them that are `wanted` by how they stand, without what they offer: no file is read for it.
    pub fn standing(&self, wanted: impl Fn(&str, &ServerState) -> bool) -> Vec<(ServerSettings, ServerState)> {
        let servers = self.0.lock();
        let states = servers.iter().map(|server| (server, server.state()));
        let wanted = states.filter(|(server, state)| wanted(&server.settings.name, state));
        wanted.map(|(server, state)| (server.settings.clone(), state)).collect()
    }

    /// The servers that must be started before their tools can be declared: nothing is known of them, or the settings
    /// say so.
    pub fn unknown(&self) -> Vec<String> {
        let is_unknown = |server: &&Arc<Server>| match server.state() {
            ServerState::Configured => true,
            ServerState::Known => server.settings.auto_start,
            _ => false,
        };
        self.0.lock().iter().filter(is_unknown).map(|server| server.settings.name.clone()).collect()
    }

    /// Starts these servers, side by side; what could not be started is told, the others are there.
    pub async fn start(&self, names: Vec<String>) -> Vec<McpError> {
        let start = |name: String| async move { self.learn(&name).await.err() };
        futures::stream::iter(names).map(start).buffer_unordered(AT_ONCE).filter_map(std::future::ready).collect().await
    }

    /// Starts a server, unless it runs, and says what it offers.
    ///
    /// # Errors
    /// When there is no such server, or it can't be reached.
    pub async fn learn(&self, name: &str) -> Result<Arc<Manifest>, McpError> {
        self.server(name)?.start().await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// When there is no such server or resource, or it can't be reached.
    pub async fn read(&self, name: &str, uri: &str, caller: &Caller) -> Result<ToolOutput, McpError> {
        self.server(name)?.read(uri, caller).await
    }

    /// Fills in a prompt.
    ///
    /// # Errors
    /// When there is no such server or prompt, or it can't be reached.
    pub async fn prompt(
        &self,
        name: &str,
        prompt: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, McpError> {
        self.server(name)?.prompt(prompt, arguments, caller).await
    }

    /// Stops a server; it is started again when something is wanted of it.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn stop(&self, name: &str) -> Result<(), McpError> {
        self.server(name)?.stop().await;
        Ok(())
    }

    /// Logs in at a server and keeps what that gives; `ui` says what the person has to do meanwhile. The conversation
    /// with the server is begun anew when something is wanted of it.
    ///
    /// # Errors
    /// When there is no such server, it can't be reached, it has no login, or the login fails; then nothing is changed.
    pub async fn log_in(&self, name: &str, ui: &dyn LoginUi) -> Result<(), McpError> {
        self.server(name)?.log_in(ui).await
    }

    /// Forgets what a login gave, and has the server forget it where it offers that. Says whether there was one.
    ///
    /// # Errors
    /// When there is no such server, or the login is still kept.
    pub async fn log_out(&self, name: &str) -> Result<LoggedOut, McpError> {
        self.server(name)?.log_out().await
    }

    /// Stops all of them; ready when they are gone.
    pub async fn close(&self) {
        let servers = self.0.lock().clone();
        futures::future::join_all(servers.iter().map(|server| server.stop())).await;
    }

    /// Where the log of a server is.
    pub fn log_file(data_dir: &Path, server: &str) -> PathBuf {
        log::path(data_dir, server)
    }

    /// Forgets what is known of a server that is taken out of the settings.
    pub fn forget(data_dir: &Path, server: &str) {
        manifest::forget(data_dir, server);
        failures::forget(data_dir, server);
        for file in [data_dir.join("mcp/pins").join(format!("{server}.json")), log::path(data_dir, server)] {
            let _ = std::fs::remove_file(file);
        }
    }

    fn server(&self, name: &str) -> Result<Arc<Server>, McpError> {
        let servers = self.0.lock();
        let found = servers.iter().find(|server| server.settings.name == name).cloned();
        found.ok_or_else(|| McpError::NotFound(name.to_owned()))
    }
}

fn origin(server: &Server) -> ToolOrigin {
    ToolOrigin::Mcp { server: server.settings.name.clone() }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(self: &Arc<Self>, settings: ServerSettings, kept: &mut KeptTools<'_>) -> Server {
        let all: Weak<Self> = Arc::downgrade(self);
        Server::new(settings, &self.common, kept, move |server| {
            if let Some(all) = all.upgrade() {
                all.plug_in(server);
            }
        })
    }

    /// Agents have the tools that a server offers now, unless another one has taken its place since.
    fn plug_in(&self, server: &Arc<Server>) {
        let servers = self.lock();
        if !servers.iter().any(|known| Arc::ptr_eq(known, server)) {
            return;
        }
        self.plugged.set(&origin(server), tools_of(server).collect());
        drop(servers);
    }
}

/// The tools of a server as agents have them.
fn tools_of(server: &Arc<Server>) -> impl Iterator<Item = Arc<dyn DynTool>> {
    told_apart(server).0.into_iter().map(|kept| -> Arc<dyn DynTool> { Arc::new(McpTool::new(kept, server)) })
}

/// The tools of a server that the settings let, and which of them are left out because their names are taken.
fn told_apart(server: &Server) -> (Vec<Arc<KeptTool>>, Vec<String>) {
    let (mut seen, mut left_out) = (HashSet::new(), Vec::new());
    let mut tools = server.tools();
    tools.retain(|tool| {
        let name = names::tool_name(&server.settings.name, &tool.name);
        let is_first = seen.insert(name.to_lowercase());
        if !is_first {
            left_out.push(format!("{}: another tool is called {name} too", tool.name));
        }
        is_first
    });
    (tools, left_out)
}
