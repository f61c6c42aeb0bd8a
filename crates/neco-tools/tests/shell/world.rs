//! A world for the tools: a workspace, an environment with secrets, and someone who listens.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use neco_config::section::{SandboxSection, ToolsSection};
use neco_proto::CallId;
use neco_proto::event::OutputStream;
use neco_safety::command::Place;
use neco_safety::policy::{Closed, RuleReader};
use neco_safety::world::Files;
use neco_safety::{Policy, Ruling};
use neco_sandbox::{Ask, LocalNet, LocalWorld, Roots, Sandbox, SandboxSetup, Settings, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Plan, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use neco_tools::shell;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Everything a test needs; dropping it drops the tools.
pub struct Bench {
    pub folder: TempDir,
    pub tools: Vec<Arc<dyn DynTool>>,
    pub ctx: ToolContext,
    pub heard: Arc<Heard>,
}

#[derive(Default)]
pub struct Heard(pub Mutex<String>);

impl LiveOutput for Heard {
    fn push(&self, _stream: OutputStream, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

struct FolderSpill(PathBuf);

struct OpenSpill {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Spill for FolderSpill {
    fn open(&self, call_id: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        let path = self.0.join(call_id.to_string());
        Box::pin(async move { Ok(Box::new(OpenSpill { path, bytes: Vec::new() }) as Box<dyn SpillFile>) })
    }
}

impl SpillFile for OpenSpill {
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
        self.bytes.extend_from_slice(bytes);
        Box::pin(async { Ok(()) })
    }

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<String, ToolError>> {
        std::fs::write(&self.path, &self.bytes).unwrap();
        Box::pin(async move { Ok(self.path.display().to_string()) })
    }
}

pub fn settings() -> ToolsSection {
    ToolsSection {
        command_timeout: 60.0,
        max_command_timeout: 90.0,
        shell: "bash".to_owned(),
        max_output_bytes: 50_000,
        ..ToolsSection::default()
    }
}

pub fn bench() -> Bench {
    bench_with(&settings())
}

pub fn bench_with(settings: &ToolsSection) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    let environment = vec![
        pair("PATH", "/usr/local/bin:/usr/bin:/bin"),
        pair("TMPDIR", folder.path().join("tmp").to_str().unwrap()),
        pair("MY_API_KEY", "hush"),
        pair("OTHER", "AKIAIOSFODNN7EXAMPLE"),
        pair("PLAIN", "visible"),
    ];
    let heard = Arc::new(Heard::default());
    let ctx = ToolContext {
        call_id: CallId::from("call-1"),
        world: Arc::new(LocalWorld {
            files: Files::new(&workspace, Vec::new()).unwrap(),
            spawn: boxed_if_told(Spawner::new(environment, &["*_API_KEY".to_owned()]), folder.path(), &workspace),
            net: LocalNet::default(),
        }),
        live: heard.clone(),
        cancel: CancellationToken::new(),
        person: Arc::new(()),
        model: Arc::new(()),
        background: ToBackground::default(),
        spill: Arc::new(FolderSpill(folder.path().to_path_buf())),
        max_output: settings.max_output_bytes,
        more_writes: false,
        approved: false,
    };
    Bench { tools: shell::tools(settings), folder, ctx, heard }
}

/// Set for a run of all these tests in a box.
pub const BOXED: &str = "NECO_TEST_BOXED";

/// The launcher of boxes, which is a program of this crate.
pub const LAUNCHER: &str = env!("CARGO_BIN_EXE_box_launcher");

/// Bubblewrap, where it is installed.
pub const BWRAP: &str = "/usr/bin/bwrap";

/// Whether the commands of this process run in a box.
pub fn is_boxed() -> bool {
    std::env::var_os(BOXED).is_some()
}

/// How the name of a command's terminal begins.
pub fn terminal_name() -> &'static str {
    if is_boxed() { "/dev/console" } else { "/dev/pts/" }
}

fn boxed_if_told(spawner: Spawner, folder: &Path, workspace: &Path) -> Spawner {
    if !is_boxed() {
        return spawner;
    }
    let setup = SandboxSetup {
        settings: Settings::of(&SandboxSection::default(), None),
        launcher: LAUNCHER.into(),
        namespaces: true,
        bwrap: Some(BWRAP.into()),
        home: None,
        own: Vec::new(),
        state: folder.join("state"),
        temporary: folder.to_path_buf(),
    };
    let sandbox = Sandbox::probe(setup, Ask::Anew).unwrap();
    spawner.boxed(&sandbox, Roots { writable: vec![workspace.to_path_buf()], readable: Vec::new() }).unwrap()
}

impl Bench {
    pub fn workspace(&self) -> PathBuf {
        self.ctx.world.files().workspace().to_path_buf()
    }

    /// The same tools in a folder of the workspace, outside any box.
    pub fn in_folder(&self, name: &str) -> Self {
        let files = Files::new(&self.workspace().join(name), Vec::new()).unwrap();
        let environment = vec![(OsString::from("PATH"), OsString::from("/usr/local/bin:/usr/bin:/bin"))];
        self.with_world(files, Spawner::new(environment, &[]))
    }

    /// The same with a rule that denies, outside any box.
    pub fn closing(self, rule: &str) -> Self {
        let files = Files::new(&self.workspace(), Vec::new()).unwrap().with_closed(self.closed_by(rule));
        let with = self.with_world(files, Spawner::new(vec![("PATH".into(), "/usr/bin:/bin".into())], &[]));
        Self { folder: self.folder, ..with }
    }

    /// The same with a rule that denies, in a box if that was told.
    pub fn closing_in_box(self, rule: &str) -> Self {
        let closed = self.closed_by(rule);
        let of_box = self.folder.path().join("of-box");
        std::fs::create_dir(&of_box).unwrap();
        let spawner = Spawner::new(vec![("PATH".into(), "/usr/bin:/bin".into())], &[]);
        let spawner = boxed_if_told(spawner, &of_box, &self.workspace()).closing(&closed);
        let files = Files::new(&self.workspace(), Vec::new()).unwrap().with_closed(closed);
        let with = self.with_world(files, spawner);
        Self { folder: self.folder, ..with }
    }

    fn closed_by(&self, rule: &str) -> Closed {
        let place = Place::new(self.workspace());
        let read = RuleReader { place: &place }.flag(Ruling::Deny, rule);
        assert_eq!(read.problems, []);
        Policy::new(place, read.rules).closed()
    }

    fn with_world(&self, files: Files, spawn: Spawner) -> Self {
        let world = Arc::new(LocalWorld { files, spawn, net: LocalNet::default() });
        Self {
            folder: tempfile::tempdir().unwrap(),
            tools: self.tools.clone(),
            ctx: ToolContext { world, ..self.ctx.clone() },
            heard: Arc::clone(&self.heard),
        }
    }

    pub fn tool(&self, name: &str) -> Arc<dyn DynTool> {
        Arc::clone(self.tools.iter().find(|tool| tool.name() == name).unwrap())
    }

    pub async fn plan(&self, name: &str, arguments: Value) -> Result<Plan, ToolError> {
        self.tool(name).prepare(arguments)?.plan(&self.ctx).await
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let call = self.tool(name).prepare(arguments)?;
        call.plan(&self.ctx).await?;
        call.run(self.ctx.clone()).await
    }

    /// Runs a command and gives what the model reads.
    pub async fn bash(&self, command: &str) -> String {
        self.call("bash", serde_json::json!({ "command": command })).await.unwrap().model
    }
}

/// Waits for something that happens soon, without counting on when.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds that no other process sleeps for.
pub fn unique_sleep(number: u32) -> String {
    format!("7{:07}.{number}", std::process::id())
}

/// How many processes have this argument.
pub fn with_argument(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let cmdlines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
    cmdlines.filter(|cmdline| cmdline.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())).count()
}

/// The zombies among our children whose name is this.
pub fn zombies(name: &str) -> usize {
    let is_ours = |process: &Path| -> Option<bool> {
        let stat = std::fs::read_to_string(process.join("stat")).ok()?;
        let (front, rest) = stat.rsplit_once(") ")?;
        let parent = rest.split(' ').nth(1)?.parse::<u32>().ok()?;
        Some(front.ends_with(&format!("({name}")) && rest.starts_with('Z') && parent == std::process::id())
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| is_ours(&entry.path()) == Some(true)).count()
}
