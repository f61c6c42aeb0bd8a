//! A workspace in a temporary folder, and an agent's tools on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_proto::event::{KnownFile, OutputStream};
use neco_proto::{CallId, Display, ErrorCode};
use neco_safety::command::Place;
use neco_safety::policy::RuleReader;
use neco_safety::world::Files;
use neco_safety::{Policy, Ruling};
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Plan, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use neco_tools::files;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub struct Desk {
    _folder: tempfile::TempDir,
    pub workspace: PathBuf,
    pub outside: PathBuf,
    pub ctx: ToolContext,
    tools: Vec<Arc<dyn DynTool>>,
}

struct Silent;

impl LiveOutput for Silent {
    fn push(&self, _: OutputStream, _: &str) {}
}

impl Spill for Silent {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("file tools bound their own output")) })
    }
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (workspace, outside) = (base.join("work"), base.join("outside"));
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let files = Files::new(&workspace, vec![base.join("spilled")]).unwrap();
        let world = LocalWorld { files, spawn: Spawner::new(Vec::new(), &[]), net: LocalNet::default() };
        let ctx = ToolContext {
            call_id: CallId::from("call-1"),
            world: Arc::new(world),
            live: Arc::new(Silent),
            cancel: CancellationToken::new(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(Silent),
            max_output: 50 * 1024,
            more_writes: false,
            approved: false,
        };
        Self { _folder: folder, workspace, outside, ctx, tools: files::tools() }
    }

    /// The tools of another process, which are told what was known.
    pub fn begin_again(&mut self, known: &[KnownFile]) {
        self.tools = files::tools();
        self.tools.iter().for_each(|tool| tool.recall(known, &self.workspace));
    }

    /// Denies something from now on.
    pub fn close(&mut self, rule: &str) {
        let place = Place::new(&self.workspace);
        let read = RuleReader { place: &place }.flag(Ruling::Deny, rule);
        let files = Files::new(&self.workspace, Vec::new()).unwrap();
        let files = files.with_closed(Policy::new(place, read.rules).closed());
        let world = LocalWorld { files, spawn: Spawner::new(Vec::new(), &[]), net: LocalNet::default() };
        self.ctx.world = Arc::new(world);
    }

    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.workspace.join(path)).unwrap()
    }

    pub fn tool(&self, name: &str) -> Arc<dyn DynTool> {
        Arc::clone(self.tools.iter().find(|tool| tool.name() == name).unwrap())
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.iter()
    }

    pub async fn plan(&self, name: &str, arguments: Value) -> Result<Plan, ToolError> {
        self.tool(name).prepare(arguments)?.plan(&self.ctx).await
    }

    /// Plans and runs, as a scheduler does.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let call = self.tool(name).prepare(arguments)?;
        call.plan(&self.ctx).await?;
        call.run(self.ctx.clone()).await
    }

    pub async fn text(&self, name: &str, arguments: Value) -> String {
        self.call(name, arguments.clone()).await.unwrap_or_else(|error| panic!("{name} {arguments}: {error}")).model
    }

    pub async fn error(&self, name: &str, arguments: Value) -> (ErrorCode, String) {
        match self.call(name, arguments.clone()).await {
            Ok(output) => panic!("{name} {arguments}: {}", output.model),
            Err(error) => (error.code, error.message),
        }
    }

    pub async fn read(&self, path: &str) -> String {
        self.text("read_file", serde_json::json!({ "path": path })).await
    }

    pub fn summary(&self, name: &str, arguments: Value) -> String {
        self.tool(name).prepare(arguments).unwrap().summary()
    }
}

pub fn unified(output: &ToolOutput) -> &str {
    match &output.display {
        Some(Display::Diff { files }) => &files[0].unified,
        other => panic!("{other:?}"),
    }
}

pub fn no_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(!name.to_string_lossy().starts_with(".neco-"), "{name:?}");
    }
}
