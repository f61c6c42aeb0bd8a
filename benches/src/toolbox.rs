//! The built-in tools, called in process: without a model, a loop, a policy or a store.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use neco_config::section::ToolsSection;
use neco_proto::CallId;
use neco_proto::event::OutputStream;
use neco_safety::world::Files;
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_toolkit::bound::{Spill, SpillFile};
use neco_toolkit::{
    LiveOutput, PluggedTools, PreparedCall, Registry, ToBackground, ToolContext, ToolError, ToolOutput,
};
use neco_tools::code::Indexes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The built-in tools of one agent in one workspace.
pub struct Toolbox {
    registry: Registry,
    context: ToolContext,
    _scratch: Option<tempfile::TempDir>,
}

impl Toolbox {
    /// Tools that work in `workspace`.
    ///
    /// # Errors
    /// When it is no folder.
    pub fn new(workspace: &Path) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir()?;
        let toolbox = Self::with_indexes(workspace, scratch.path())?;
        Ok(Self { _scratch: Some(scratch), ..toolbox })
    }

    /// The same, with indexes that are kept below a folder.
    ///
    /// # Errors
    /// When it is no folder.
    pub fn with_indexes(workspace: &Path, indexes: &Path) -> anyhow::Result<Self> {
        let settings = ToolsSection {
            timeout: 30.0,
            command_timeout: 120.0,
            max_command_timeout: 600.0,
            max_output_bytes: 51_200,
            shell: "bash".to_owned(),
            ..ToolsSection::default()
        };
        let files = Files::new(workspace, Vec::new()).context("the workspace can't be opened")?;
        let world = LocalWorld { files, spawn: Spawner::new(Vec::new(), &[]), net: LocalNet::default() };
        let context = ToolContext {
            call_id: CallId::from("bench"),
            world: Arc::new(world),
            live: Arc::new(Unheard),
            cancel: CancellationToken::new(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(Nowhere),
            max_output: settings.max_output_bytes,
            more_writes: false,
            approved: false,
        };
        let shared = Arc::new(Indexes::new(indexes.to_owned()));
        Ok(Self { registry: neco_tools::builtin::registry(&settings, &shared), context, _scratch: None })
    }

    /// The same with the tools that are plugged in here.
    #[must_use]
    pub fn following(self, plugged: &PluggedTools) -> Self {
        Self { registry: self.registry.following(plugged), ..self }
    }

    /// Looks at what a call would do and does it, as in a session.
    ///
    /// # Errors
    /// What the tool says.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let call = self.prepare(tool, arguments)?;
        call.plan(&self.context).await?;
        call.run(self.context.clone()).await
    }

    /// Looks at what a call would do, and does not do it.
    ///
    /// # Errors
    /// What the tool says.
    pub async fn plan(&self, tool: &str, arguments: Value) -> Result<(), ToolError> {
        self.prepare(tool, arguments)?.plan(&self.context).await.map(drop)
    }

    fn prepare(&self, tool: &str, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        Arc::clone(self.registry.find(tool)?).prepare(arguments)
    }
}

struct Unheard;

impl LiveOutput for Unheard {
    fn push(&self, _: OutputStream, _: &str) {}
}

/// No benchmark makes an output that is too big; one that does is to be seen.
struct Nowhere;

impl Spill for Nowhere {
    fn open(&self, _: &CallId) -> futures::future::BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("the output is too big for a benchmark")) })
    }
}
