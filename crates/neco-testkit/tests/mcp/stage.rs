//! A folder to work in, servers that are the fake one, and somebody who calls their tools.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use neco_config::section::{McpSampling, SandboxSection};
use neco_ext::mcp::{MakeProcesses, McpSetup, Reach, ServerProgram, ServerSettings, ServerState, Servers};
use neco_proto::CallId;
use neco_proto::event::OutputStream;
use neco_safety::secrets::Redactor;
use neco_safety::world::{Files, Processes};
use neco_sandbox::{Ask, LocalNet, LocalWorld, Roots, Sandbox, SandboxSetup, Settings, Spawner, Strength};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Registry, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use secrecy::SecretString;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The fake server.
pub const FAKE: &str = env!("CARGO_BIN_EXE_fake-mcp");

/// What the server is called that most tests have.
pub const SERVER: &str = "x";

/// The variable by which the processes of a stage are known; it holds the path of the record.
const MARK: &str = "FAKE_MARK";

/// How long anything may take: what never comes is a failure and not a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder to work in, and one beside it for what is known of servers.
pub struct Stage {
    /// It is gone with the stage.
    _folder: TempDir,
    /// Everything is in here.
    pub root: PathBuf,
    /// The folder that is worked in.
    pub workspace: PathBuf,
    /// Where what is known of servers is kept.
    pub data_dir: PathBuf,
    /// What the fake server was told, line by line.
    pub record: PathBuf,
}

impl Stage {
    pub fn new() -> Self {
        // A box has a `/tmp` of its own, so that the stage is elsewhere.
        let folder = tempfile::Builder::new().prefix("mcp-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let workspace = root.join("work");
        fs::create_dir(&workspace).unwrap();
        let (data_dir, record) = (root.join("data"), workspace.join("record"));
        Self { _folder: folder, root, workspace, data_dir, record }
    }

    /// The fake server with these arguments, without a box.
    pub fn fake(&self, arguments: &[&str]) -> ServerSettings {
        let recording = ["--record".to_owned(), self.record.display().to_string()];
        self.program(FAKE, arguments.iter().map(|argument| (*argument).to_owned()).chain(recording).collect())
    }

    /// A server that is this program, without a box.
    pub fn program(&self, program: &str, arguments: Vec<String>) -> ServerSettings {
        let mark = SecretString::from(self.record.display().to_string());
        let program = ServerProgram {
            variables: [(MARK.to_owned(), mark)].into(),
            network: false,
            unboxed: true,
            ..ServerProgram::new(program, arguments)
        };
        ServerSettings {
            start_timeout: PATIENCE,
            call_timeout: PATIENCE,
            sampling: McpSampling::Deny,
            ..ServerSettings::new(SERVER, Reach::Program(program))
        }
    }

    /// These servers; none is started.
    pub fn servers(&self, settings: Vec<ServerSettings>) -> Servers {
        self.started_by(spawner(), settings)
    }

    /// One server that was started, so that its tools are there.
    pub async fn learnt(&self, settings: ServerSettings) -> Servers {
        let servers = self.servers(vec![settings]);
        within(servers.learn(SERVER)).await.unwrap();
        servers
    }

    /// One server whose program runs in the strong box; nothing where that can't be had, which is said.
    pub fn boxed(&self, settings: ServerSettings) -> Option<Servers> {
        self.boxed_beside(settings, Vec::new())
    }

    /// The same with folders that the program may read besides.
    pub fn boxed_beside(&self, mut settings: ServerSettings, readable: Vec<PathBuf>) -> Option<Servers> {
        program_of(&mut settings).unboxed = false;
        let bwrap = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].map(PathBuf::from);
        let setup = SandboxSetup {
            settings: Settings::of(&SandboxSection::default(), None),
            launcher: env!("CARGO_BIN_EXE_mcp_box_launcher").into(),
            namespaces: true,
            bwrap: bwrap.into_iter().find(|path| path.is_file()),
            home: None,
            own: Vec::new(),
            state: self.root.join("state"),
            temporary: self.root.clone(),
        };
        let sandbox = Sandbox::probe(setup, Ask::Anew).unwrap();
        if sandbox.report().strength != Strength::Strong {
            skipped(&format!("the strong box can't be had here: {:?}", sandbox.report().why));
            return None;
        }
        // What was built may lie in a home folder, which a box does not show.
        let programs = Path::new(FAKE).parent().unwrap().to_path_buf();
        let readable = readable.into_iter().chain([programs]).collect();
        let roots = Roots { writable: vec![self.workspace.clone()], readable };
        Some(self.started_by(spawner().boxed(&sandbox, roots).unwrap(), vec![settings]))
    }

