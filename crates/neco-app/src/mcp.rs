//! MCP servers: which there are, how they stand, what they offer, whether they work, and what they printed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use futures::stream::BoxStream;
use jiff::Timestamp;
use neco_config::section::McpSampling;
use neco_ext::mcp::{
    self as ext, Failure, FoundServer, McpError, PromptInfo, Reach, ResourceInfo, ServerSettings, ServerStatus,
    Servers, find, is_server_name,
};
use neco_proto::app::mcp::{
    GetServer, ListServers, ReadServerLog, RestartServer, ServerList, ServerLog, ServerOffers, ServerPrompt,
    ServerResource, ServerRow, ServerState, ServerTest, ServerTool, ServerTransport, ShownServer, TestServer,
    TestedServer,
};
use neco_proto::app::{AppError, Trouble};
use neco_proto::visible::visible_line;
use neco_proto::{ErrorCode, ToolOrigin};
use neco_toolkit::{DynTool, Registry};
use neco_view::figures::ago;
use neco_view::slash::nearest;

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::watching::{Told, told};
use crate::workspace::{Workspace, wanted_logins};

/// How often is looked whether a log goes on.
const TICK: Duration = Duration::from_millis(300);

pub(crate) async fn list(app: &StorelessApp, request: ListServers) -> Result<ServerList, AppError> {
    let here = Here::shared(app, &request.folder)?;
    Ok(ServerList { servers: here.rows(), warnings: here.warnings })
}

pub(crate) async fn get(app: &StorelessApp, request: GetServer) -> Result<ShownServer, AppError> {
    let here = Here::shared(app, &request.folder)?;
    let server = here.row(&request.name)?;
    let log = app.env.shown(&Servers::log_file(app.env.data_dir(), &server.name));
    let statuses = here.workspace.servers().status();
    let status = statuses.iter().find(|status| status.settings.name == server.name);
    let settings = status.map(|status| &status.settings).or_else(|| here.untrusted_one(&server.name));
    let given = settings.map(given).unwrap_or_default();
    let Some(manifest) = status.and_then(|status| status.manifest.as_ref()) else {
        return Ok(ShownServer { server, given, log, ..ShownServer::default() });
    };
    let registry = here.registry();
    let tool = |tool: &Arc<dyn DynTool>| {
        let info = manifest.tools.iter().find(|info| ext::tool_name(&server.name, &info.name) == tool.name());
        let hints = info.and_then(|info| info.hints.words());
        ServerTool { name: tool.name().to_owned(), description: tool.description().to_owned(), hints }
    };
    Ok(ShownServer {
        tools: tools_of(&server.name, &registry).map(tool).collect(),
        prompts: manifest.prompts.iter().map(prompt).collect(),
        resources: manifest.resources.iter().chain(&manifest.templates).map(resource).collect(),
        instructions: manifest.instructions.clone(),
        server,
        given,
        log,
    })
}

pub(crate) async fn restart(app: &StorelessApp, request: RestartServer) -> Result<ServerRow, AppError> {
    if app.open.workspace(Path::new(&request.folder)).is_none() {
        return Err(invalid("no session is open there, so that no server of it runs"));
    }
    let here = Here::shared(app, &request.folder)?;
    let name = here.usable(&request.name)?.name;
    let servers = here.workspace.servers();
    servers.stop(&name).await.map_err(of_mcp)?;
    servers.learn(&name).await.map_err(of_mcp)?;
    here.row(&name)
}

pub(crate) async fn test(app: &StorelessApp, request: TestServer) -> Result<TestedServer, AppError> {
    let happened: Vec<ServerTest> = watch_test(app, request).try_collect().await?;
    let tested = happened.into_iter().find_map(|happened| match happened {
        ServerTest::Tested(tested) => Some(*tested),
        ServerTest::Begins { .. } | ServerTest::Other(_) => None,
    });
    tested.ok_or_else(|| failed("the test ended without a result"))
}

