//! Calls of the web tools.

use std::sync::Arc;

use futures::future::BoxFuture;
use neco_config::section::{ToolsSection, WebSearchSection};
use neco_proto::event::OutputStream;
use neco_proto::{CallId, ErrorCode};
use neco_safety::world::Files;
use neco_sandbox::{LocalNet, LocalWorld, NetSettings, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Plan, SideEffect, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use neco_tools::web;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub struct Bench {
    pub ctx: ToolContext,
    tools: Vec<Arc<dyn DynTool>>,
    _folder: tempfile::TempDir,
}

pub struct Silent;

impl LiveOutput for Silent {
    fn push(&self, _: OutputStream, _: &str) {}
}

impl Spill for Silent {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("web tools bound their own output")) })
    }
}

impl Bench {
    pub fn new(settings: ToolsSection, net: NetSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = LocalWorld {
            files: Files::new(folder.path(), Vec::new()).unwrap(),
            spawn: Spawner::new(Vec::new(), &[]),
            net: LocalNet::new(net),
        };
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
        Self { ctx, tools: web::tools(&settings), _folder: folder }
    }

    /// One that may reach this machine.
    pub fn open() -> Self {
        let private_hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        Self::new(ToolsSection::default(), NetSettings { private_hosts, ..NetSettings::default() })
    }

    /// One with a search engine and a key.
    pub fn search(settings: WebSearchSection, key: Option<&str>) -> Self {
        let keys = key.map(|key| (web::SEARCH_KEY.to_owned(), key.to_owned().into())).into_iter().collect();
        let settings = ToolsSection { web_search: settings, ..ToolsSection::default() };
        Self::new(settings, NetSettings { keys, ..NetSettings::default() })
    }

    pub fn tool(&self, name: &str) -> Arc<dyn DynTool> {
        Arc::clone(self.tools.iter().find(|tool| tool.name() == name).unwrap())
    }

    /// Planned, then run, as the scheduler does.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let prepared = self.tool(tool).prepare(arguments)?;
        assert_eq!(prepared.touch(), SideEffect::Network);
        prepared.plan(&self.ctx).await?;
        prepared.run(self.ctx.clone()).await
    }

    pub async fn plan(&self, tool: &str, arguments: Value) -> Result<Plan, ToolError> {
        self.tool(tool).prepare(arguments)?.plan(&self.ctx).await
    }

    pub async fn fails(&self, tool: &str, arguments: Value, code: ErrorCode, words: &str) {
        let error = self.call(tool, arguments.clone()).await.unwrap_err();
        assert!(error.code == code && error.message.contains(words), "{arguments}: {:?} {}", error.code, error.message);
    }
}

/// What the model gets as data, and what as our own words.
pub fn data(output: &ToolOutput) -> (&str, String) {
    let part = output.outside.as_ref().map_or(0..0, |outside| outside.part.clone());
    (&output.model[part.clone()], format!("{}{}", &output.model[..part.start], &output.model[part.end..]))
}
