//! What a person runs with `!`: the same tool, policy and box as the agent's commands have. What the rules would
//! ask about is not asked, as the person wrote it; what they deny is denied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_agent::scheduler::action;
use neco_config::{Config, Env};
use neco_proto::app::AppError;
use neco_proto::event::OutputStream;
use neco_proto::{ApprovalMode, CallId, Display, Mode};
use neco_safety::path::sensitive::holds_secrets;
use neco_safety::{Policy, Ruling, Who, World};
use neco_sandbox::{Report, Sandbox, Strength};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{LiveOutput, Plan, PreparedCall, Registry, Spill, ToBackground, ToolContext, ToolError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::error::failed;
use crate::services;
use crate::workspace::FolderState;
use crate::workspace::rules::{self, RuleFlags};

/// Where a command's output goes, piece by piece.
pub type Printed = Arc<dyn Fn(String) + Send + Sync>;

/// The tool that runs commands.
const TOOL: &str = "bash";

/// The folder of a project's settings: where there is none, an empty one is seen.
const OWN_FOLDER: &str = ".neco";

/// Programs that print names of files.
const LISTERS: &[&str] = &["ls", "find", "tree", "fd"];

/// Bytes of output that are kept together; all of it is shown as it comes.
const MOST_OUTPUT: usize = 64 * 1024;

/// What a command came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code, if it has one.
    pub code: Option<i32>,
    /// The folder that the commands after it run in, where it changed that.
    pub folder: Option<PathBuf>,
    /// Whether it listed names of what its box hides, or stands in for.
    pub masked: bool,
}

/// Runs what a person writes, in one folder.
pub struct PersonsShell {
    registry: Registry,
    world: Arc<dyn World>,
    policy: Policy,
    report: Report,
    /// Seconds until a command is killed.
    timeout: f64,
}

impl PersonsShell {
    /// For commands in `folder`. Looks at the machine: not for a thread that must not wait.
    ///
    /// # Errors
    /// When the folder can't be used, the rules can't be understood, or there is less of a sandbox than required.
    pub fn open(folder: &Path, flags: &RuleFlags, state: &FolderState, env: &Env) -> Result<Self, AppError> {
        let policy = rules::load(flags, env, folder, &state.loaded, &state.plugged)?.policy;
        Self::with(folder, policy, &state.sandbox, &state.loaded.config, env)
    }

    /// For commands in `folder` by these rules and in this sandbox. Looks at the machine.
    pub(crate) fn with(
        folder: &Path,
        policy: Policy,
        sandbox: &Sandbox,
        config: &Config,
        env: &Env,
    ) -> Result<Self, AppError> {
        let world = services::world(folder, &policy, sandbox, config, env)
            .map_err(|error| failed(format!("{}: {error}", folder.display())))?;
        Ok(Self {
            registry: services::all_tools(&config.tools, &services::indexes(env.data_dir())),
            world: Arc::new(world),
            policy,
            report: sandbox.report().clone(),
            timeout: config.tools.max_command_timeout,
        })
    }

    /// Runs a command line. Whoever drops this stops the command.
    ///
    /// # Errors
    /// When the rules deny it, or it can't be run.
    pub async fn run(&self, line: &str, output: Printed) -> Result<Ran, AppError> {
        self.run_as(line, None, output).await
    }

    /// Runs a command line that a file of commands has, in a session of this mode: nothing is opened for it, and what
    /// the rules would ask about is refused, as the person did not write it.
    ///
    /// # Errors
    /// When the rules do not allow it, or it can't be run.
    pub async fn run_of_file(&self, line: &str, mode: Mode, output: Printed) -> Result<Ran, AppError> {
        self.run_as(line, Some(mode), output).await
    }