/// The same, step by step.
pub(crate) fn watch_test(app: &StorelessApp, request: TestServer) -> BoxStream<'_, Result<ServerTest, AppError>> {
    told(|told| attempt(app, request, told))
}

async fn attempt(app: &StorelessApp, request: TestServer, mut told: Told<ServerTest>) -> Result<(), AppError> {
    // One that sessions use is not disturbed.
    let here = Here::alone(app, &request.folder)?;
    let server = here.usable(&request.name)?;
    let name = server.name.clone();
    told.tell(ServerTest::Begins { server: Box::new(server), warnings: here.warnings.clone() }).await;
    let (servers, begun) = (here.workspace.servers(), Instant::now());
    let problem = servers.learn(&name).await.err().map(|error| error.to_string());
    let registry = here.registry();
    let tested = TestedServer {
        server: here.row(&name)?,
        ok: problem.is_none(),
        problem,
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        tools: tools_of(&name, &registry).map(|tool| tool.name().to_owned()).collect(),
    };
    here.workspace.end_servers().await;
    told.tell(ServerTest::Tested(Box::new(tested))).await;
    Ok(())
}

pub(crate) async fn log(app: &StorelessApp, request: ReadServerLog) -> Result<ServerLog, AppError> {
    Ok(FollowedLog::begin(app, &request)?.1)
}

/// The same, and what is added to it.
pub(crate) fn watch_log(app: &StorelessApp, request: ReadServerLog) -> BoxStream<'_, Result<ServerLog, AppError>> {
    told(|told| follow(app, request, told))
}

async fn follow(app: &StorelessApp, request: ReadServerLog, mut told: Told<ServerLog>) -> Result<(), AppError> {
    let (mut log, mut news) = FollowedLog::begin(app, &request)?;
    let file = news.file.clone();
    loop {
        told.tell(news).await;
        news = loop {
            tokio::time::sleep(TICK).await;
            let text = log.read().map_err(failed)?;
            if !text.is_empty() {
                break ServerLog { file: file.clone(), text };
            }
        };
    }
}

/// The servers of a folder.
pub(crate) struct Here {
    pub workspace: Arc<Workspace>,
    /// Those that nobody has trusted as they are.
    untrusted: Vec<ServerSettings>,
    /// What is to be said about their settings.
    pub warnings: Vec<String>,
}

impl Here {
    /// As the sessions have them that are open there; by themselves where there are none.
    pub(crate) fn shared(app: &StorelessApp, folder: &str) -> Result<Self, AppError> {
        let Some(workspace) = app.open.workspace(Path::new(folder)) else { return Self::alone(app, folder) };
        // Files that can't be used change nothing, and that is told.
        let broken = workspace.look_again().err();
        let mut here = Self::of(app, workspace);
        here.warnings.extend(broken.map(|error| error.message));
        Ok(here)
    }

    /// As a session has them that is open there; else as the others have them.
    pub(crate) fn of_session(app: &StorelessApp, folder: &str, session: Option<&str>) -> Result<Self, AppError> {
        match session.and_then(|session| app.open.find(session)) {
            Some(open) => Ok(Self::of(app, open.workspace())),
            None => Self::shared(app, folder),
        }
    }

    fn alone(app: &StorelessApp, folder: &str) -> Result<Self, AppError> {
        let workspace = app.own_workspace(Path::new(folder))?;
        // Where there is no session there is no model that a server could ask.
        let deny = |server: ServerSettings| ServerSettings { sampling: McpSampling::Deny, ..server };
        let servers = workspace.now().plugged.servers().into_iter().map(deny).collect();
        workspace.servers().renew(servers);
        Ok(Self::of(app, workspace))
    }

    fn of(app: &StorelessApp, workspace: Arc<Workspace>) -> Self {
        let state = workspace.now();
        let found = find(&app.env, workspace.folder(), &state.loaded, state.plugged.plugins());
        let on = state.plugged.servers();
        let replacing = found.replacing(&on);
        let warnings = found.notices.into_iter().chain(replacing).collect();
        Self { untrusted: untrusted(found.servers, &on), workspace, warnings }
    }

