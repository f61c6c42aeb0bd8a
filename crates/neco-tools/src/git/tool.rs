//! The tool: its arguments, what each action does to the world, and its run.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::{Display, ErrorCode, Risk};
use neco_safety::path::Access;
use neco_safety::world::World;
use neco_toolkit::{Plan, Tool, ToolContext, ToolError, ToolOutput, Touch};
use schemars::JsonSchema;
use serde::Deserialize;

use super::order::{Order, order};
use super::run::{Ran, run};
use super::{diffs, status, words};

/// What the model is told of where text came from.
const SOURCE: &str = "git";
/// How long git may take; a commit runs the hooks of the repository.
const LOOKING: Duration = Duration::from_secs(60);
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
    const TOUCH: Touch = Touch::Runs;

    fn touch(&self, args: &GitArgs) -> Touch {
        // What changes something may run hooks of the repository.
        if args.only_looks() { Touch::Reads } else { Touch::Runs }
    }

    fn timeout(&self, args: &GitArgs) -> Option<Duration> {
        Some(limit(args) + Duration::from_secs(15))
    }

    fn summary(&self, args: &GitArgs) -> String {
        match order(args, args.op()) {
            Ok(order) => words::one_line(&order.line()),
            Err(_) => "Run git".to_owned(),
        }
    }

    async fn plan(&self, args: &GitArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let order = order(args, args.op())?;
        let (world, args) = (Arc::clone(&ctx.world), args.clone());
        let looked = tokio::task::spawn_blocking(move || paths(&world, &args)).await;
        let (paths, because) = looked.map_err(|error| ToolError::failed(error.to_string()))??;
        let leaves = order.leaves_box && ctx.world.spawn.is_boxed();
        let because = because.or(leaves.then_some("it runs without the sandbox"));
        let risk = if because.is_some() { Risk::Critical } else { order.risk };
        let command = order.changes.then(|| order.line());
        Ok(Plan { command, paths, because: because.map(str::to_owned), ..Plan::of(risk) })
    }

    async fn run(&self, args: GitArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let order = order(&args, args.op())?;
        let ran = run(&order, limit(&args), ctx).await?;
        if !ran.succeeded {
            return Err(words::failed(&order, &ran));
        }
        match args.action {
            Action::Status => Ok(status_output(&ran)),
            Action::Diff => Ok(diff_output(&shown(ran, &args, ctx).await?, "no changes")),
            Action::Show if args.paths.is_empty() => Ok(diff_output(&shown(ran, &args, ctx).await?, "nothing to show")),
            Action::Log | Action::Blame | Action::Show | Action::Branch | Action::Worktree => {
                Ok(text_output(&order, &ran))
            }
            Action::Add | Action::Commit => after_change(&order, &ran, ctx).await,
        }
    }
}

fn limit(args: &GitArgs) -> Duration {
    if args.only_looks() { LOOKING } else { CHANGING }
}

/// The paths that are named, resolved, and why a person is asked about them.
fn paths(world: &World, args: &GitArgs) -> Result<(Vec<PathBuf>, Option<&'static str>), ToolError> {
    let mut paths = Vec::new();
    let mut because = None;
    let folder = args.name.as_ref().filter(|_| args.action == Action::Worktree && args.op() != Op::List);
    for path in args.paths.iter().chain(folder) {
        let located = world.files.locate(path, if folder.is_some() { Access::Write } else { Access::Read })?;
        because = because.or_else(|| located.sensitive_to_read());
        paths.push(located.path().to_path_buf());
    }
    if paths.is_empty() {
        paths.push(world.files.workspace().to_path_buf());
    }
    Ok((paths, because))
}

/// What git printed without sensitive files that nobody was asked about.
async fn shown(ran: Ran, args: &GitArgs, ctx: &ToolContext) -> Result<Ran, ToolError> {
    if !args.paths.is_empty() {
        return Ok(ran);
    }
    let world = Arc::clone(&ctx.world);
    let looked = tokio::task::spawn_blocking(move || {
        let is_sensitive =
            |name: &str| world.files.locate(name, Access::Read).is_ok_and(|path| path.sensitive_to_read().is_some());
        let (mut text, mut out) = diffs::without(&ran.text, is_sensitive);
        out.dedup();
        for name in out {
            let _ = writeln!(text, "({name} is left out, because it is sensitive; name it in paths to ask for it)");
        }
        Ran { text, ..ran }
    });
    looked.await.map_err(|error| ToolError::failed(error.to_string()))
}

fn status_output(ran: &Ran) -> ToolOutput {
    let text = status::told(&ran.text);
    let items: Vec<String> = text.lines().map(str::to_owned).collect();
    let total = items.len() as u64;
    let end = text.len();
    let display = Display::List { title: "git status".to_owned(), items, total };
    ToolOutput::text(text).outside(..end, SOURCE).with_display(display)
}

fn diff_output(ran: &Ran, nothing: &str) -> ToolOutput {
    if ran.text.trim().is_empty() {
        return ToolOutput::text(format!("({nothing})"));
    }
    let files = diffs::split(&ran.text);
    let (added, removed) =
        files.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let count = files.len();
    let head = match count {
        0 => String::new(),
        1 => format!("(1 file, +{added} −{removed})\n"),
        _ => format!("({count} files, +{added} −{removed})\n"),
    };
    let start = head.len();
    let output = ToolOutput::text(head + ran.text.trim_end()).outside(start.., SOURCE);
    if count == 0 { output } else { output.with_display(Display::Diff { files }) }
}

fn text_output(order: &Order, ran: &Ran) -> ToolOutput {
    let text = ran.text.trim_end();
    let text = if text.is_empty() { order.silence.to_owned() } else { text.to_owned() };
    let end = text.len();
    let display = Display::Terminal { command: order.line(), tail: text.clone(), exit_code: Some(0) };
    ToolOutput::text(text).outside(..end, SOURCE).with_display(display)
}

/// What git said, and how things stand now.
async fn after_change(order: &Order, ran: &Ran, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let now = run(&Order::status(), LOOKING, ctx).await?;
    let mut text = ran.text.trim_end().to_owned();
    if now.succeeded {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&status::told(&now.text));
    }
    let ran = Ran { text, ..ran.clone() };
    Ok(text_output(order, &ran))
}

/// An argument that is not as it must be.
pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