    /// `of_file` is the mode of the session where a file has the line.
    async fn run_as(&self, line: &str, of_file: Option<Mode>, output: Printed) -> Result<Ran, AppError> {
        let said = |error: ToolError| failed(error.message);
        let arguments = json!({ "command": line, "timeout": self.timeout });
        let tool = self.registry.find(TOOL).map_err(said)?;
        let prepared = Arc::clone(tool).prepare(arguments).map_err(said)?;
        let cancel = CancellationToken::new();
        let context = ToolContext {
            call_id: CallId::generate(),
            world: Arc::clone(&self.world),
            live: Arc::new(Shown(output)),
            cancel: cancel.clone(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(Nowhere),
            max_output: MOST_OUTPUT,
            more_writes: false,
            approved: of_file.is_none(),
        };
        let plan = prepared.plan(&context).await.map_err(said)?;
        self.judge(prepared.as_ref(), &plan, of_file)?;
        // Dropped with this future: the command's whole group is killed then, by the task that runs it.
        let _stops = cancel.drop_guard();
        let ran = tokio::spawn(prepared.run(context.clone())).await.map_err(failed)?.map_err(said)?;
        let folder = self.stands(&context).await.filter(|stands| Some(stands) != plan.folder.as_ref());
        let masked = self.is_masked() && names_masked(&ran.model, line);
        let code = match ran.display {
            Some(Display::Terminal { exit_code, .. }) => exit_code,
            Some(_) | None => None,
        };
        Ok(Ran { code, folder, masked })
    }

    /// Whether commands run where secrets are hidden: the weaker box can't hide those of the workspace.
    fn is_masked(&self) -> bool {
        self.report.strength == Strength::Strong && self.world.processes().is_boxed()
    }

    /// The folder that the next command starts in.
    async fn stands(&self, context: &ToolContext) -> Option<PathBuf> {
        let tool = Arc::clone(self.registry.find(TOOL).ok()?);
        tool.prepare(json!({ "command": ":" })).ok()?.plan(context).await.ok()?.folder
    }

    fn judge(&self, prepared: &dyn PreparedCall, plan: &Plan, of_file: Option<Mode>) -> Result<(), AppError> {
        let action = action((TOOL, neco_proto::ToolOrigin::BUILT_IN), prepared, plan);
        let who = Who {
            mode: of_file.unwrap_or(Mode::Agent),
            approval: if of_file.is_some() { ApprovalMode::Auto } else { ApprovalMode::AskFirst },
            person_present: of_file.is_none(),
            role: Who::ROOT,
            confinement: self.report.confinement(),
            network: self.report.reaches_network(),
        };
        let verdict = self.policy.judge(&action, &who);
        match verdict.ruling {
            Ruling::Allow => Ok(()),
            Ruling::Ask if of_file.is_none() => Ok(()),
            Ruling::Ask | Ruling::Deny => Err(failed(format!("not run: {} ({})", verdict.reason, verdict.rule.title))),
        }
    }
}

/// Whether a list of files names what a box hides from a command that does not name it, or the folder that it stands in
/// for.
fn names_masked(output: &str, line: &str) -> bool {
    let mut commands = line.split(['&', ';', '|', '\n']).filter_map(|command| command.split_whitespace().next());
    if !commands.any(|program| LISTERS.contains(&program)) {
        return false;
    }
    let is_masked = |word: &str| word == OWN_FOLDER || holds_secrets(Path::new(word), false);
    output.split_whitespace().any(|word| is_masked(word) && !line.contains(word))
}

struct Shown(Printed);

impl LiveOutput for Shown {
    fn push(&self, _: OutputStream, text: &str) {
        (self.0)(text.to_owned());
    }
}

/// What is too big is shown, or nothing is run: none of it is kept.
pub(crate) struct Nowhere;

impl Spill for Nowhere {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it is not kept")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_is_known_by_its_name_unless_the_command_names_it() {
        let listed = "c--------- 1 root root 0 Nov 17 .env\n-rw-r--r-- 1 me me 3 Nov 17 a.txt\n";
        assert!(names_masked(listed, "ls -la"));
        assert!(!names_masked(listed, "ls -la .env"), "what is named is opened");
        assert!(names_masked(".  ..  .neco  src\n", "ls -a"));
        assert!(!names_masked("a.txt .env.example src\n", "ls -a"));
        assert!(names_masked(listed, "cd src && ls -la"));
        assert!(!names_masked("put it into .env\n", "cat README.md"), "a word in a text is no file");
    }
}