    fn rows(&self) -> Vec<ServerRow> {
        let (registry, data_dir) = (self.registry(), self.workspace.env().data_dir());
        let row = |status: &ServerStatus| row(status, &registry, data_dir);
        let mut rows: Vec<ServerRow> = self.workspace.servers().status().iter().map(row).collect();
        rows.extend(self.untrusted.iter().map(described));
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        rows
    }

    /// The server of a name, which there must be.
    pub(crate) fn row(&self, name: &str) -> Result<ServerRow, AppError> {
        let mut rows = self.rows();
        match rows.iter().position(|row| row.name == name) {
            Some(at) => Ok(rows.swap_remove(at)),
            None => Err(unknown(name, &rows).after(&self.warnings)),
        }
    }

    /// The same, if it may be started.
    pub(crate) fn usable(&self, name: &str) -> Result<ServerRow, AppError> {
        let row = self.row(name)?;
        match row.state {
            ServerState::Untrusted => {
                let words = format!("{name} of {} is not trusted as it is", row.file);
                Err(AppError::new(Trouble::NotAllowed, words)
                    .hint("`neco trust` or /trust shows what the folder brings along and switches it on."))
            }
            ServerState::Disabled => Err(invalid(format!("{name} is disabled"))
                .hint(format!("`neco mcp enable {name}` or /mcp enable {name} switches it on."))),
            ServerState::Configured
            | ServerState::Known
            | ServerState::Starting
            | ServerState::Running
            | ServerState::NeedsLogin
            | ServerState::Failed
            | ServerState::Other => Ok(row),
        }
    }

    fn untrusted_one(&self, name: &str) -> Option<&ServerSettings> {
        self.untrusted.iter().find(|settings| settings.name == name)
    }

    /// The tools that agents have of all servers.
    fn registry(&self) -> Registry {
        Registry::default().following(self.workspace.servers().plugged())
    }
}

/// Those of the found servers that would count if they were trusted; `on` are those that count.
pub(crate) fn untrusted(found: Vec<FoundServer>, on: &[ServerSettings]) -> Vec<ServerSettings> {
    let is_on = |server: &ServerSettings| on.iter().any(|on| on.name == server.name && on.file == server.file);
    let mut untrusted: Vec<ServerSettings> = Vec::new();
    for FoundServer { settings, folder, .. } in found.into_iter().filter(|found| found.settings.enabled) {
        // Of several with one name the last counts.
        untrusted.retain(|before| before.name != settings.name);
        if folder.is_some() && !is_on(&settings) {
            untrusted.push(settings);
        }
    }
    untrusted
}

fn unknown(name: &str, rows: &[ServerRow]) -> AppError {
    let words = format!("there is no MCP server {}", visible_line(name));
    let error = |words| AppError { code: Some(ErrorCode::ServerNotFound), ..AppError::new(Trouble::NotFound, words) };
    match nearest(name, rows.iter().map(|row| row.name.as_str())) {
        Some(near) => error(format!("{words}; did you mean {near}?")),
        None => error(words).hint("`neco mcp list` and /mcp show those there are."),
    }
}

pub(crate) fn of_mcp(error: McpError) -> AppError {
    AppError { code: Some(error.code()), ..AppError::new(Trouble::Failed, error.to_string()) }
}

/// The tools that agents have of a server.
fn tools_of<'a>(server: &str, registry: &'a Registry) -> impl Iterator<Item = &'a Arc<dyn DynTool>> {
    let origin = ToolOrigin::Mcp { server: server.to_owned() };
    registry.iter().filter(move |tool| *tool.origin() == origin)
}

/// A server as its settings describe it, which nobody has trusted.
fn described(settings: &ServerSettings) -> ServerRow {
    ServerRow {
        name: settings.name.clone(),
        state: ServerState::Untrusted,
        transport: match &settings.reach {
            Reach::Program(_) => ServerTransport::Stdio,
            Reach::Address(_) => ServerTransport::Http,
        },
        in_short: settings.in_short(),
        file: settings.file.clone(),
        auto_start: settings.auto_start,
        ..ServerRow::default()
    }
}

