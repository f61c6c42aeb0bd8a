//! The tool: its arguments, what each action does to the world, and its run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_proto::{ErrorCode, Risk};
use neco_safety::path::Access;
use neco_safety::world::{Freedom, World};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput, counted};
use neco_workspace::git::GitFacts;
use schemars::JsonSchema;
use serde::Deserialize;

use super::order::{Order, order};
use super::run::run;
use super::{answer, report};

/// What the model is told of where text came from.
pub(super) const SOURCE: &str = "git";
/// How long git may take; a commit runs the hooks of the repository.
pub(super) const LOOKING: Duration = Duration::from_secs(60);
const CHANGING: Duration = Duration::from_secs(300);

/// The daily commands of git.
pub(super) struct Git;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Status,
    Diff,
    Log,
    Blame,
    Show,
    Add,
    Commit,
    Branch,
    Worktree,
}

/// What is to be done with a branch or worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Op {
    List,
    Create,
    Switch,
    Delete,
}

/// Arguments of `git`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GitArgs {
    /// To push, fetch, merge, rebase, reset or amend use bash.
    pub(super) action: Action,
    /// Files or folders, from the workspace.
    #[serde(default)]
    pub(super) paths: Vec<String>,
    /// A commit, branch or range.
    pub(super) rev: Option<String>,
    /// diff: what is staged.
    pub(super) staged: Option<bool>,
    /// log: commits at most; default 20.
    pub(super) limit: Option<u32>,
    /// blame: such as 10-20.
    pub(super) lines: Option<String>,
    /// add: everything; commit: tracked changes too.
    pub(super) all: Option<bool>,
    /// commit: what it says.
    pub(super) message: Option<String>,
    /// branch: its name; worktree: its folder.
    pub(super) name: Option<String>,
    /// branch, worktree: default list.
    pub(super) op: Option<Op>,
}

impl GitArgs {
    fn op(&self) -> Op {
        self.op.unwrap_or(if self.name.is_some() { Op::Create } else { Op::List })
    }

    /// Whether it leaves everything as it is.
    fn only_looks(&self) -> bool {
        match self.action {
            Action::Status | Action::Diff | Action::Log | Action::Blame | Action::Show => true,
            Action::Add | Action::Commit => false,
            Action::Branch | Action::Worktree => self.op() == Op::List,
        }
    }
}

impl Tool for Git {
    type Args = GitArgs;
    const NAME: &'static str = "git";
    const DESCRIPTION: &'static str = include_str!("git.md");
    const TOUCH: SideEffect = SideEffect::Runs;

    fn touch(&self, args: &GitArgs) -> SideEffect {
        // What changes something may run hooks of the repository.
        if args.only_looks() { SideEffect::Reads } else { SideEffect::Runs }
    }

    fn timeout(&self, args: &GitArgs) -> Option<Duration> {
        Some(limit(args) + Duration::from_secs(15))
    }

    fn summary(&self, args: &GitArgs) -> String {
        match order(args, args.op(), true) {
            Ok(order) => report::one_line(&order.line()),
            Err(_) => format!("git {:?}", args.action).to_lowercase(),
        }
    }

    async fn plan(&self, args: &GitArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let (args, prefix) = seen_from_here(args.clone(), ctx).await?;
        let order = order(&args, args.op(), is_whole(&prefix))?;
        let world = Arc::clone(&ctx.world);
        let looked = tokio::task::spawn_blocking(move || paths(world.as_ref(), &args)).await;
        let (paths, because) = looked.map_err(|error| ToolError::failed(error.to_string()))??;
        let leaves = order.leaves_box && ctx.world.processes().is_boxed();
        let because = because.or(leaves.then_some("it runs without the sandbox"));
        let risk = if because.is_some() { Risk::Critical } else { order.risk };
        // Rules about commands are about these too, whoever starts them.
        let freedom = if order.leaves_box { Freedom::Unboxed } else { Freedom::AsConfigured };
        let because = because.map(str::to_owned);
        Ok(Plan { command: Some(order.line()), paths, because, freedom, ..Plan::of(risk) })
    }

