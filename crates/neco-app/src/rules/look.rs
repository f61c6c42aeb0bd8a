//! A call as the policy is asked about it: looked at by its tool, without being run.

use std::path::PathBuf;
use std::sync::Arc;

use neco_config::Env;
use neco_ext::scripts;
use neco_proto::app::AppError;
use neco_proto::event::OutputStream;
use neco_proto::{ApprovalMode, CallId, Mode, Risk, ToolOrigin};
use neco_safety::path::Access;
use neco_safety::world::Freedom;
use neco_safety::{Action, SideEffect, Who, World};
use neco_sandbox::{Ask, Report};
use neco_toolkit::{LiveOutput, Plan, PreparedCall, Registry, ToBackground, ToolContext, ToolError};
use neco_tools::files::patched;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::here::Here;
use crate::error::invalid;
use crate::persons_shell::Nowhere;
use crate::services;
use crate::workspace::sandbox;

/// A call, and what its tool says it would do.
pub(super) struct Looked {
    /// The tool's own name; what was asked for when there is no such tool.
    pub tool: String,
    origin: ToolOrigin,
    arguments: Value,
    touch: SideEffect,
    plan: Plan,
    /// What is not as it would be in a run.
    pub notes: Vec<String>,
}

impl Looked {
    /// The call, as the policy is asked about it.
    pub(super) fn action(&self) -> Action<'_> {
        Action {
            tool: &self.tool,
            origin: &self.origin,
            arguments: &self.arguments,
            touch: self.touch,
            risk: self.plan.risk,
            command: self.plan.command.as_deref(),
            folder: self.plan.folder.as_deref(),
            paths: &self.plan.paths,
            because: self.plan.because.as_deref(),
            freedom: self.plan.freedom,
        }
    }
}

/// Looks at calls in one folder.
pub(super) struct Looker {
    registry: Registry,
    world: Arc<dyn World>,
    sandbox: Report,
}

impl Looker {
    /// For calls in this folder.
    ///
    /// # Errors
    /// When the folder can't be used, or there is less of a sandbox than the settings require.
    pub(super) fn new(here: &Here, env: &Env) -> Result<Self, AppError> {
        let config = &here.loaded.config;
        // As in a run: what leaves the box is asked about only where there is one.
        let sandbox = sandbox::open(config, env, Ask::IfChanged)?;
        let world = services::world(&here.folder, &here.rules.policy, &sandbox, config, env)
            .map_err(|error| invalid(format!("the folder {} can't be used: {error}", here.folder.display())))?;
        Ok(Self {
            registry: services::all_tools(&config.tools, &services::indexes(env.data_dir()))
                .with(scripts::tools(here.scripts.clone(), sandbox::own_program().parent())),
            world: Arc::new(world),
            sandbox: sandbox.report().clone(),
        })
    }

    /// On whose behalf, when it is the agent that a person talks to.
    pub(super) fn who(&self, mode: Mode, approval: ApprovalMode, person_present: bool) -> Who<'static> {
        let (confinement, network) = (self.sandbox.confinement(), self.sandbox.reaches_network());
        Who { mode, approval, person_present, role: Who::ROOT, confinement, network }
    }

    /// The argument that a tool can't do without: what is meant where only one is given.
    pub(super) fn first_argument(&self, tool: &str) -> &str {
        let found = self.registry.find(tool).ok();
        let required = found.and_then(|tool| tool.schema()["required"][0].as_str());
        let first = || found.and_then(|tool| tool.schema()["properties"].as_object()?.keys().next());
        required.or_else(|| first().map(String::as_str)).unwrap_or("command")
    }

    /// What a call would do.
    pub(super) async fn look(&self, tool: &str, arguments: Value) -> Looked {
        let Ok(found) = self.registry.find(tool) else { return self.unknown(tool, arguments) };
        let origin = found.origin().clone();
        let name = found.name().to_owned();
        let prepared = match Arc::clone(found).prepare(arguments.clone()) {
            Ok(prepared) => prepared,
            Err(error) => {
                let (touch, notes) = (found.most_touch(), vec![format!("the tool would refuse it: {}", error.message)]);
                return Looked { tool: name, origin, plan: self.guess(&arguments, touch), arguments, touch, notes };
            }
        };
        let touch = prepared.touch();
        let (plan, notes) = match self.plan(prepared.as_ref()).await {
            Ok(plan) => (plan, Vec::new()),
            // What is looked at before, such as whether a file was read, is nothing the policy knows of.
            Err(error) => {
                let words = format!("as it is now it would fail: {}", error.message);
                (self.guess(prepared.arguments(), touch), vec![words])
            }
        };
        Looked { tool: name, origin, arguments: prepared.arguments().clone(), touch, plan, notes }
    }

    /// A call of a tool that is not ours. No server is started to ask what its tool may do.
    fn unknown(&self, tool: &str, arguments: Value) -> Looked {
        let (origin, plan, words) = match server_of(tool) {
            Some(server) => {
                let words = format!("the server {server} is not asked: what it says of the tool can raise the risk");
                (ToolOrigin::Mcp { server: server.to_owned() }, Plan::of(Risk::Medium), words)
            }
            None => {
                let words = format!("there is no tool {tool:?} here; checked as one that runs something");
                (ToolOrigin::BuiltIn, self.guess(&arguments, SideEffect::Runs), words)
            }
        };
        Looked { tool: tool.to_owned(), origin, arguments, touch: SideEffect::Runs, plan, notes: vec![words] }
    }

    async fn plan(&self, prepared: &dyn PreparedCall) -> Result<Plan, ToolError> {
        let context = ToolContext {
            call_id: CallId::generate(),
            world: Arc::clone(&self.world),
            live: Arc::new(Silence),
            cancel: CancellationToken::new(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(Nowhere),
            max_output: 0,
            more_writes: false,
            approved: false,
        };
        prepared.plan(&context).await
    }

    /// What the arguments alone tell: a path, the files of a patch, a command.
    fn guess(&self, arguments: &Value, touch: SideEffect) -> Plan {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let command = text("command").filter(|_| touch == SideEffect::Runs).map(str::to_owned);
        let (risk, access) = match touch {
            SideEffect::Reads => (Risk::Safe, Access::Read),
            SideEffect::Network => (Risk::Medium, Access::Read),
            SideEffect::Writes => (Risk::Medium, Access::Write),
            SideEffect::Runs if command.is_some() => (Risk::Low, Access::Write),
            SideEffect::Runs => (Risk::High, Access::Write),
        };
        let patched = text("patch").map(patched).unwrap_or_default();
        let named = text("path").into_iter().chain(patched.iter().map(String::as_str));
        let located: Vec<_> = named.filter_map(|path| self.world.files().locate(path, access).ok()).collect();
        let because = located.iter().find_map(|located| match access {
            Access::Read => located.sensitive_to_read(),
            Access::Write => located.sensitive_to_write(),
        });
        let risk = if because.is_some() { Risk::Critical } else { risk };
        let paths: Vec<PathBuf> = located.iter().map(|located| located.path().to_path_buf()).collect();
        let unboxed = arguments.get("unsandboxed").and_then(Value::as_bool).unwrap_or(false);
        let freedom = if unboxed { Freedom::Unboxed } else { Freedom::AsConfigured };
        Plan { command, paths, because: because.map(str::to_owned), freedom, ..Plan::of(risk) }
    }
}

/// The server of a tool that has such a name: `mcp__SERVER__TOOL`.
fn server_of(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(server)
}

/// Nothing runs, so nothing is printed.
struct Silence;

impl LiveOutput for Silence {
    fn push(&self, _: OutputStream, _: &str) {}
}