fn row(status: &ServerStatus, registry: &Registry, data_dir: &Path) -> ServerRow {
    let wants_login = wanted_logins::is_kept(data_dir, &status.settings);
    let (state, error) = match &status.state {
        // It was not reached since.
        ext::ServerState::Configured | ext::ServerState::Known if wants_login => (ServerState::NeedsLogin, None),
        ext::ServerState::Configured | ext::ServerState::Known if status.failed.is_some() => {
            (ServerState::Failed, status.failed.as_ref().map(failed_before))
        }
        ext::ServerState::Disabled => (ServerState::Disabled, None),
        ext::ServerState::Configured => (ServerState::Configured, None),
        ext::ServerState::Known => (ServerState::Known, None),
        ext::ServerState::Starting => (ServerState::Starting, None),
        ext::ServerState::Running => (ServerState::Running, None),
        ext::ServerState::NeedsLogin => (ServerState::NeedsLogin, None),
        ext::ServerState::Failed(why) => (ServerState::Failed, Some(why.clone())),
    };
    let offers = status.manifest.as_ref().map(|manifest| ServerOffers {
        tools: tools_of(&status.settings.name, registry).count(),
        prompts: manifest.prompts.len(),
        resources: manifest.resources.len() + manifest.templates.len(),
        protocol: manifest.protocol.clone(),
        server: manifest.server.clone(),
    });
    ServerRow { state, error, offers, left_out: status.left_out.clone(), ..described(&status.settings) }
}

/// Why a server could not be reached when that was last tried, and when that was.
pub(crate) fn failed_before(failure: &Failure) -> String {
    format!("{} ({})", failure.why, ago(failure.when.as_millisecond(), Timestamp::now()))
}

/// The names of what a server is given.
fn given(settings: &ServerSettings) -> Vec<String> {
    match &settings.reach {
        Reach::Program(program) => program.variables.keys().cloned().collect(),
        Reach::Address(address) => {
            let bearer = address.bearer.iter().map(|_| "Authorization".to_owned());
            bearer.chain(address.headers.keys().cloned()).collect()
        }
    }
}

fn prompt(info: &PromptInfo) -> ServerPrompt {
    let names = |required: bool| {
        let those = info.arguments.iter().filter(move |argument| argument.required == required);
        those.map(|argument| argument.name.clone()).collect()
    };
    let (name, description) = (info.name.clone(), info.description.clone());
    ServerPrompt { name, description, required: names(true), optional: names(false) }
}

fn resource(info: &ResourceInfo) -> ServerResource {
    let ResourceInfo { uri, name, description, .. } = info.clone();
    ServerResource { uri, name, description }
}

/// A log that is read on.
struct FollowedLog {
    path: PathBuf,
    at: u64,
}

impl FollowedLog {
    /// A log, and the last lines of it.
    fn begin(app: &StorelessApp, request: &ReadServerLog) -> Result<(Self, ServerLog), AppError> {
        let ReadServerLog { folder, name, lines } = request;
        let path = Servers::log_file(app.env.data_dir(), name);
        // A server that is left out for now may have printed something before.
        if !is_server_name(name) || !path.exists() {
            Here::shared(app, folder)?.row(name)?;
        }
        let file = app.env.shown(&path);
        let mut log = Self { path, at: 0 };
        let all = log.read().map_err(|error| failed(format!("{file}: {error}")))?;
        let all: Vec<&str> = all.split_inclusive('\n').collect();
        let text = all.iter().skip(all.len().saturating_sub(*lines)).copied().collect();
        Ok((log, ServerLog { file, text }))
    }

    /// What was added since it was last read.
    fn read(&mut self) -> io::Result<String> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        // A log that was full begins anew.
        if file.metadata()?.len() < self.at {
            self.at = 0;
        }
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        self.at += file.read_to_end(&mut bytes)? as u64;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