    async fn run(&self, args: GitArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (args, prefix) = seen_from_here(args, ctx).await?;
        let order = order(&args, args.op(), is_whole(&prefix))?;
        if args.action == Action::Commit && args.paths.is_empty() && !args.all.unwrap_or(false) && !is_whole(&prefix) {
            nothing_staged_outside(&prefix, ctx).await?;
        }
        let ran = run(&order, limit(&args), ctx).await?;
        if !ran.succeeded {
            return Ok(report::failed(&order, &ran, is_whole(&prefix)));
        }
        match args.action {
            Action::Status => answer::status(&ran, ctx).await,
            Action::Diff => answer::diff(ran, &args, "no changes", ctx).await,
            Action::Show if args.paths.is_empty() => answer::diff(ran, &args, "nothing to show", ctx).await,
            Action::Log | Action::Blame | Action::Show | Action::Branch | Action::Worktree => {
                Ok(answer::text(&order, &ran))
            }
            Action::Add | Action::Commit => answer::after_change(&order, &ran, ctx).await,
        }
    }
}

/// The arguments with paths from the workspace, and where that lies in the repository.
async fn seen_from_here(mut args: GitArgs, ctx: &ToolContext) -> Result<(GitArgs, PathBuf), ToolError> {
    let world = Arc::clone(&ctx.world);
    let looked = tokio::task::spawn_blocking(move || {
        let workspace = world.files().workspace();
        for path in args.paths.iter_mut().filter(|path| path.starts_with('/')) {
            let located = world.files().locate(path.as_str(), Access::Read);
            let below =
                located.ok().and_then(|located| Some(located.path().strip_prefix(workspace).ok()?.to_path_buf()));
            if let Some(below) = below.as_deref().and_then(Path::to_str) {
                *path = if below.is_empty() { ".".to_owned() } else { below.to_owned() };
            }
        }
        let facts = GitFacts::of(workspace);
        let prefix = facts.and_then(|facts| Some(workspace.strip_prefix(facts.root).ok()?.to_path_buf()));
        (args, prefix.unwrap_or_default())
    });
    looked.await.map_err(|error| ToolError::failed(error.to_string()))
}

/// Whether the workspace is all of the repository.
fn is_whole(prefix: &Path) -> bool {
    prefix.as_os_str().is_empty()
}

/// A commit takes along what is staged, be it outside the workspace.
async fn nothing_staged_outside(prefix: &Path, ctx: &ToolContext) -> Result<(), ToolError> {
    let names = run(&Order::staged_names(), LOOKING, ctx).await?;
    let names = String::from_utf8_lossy(&names.raw);
    let outside: Vec<&str> =
        names.split('\0').filter(|name| !name.is_empty() && !Path::new(name).starts_with(prefix)).collect();
    match outside.as_slice() {
        [] => Ok(()),
        outside => Err(ToolError::failed(format!(
            "{} staged outside the workspace, which this commit would take along; give the paths to commit",
            counted(outside.len(), "file is", "files are")
        ))),
    }
}

fn limit(args: &GitArgs) -> Duration {
    if args.only_looks() { LOOKING } else { CHANGING }
}

/// The paths that are named, resolved, and why a person is asked about them.
fn paths(world: &dyn World, args: &GitArgs) -> Result<(Vec<PathBuf>, Option<&'static str>), ToolError> {
    let mut paths = Vec::new();
    let mut because = None;
    let folder = args.name.as_ref().filter(|_| args.action == Action::Worktree && args.op() != Op::List);
    for path in args.paths.iter().chain(folder) {
        let located = world.files().locate(path, if folder.is_some() { Access::Write } else { Access::Read })?;
        because = because.or_else(|| located.sensitive_to_read());
        paths.push(located.path().to_path_buf());
    }
    if paths.is_empty() {
        paths.push(world.files().workspace().to_path_buf());
    }
    Ok((paths, because))
}

/// An argument that is not as it must be.
pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
