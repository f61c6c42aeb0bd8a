//! A workspace in a temporary folder, and the tools on its index.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use neco_proto::event::OutputStream;
use neco_proto::{CallId, ErrorCode};
use neco_safety::world::Files;
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Plan, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use neco_tools::code::{self, Indexes};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub struct Desk {
    _folder: tempfile::TempDir,
    pub workspace: PathBuf,
    pub indexes: PathBuf,
    pub ctx: ToolContext,
    pub heard: Arc<Heard>,
    tools: Vec<Arc<dyn DynTool>>,
}

#[derive(Default)]
pub struct Heard(pub Mutex<String>);

impl LiveOutput for Heard {
    fn push(&self, _: OutputStream, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

impl Spill for Heard {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("these tools bound their own output")) })
    }
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (workspace, indexes) = (base.join("work"), base.join("data/index"));
        fs::create_dir_all(&workspace).unwrap();
        let files = Files::new(&workspace, vec![base.join("spilled")]).unwrap();
        let heard = Arc::new(Heard::default());
        let ctx = ToolContext {
            call_id: CallId::from("call-1"),
            world: Arc::new(LocalWorld { files, spawn: Spawner::new(Vec::new(), &[]), net: LocalNet::default() }),
            live: heard.clone(),
            cancel: CancellationToken::new(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: heard.clone(),
            max_output: 50 * 1024,
            more_writes: false,
            approved: false,
        };
        let tools = code::tools(&Arc::new(Indexes::new(indexes.clone())));
        Self { _folder: folder, workspace, indexes, ctx, heard, tools }
    }

    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn tool(&self, name: &str) -> Arc<dyn DynTool> {
        Arc::clone(self.tools.iter().find(|tool| tool.name() == name).unwrap())
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

    pub fn summary(&self, name: &str, arguments: Value) -> String {
        self.tool(name).prepare(arguments).unwrap().summary()
    }
}
