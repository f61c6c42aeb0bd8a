//! `diagnostics`: what the project's own checkers say.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_proto::{ErrorCode, Risk};
use neco_safety::path::Access;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::checker::{Check, Checkers, quoted};
use super::find::{self, Found};
use super::report::report;
use super::run::run;

/// What the scheduler's clock leaves us beyond our own, so that it is never first.
const SLACK: Duration = Duration::from_secs(15);

/// The most checkers that one call can run; for the clock.
const MOST_CHECKS: u32 = 4;

/// Arguments of `diagnostics`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiagnosticsArgs {
    /// A file or folder; default: the workspace. For a file only its own problems are listed.
    path: Option<String>,
    /// Only this checker, such as cargo, tsc, eslint, ruff or go.
    checker: Option<String>,
}

pub(super) struct Diagnostics {
    checkers: Arc<Checkers>,
}

impl Diagnostics {
    /// The tool of one agent.
    pub(super) fn new(checkers: Arc<Checkers>) -> Self {
        Self { checkers }
    }

    async fn find(&self, args: &DiagnosticsArgs, ctx: &ToolContext) -> Result<(PathBuf, Found), ToolError> {
        let (checkers, world, args) = (Arc::clone(&self.checkers), Arc::clone(&ctx.world), args.clone());
        let looking = tokio::task::spawn_blocking(move || {
            // What a checker may change must be open for changes.
            let located = world.files().locate(args.path.as_deref().unwrap_or("."), Access::Write)?;
            if !located.path().exists() {
                let message = format!("there is no {}", located.shown());
                return Err(ToolError::new(ErrorCode::FileNotFound, message));
            }
            let path = located.path().to_path_buf();
            let mut found = find::find(&checkers, world.as_ref(), &path, args.checker.as_deref())?;
            found.left_out = found.checks.split_off(found.checks.len().min(MOST_CHECKS as usize));
            match (found.checks.is_empty(), found.missing.first()) {
                (true, Some(missing)) => Err(missing.clone()),
                (true, None) => Err(find::none(&checkers, &path)),
                (false, _) => Ok((path, found)),
            }
        });
        looking.await.map_err(|error| ToolError::failed(error.to_string()))?
    }
}

impl Tool for Diagnostics {
    type Args = DiagnosticsArgs;
    const NAME: &'static str = "diagnostics";
    const DESCRIPTION: &'static str = include_str!("diagnostics.txt");
    const TOUCH: SideEffect = SideEffect::Runs;

    /// Others name several files: what holds all of them is looked at.
    fn adapt(arguments: &mut serde_json::Value) {
        let Some(fields) = arguments.as_object_mut().filter(|fields| !fields.contains_key("path")) else { return };
        let Some(serde_json::Value::Array(paths)) = fields.get("paths") else { return };
        let Some(paths) = paths.iter().map(|path| path.as_str().map(Path::new)).collect::<Option<Vec<_>>>() else {
            return;
        };
        let holder = |first: &Path| {
            first.ancestors().find(|holder| paths.iter().all(|path| path.starts_with(holder))).map(Path::to_path_buf)
        };
        let path = paths.first().copied().and_then(holder).filter(|path| !path.as_os_str().is_empty());
        fields.remove("paths");
        if let Some(path) = path {
            fields.insert("path".to_owned(), path.to_string_lossy().into());
        }
    }

    fn timeout(&self, _args: &DiagnosticsArgs) -> Option<Duration> {
        Some(self.checkers.time * MOST_CHECKS + SLACK)
    }

    fn summary(&self, args: &DiagnosticsArgs) -> String {
        let what = args.path.as_deref().unwrap_or("the workspace");
        match &args.checker {
            Some(checker) => format!("Check {what} with {checker}"),
            None => format!("Check {what}"),
        }
    }

    async fn plan(&self, args: &DiagnosticsArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        let (_, found) = self.find(args, ctx).await?;
        let (command, folder) = line(&found.checks, ctx.world.files().workspace());
        // Nothing in the arguments tells the person what is run.
        let because = Some(format!("it runs `{command}`"));
        // What the command itself could do is for the policy to find out.
        Ok(Plan { command: Some(command), folder: Some(folder), because, ..Plan::of(Risk::Low) })
    }

    async fn run(&self, args: DiagnosticsArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (path, found) = self.find(&args, ctx).await?;
        let mut ran = Vec::new();
        for check in &found.checks {
            ran.push(run(check, self.checkers.time, ctx).await?);
        }
        let missing = found.missing.iter().map(|error| error.message.clone());
        let left_out = left_out(&found.left_out, ctx.world.files().workspace());
        let notes: Vec<String> =
            left_out.into_iter().chain(missing).chain(self.checkers.mistakes.iter().cloned()).collect();
        let only = path.is_file().then_some(path.as_path());
        Ok(report(&ran, &notes, ctx.world.files().workspace(), only))
    }
}

/// What is said about checks that were not run.
fn left_out(checks: &[Check], workspace: &Path) -> Option<String> {
    const NAMED: usize = 8;
    let folder = |check: &Check| match check.folder.strip_prefix(workspace) {
        Ok(below) if below.as_os_str().is_empty() => "the workspace".to_owned(),
        Ok(below) => below.display().to_string(),
        Err(_) => check.folder.display().to_string(),
    };
    let mut names: Vec<String> =
        checks.iter().take(NAMED).map(|check| format!("{} in {}", check.name, folder(check))).collect();
    if checks.len() > NAMED {
        names.push(format!("{} more", checks.len() - NAMED));
    }
    let names = names.join(", ");
    (!checks.is_empty())
        .then(|| format!("not run, as one call runs {MOST_CHECKS} checks at most: {names}; give path to check there"))
}

/// What is run as one line, and the folder it starts in.
fn line(checks: &[Check], workspace: &Path) -> (String, PathBuf) {
    let folder = checks.first().map_or(workspace, |check| &check.folder);
    if checks.iter().all(|check| check.folder == folder) {
        let lines: Vec<&str> = checks.iter().map(|check| check.line.as_str()).collect();
        return (lines.join("; "), folder.to_path_buf());
    }
    let of = |check: &Check| format!("cd {} && {}", quoted(&check.folder.to_string_lossy()), check.line);
    (checks.iter().map(of).collect::<Vec<_>>().join("; "), workspace.to_path_buf())
}
