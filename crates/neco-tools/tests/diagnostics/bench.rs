//! A workspace, and the tools on it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_config::section::{CheckerSection, DiagnosticsSection, SandboxSection, ToolsSection};
use neco_proto::CallId;
use neco_proto::event::OutputStream;
use neco_safety::world::Files;
use neco_sandbox::{Ask, LocalNet, LocalWorld, Roots, Sandbox, SandboxSetup, Settings, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Plan, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use neco_tools::{diagnostics, files};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub struct Bench {
    pub workspace: PathBuf,
    pub ctx: ToolContext,
    pub tools: Vec<Arc<dyn DynTool>>,
    _folder: tempfile::TempDir,
}

struct Silent;

impl LiveOutput for Silent {
    fn push(&self, _: OutputStream, _: &str) {}
}

impl Spill for Silent {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("checkers bound their own output")) })
    }
}

/// Bubblewrap, where it is installed.
pub const BWRAP: &str = "/usr/bin/bwrap";

/// Settings with one checker of the user's own.
pub fn one_checker(command: &str, pattern: Option<&str>) -> DiagnosticsSection {
    let checker = CheckerSection {
        command: command.to_owned(),
        pattern: pattern.map(str::to_owned),
        ..CheckerSection::default()
    };
    DiagnosticsSection { checkers: [("mine".to_owned(), checker)].into(), ..DiagnosticsSection::default() }
}

impl Bench {
    pub fn new(section: DiagnosticsSection) -> Self {
        Self::with(section, &[], |spawner, _, _| spawner)
    }

    /// One whose checkers find programs in these folders too.
    pub fn with_programs(section: DiagnosticsSection, programs: &[PathBuf]) -> Self {
        Self::with(section, programs, |spawner, _, _| spawner)
    }

    /// One whose checkers run in a box.
    pub fn boxed(section: DiagnosticsSection) -> Self {
        Self::with(section, &[], |spawner, folder, workspace| {
            let setup = SandboxSetup {
                settings: Settings::of(&SandboxSection::default(), None),
                launcher: env!("CARGO_BIN_EXE_box_launcher").into(),
                namespaces: true,
                bwrap: Some(BWRAP.into()),
                home: None,
                own: Vec::new(),
                state: folder.join("state"),
                temporary: folder.to_path_buf(),
            };
            let sandbox = Sandbox::probe(setup, Ask::Anew).unwrap();
            spawner.boxed(&sandbox, Roots { writable: vec![workspace.to_path_buf()], readable: Vec::new() }).unwrap()
        })
    }

    fn with(
        section: DiagnosticsSection,
        programs: &[PathBuf],
        boxed: impl FnOnce(Spawner, &Path, &Path) -> Spawner,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let workspace = base.join("work");
        fs::create_dir(&workspace).unwrap();
        let spawn = boxed(Spawner::new(environment(programs), &[]), &base, &workspace);
        let world = LocalWorld { files: Files::new(&workspace, Vec::new()).unwrap(), spawn, net: LocalNet::default() };
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
        let settings = ToolsSection { diagnostics: section, ..ToolsSection::default() };
        let mut tools = diagnostics::after_edits(files::tools(), &settings);
        tools.extend(diagnostics::tools(&settings));
        Self { workspace, ctx, tools, _folder: folder }
    }

    pub fn put(&self, path: &str, content: &str) {
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

    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        self.call_with(name, arguments, self.ctx.clone()).await
    }

    pub async fn call_with(&self, name: &str, arguments: Value, ctx: ToolContext) -> Result<ToolOutput, ToolError> {
        let prepared = self.tool(name).prepare(arguments)?;
        prepared.plan(&ctx).await?;
        prepared.run(ctx).await
    }

    /// What checkers said of a path, as the model gets it.
    pub async fn check(&self, arguments: Value) -> ToolOutput {
        self.call("diagnostics", arguments).await.unwrap()
    }
}

/// What checkers need of ours.
fn environment(programs: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.iter().cloned().chain(std::env::split_paths(&own))).unwrap();
    let kept = ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let kept = kept.iter().filter_map(|name| std::env::var_os(name).map(|value| (OsString::from(name), value)));
    kept.chain([(OsString::from("PATH"), path)]).collect()
}

/// The part that is data.
pub fn data(output: &ToolOutput) -> &str {
    output.outside.as_ref().map_or("", |outside| &output.model[outside.part.clone()])
}
