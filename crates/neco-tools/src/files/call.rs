//! What the tools on files share: a call is judged when it is planned and again when it runs, and its work is done
//! away from the threads that must not wait.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::KnownFile;
use neco_safety::path::{Access, Located};
use neco_safety::secrets::Redactor;
use neco_safety::world::Files;
use neco_toolkit::tool::erase;
use neco_toolkit::{DynTool, Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::judged::{Judge, Judged, Judgement, Stage};
use super::ledger::Ledger;
use super::{foreign, near};

/// A tool on files, as its author writes it: its work may block.
pub trait FileTool: Send + Sync + 'static {
    /// The arguments; their JSON schema is derived.
    type Args: Clone + DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The name the model calls it by.
    const NAME: &'static str;
    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// What any of its calls does to the world at most.
    const TOUCH: SideEffect = SideEffect::Reads;
    /// Whether the model is told of it.
    const OFFERED: bool = true;
    /// Names that other agents have for its arguments.
    const FOREIGN: &'static [foreign::Names] = &[];
    /// How long a call may take; `None` stands for the configured default.
    const LONGEST: Option<Duration> = None;
    /// Rewrites what other agents' arguments say in another way, after they have our names.
    fn adapt(_arguments: &mut serde_json::Map<String, serde_json::Value>) {}
    /// The call in one line.
    fn summary(args: &Self::Args) -> String;
    /// Looks at what the call would do, without doing it.
    fn plan(&self, args: &Self::Args, call: &FileCall) -> Result<Plan, ToolError>;
    fn run(&self, args: &Self::Args, call: &FileCall) -> Result<ToolOutput, ToolError>;
}

/// What the tools of one agent share: what it knows of files, and what its calls were judged by.
#[derive(Clone, Default)]
pub struct Shared {
    ledger: Arc<Ledger>,
    judged: Arc<Judged>,
}

impl Shared {
    /// A tool of the agent.
    pub fn tool<T: FileTool>(&self, tool: T) -> Arc<dyn DynTool> {
        erase(OnFiles { tool: Arc::new(tool), shared: self.clone() })
    }

    fn call(&self, ctx: &ToolContext, stage: Stage) -> FileCall {
        let judge = Judge::new(&self.judged, ctx.call_id.clone(), stage);
        FileCall { ctx: ctx.clone(), ledger: Arc::clone(&self.ledger), judge }
    }
}

/// What a tool works with at one of the two stages of a call.
pub struct FileCall {
    /// What the call was handed.
    pub ctx: ToolContext,
    /// What the agent knows of files.
    pub ledger: Arc<Ledger>,
    /// What they are for the policy.
    pub judge: Judge,
}

impl FileCall {
    /// The files that it may touch.
    pub fn files(&self) -> &Files {
        self.ctx.world.files()
    }

    /// What the agent is not shown.
    pub fn redactor(&self) -> Redactor {
        self.ctx.spill.redactor()
    }

    /// Fails where the call is to stop.
    pub fn go_on(&self) -> Result<(), ToolError> {
        if self.ctx.cancel.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }

    /// Finds where a path leads that must exist and is to be read, and judges it.
    pub fn existing(&self, path: &str) -> Result<(Located, Judgement), ToolError> {
        let located = self.files().locate(path, Access::Read)?;
        if !self.ctx.world.has(&located) {
            return Err(near::not_found(self.files(), &located));
        }
        let judgement = self.judge.judge(path, &located, Access::Read)?;
        Ok((located, judgement))
    }
}

struct OnFiles<T> {
    tool: Arc<T>,
    shared: Shared,
}

impl<T: FileTool> Tool for OnFiles<T> {
    type Args = T::Args;
    const NAME: &'static str = T::NAME;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const TOUCH: SideEffect = T::TOUCH;

    fn adapt(arguments: &mut serde_json::Value) {
        T::FOREIGN.iter().for_each(|names| foreign::rename(arguments, names));
        if let Some(fields) = arguments.as_object_mut() {
            T::adapt(fields);
        }
    }

    fn is_offered(&self) -> bool {
        T::OFFERED
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.shared.ledger.recall(known, workspace);
    }

    fn timeout(&self, _: &T::Args) -> Option<Duration> {
        T::LONGEST
    }

    fn summary(&self, args: &T::Args) -> String {
        T::summary(args)
    }

    async fn plan(&self, args: &T::Args, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let (tool, args, call) = (Arc::clone(&self.tool), args.clone(), self.shared.call(ctx, Stage::Planning));
        look(ctx, move || tool.plan(&args, &call)).await
    }

    async fn run(&self, args: T::Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (tool, call) = (Arc::clone(&self.tool), self.shared.call(ctx, Stage::Running));
        let work = move || tool.run(&args, &call);
        if T::TOUCH.changes_nothing() { look(ctx, work).await } else { change(work).await }
    }
}

/// Runs work that only looks. When the call is cancelled its result is not waited for; the work
/// itself ends as soon as it sees the same signal.
async fn look<T: Send + 'static>(
    ctx: &ToolContext,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => Err(cancelled()),
        result = change(work) => result,
    }
}

/// Runs work that changes something: it is waited for whatever happens, so that what is reported is what was done.
async fn change<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(ToolError::failed("the tool broke off unexpectedly; nothing more is known")),
    }
}

/// The folder that a call is about; the workspace where it names none.
pub fn folder(path: Option<&str>) -> &str {
    path.filter(|path| !path.is_empty()).unwrap_or(".")
}

/// What a cancelled call says.
pub fn cancelled() -> ToolError {
    ToolError::failed("the call was cancelled")
}