    fn started_by(&self, spawner: Spawner, settings: Vec<ServerSettings>) -> Servers {
        let spawner: Arc<dyn Processes> = Arc::new(spawner);
        let processes: MakeProcesses = Arc::new(move |_: &ServerProgram| Ok(Arc::clone(&spawner)));
        let (folder, data_dir) = (self.workspace.clone(), self.data_dir.clone());
        let setup = McpSetup { folder, data_dir, processes, redactor: Redactor::default(), logins: Arc::new(()) };
        Servers::new(setup, settings)
    }

    /// What a call is handed: nobody listens and nobody answers.
    pub fn context(&self) -> ToolContext {
        let files = Files::new(&self.workspace, Vec::new()).unwrap();
        ToolContext {
            call_id: CallId::from("call-1"),
            world: Arc::new(LocalWorld { files, spawn: spawner(), net: LocalNet::default() }),
            live: Arc::new(Heard::default()),
            cancel: CancellationToken::new(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(NoSpill),
            max_output: 50_000,
            more_writes: false,
            approved: false,
        }
    }

    /// Calls a tool of the server.
    pub async fn call(&self, servers: &Servers, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        call_with(self.context(), servers, tool, arguments).await
    }

    /// Calls a tool of the server and gives what the model reads.
    pub async fn said(&self, servers: &Servers, tool: &str, arguments: Value) -> String {
        self.call(servers, tool, arguments).await.unwrap().model
    }

    /// The lines of the record.
    pub fn recorded(&self) -> Vec<String> {
        fs::read_to_string(&self.record).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// How often the fake server was started.
    pub fn starts(&self) -> usize {
        self.recorded().iter().filter(|line| line.starts_with("started ")).count()
    }

    /// Waits until such a line is in the record.
    pub async fn until_recorded(&self, what: &str, fits: impl Fn(&str) -> bool) {
        until(what, || self.recorded().iter().any(|line| fits(line))).await;
    }

    /// What is in the log of the server.
    pub fn log(&self) -> String {
        let bytes = fs::read(Servers::log_file(&self.data_dir, SERVER)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until no process of a server is left.
    pub async fn until_none_runs(&self) {
        until("a process is left", || running(&self.record) == 0).await;
    }
}

/// The program of a server.
pub fn program_of(settings: &mut ServerSettings) -> &mut ServerProgram {
    match &mut settings.reach {
        Reach::Program(program) => program,
        Reach::Address(_) => panic!("it is reached by an address"),
    }
}

/// What starts programs; there are secrets in its environment.
fn spawner() -> Spawner {
    let environment = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("MY_API_KEY", "hush"),
        ("LOOKS_PLAIN", "AKIAIOSFODNN7EXAMPLE"),
        ("IS_PLAIN", "visible"),
    ];
    let environment = environment.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Spawner::new(environment.to_vec(), &["*_API_KEY".to_owned()])
}

/// The tool of the server that the agents of a session would have.
pub fn tool(servers: &Servers, name: &str) -> Result<Arc<dyn DynTool>, ToolError> {
    let registry = Registry::default().following(servers.plugged());
    registry.find(&format!("mcp__{SERVER}__{name}")).map(Arc::clone)
}

/// What the tools are called that the agents of a session would have.
pub fn names(servers: &Servers) -> Vec<String> {
    let registry = Registry::default().following(servers.plugged());
    registry.iter().map(|tool| tool.name().to_owned()).collect()
}

/// Calls a tool of the server for somebody in particular.
pub async fn call_with(
    ctx: ToolContext,
    servers: &Servers,
    name: &str,
    arguments: Value,
) -> Result<ToolOutput, ToolError> {
    within(tool(servers, name)?.prepare(arguments)?.run(ctx)).await
}

/// How the server stands.
pub fn state(servers: &Servers) -> ServerState {
    servers.status().remove(0).state
}

/// What of the server is left out.
pub fn left_out(servers: &Servers) -> Vec<String> {
    servers.status().remove(0).left_out
}

/// How many processes of servers with this record there are, with those that they started.
pub fn running(record: &Path) -> usize {
    let path = record.display().to_string();
    let mark = format!("{MARK}={path}");
    let is_ours = |part: &[u8]| part == path.as_bytes() || part == mark.as_bytes();
    let has = |file: PathBuf| fs::read(file).unwrap_or_default().split(|byte| *byte == 0).any(is_ours);
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(|process| has(process.join("cmdline")) || has(process.join("environ"))).count()
}

/// Sends a signal to a process.
pub fn signal(name: &str, pid: &str) {
    let line = format!("kill -s {name} {pid}");
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success(), "{line}");
}

/// Looks again and again until it is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for something that does not hang.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it hangs")
}

/// Says that a box is not checked here. Where everything is to be checked, that is a failure.
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "not checked: {why}");
    eprintln!("skipped: {why}");
}

/// Somebody who listens.
#[derive(Default)]
pub struct Heard(pub Mutex<String>);

impl LiveOutput for Heard {
    fn push(&self, _: OutputStream, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

/// Nothing here is too big.
struct NoSpill;

impl Spill for NoSpill {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(std::future::ready(Err(ToolError::failed("there is no file for it"))))
    }
}
