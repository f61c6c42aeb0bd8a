//! A tool of a server, as an agent has it.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::{EmptyAnswer, ErrorCode, QuestionItem, Risk, ToolOrigin};
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::{SideEffect, untrusted};
use neco_toolkit::schema::ArgumentSchema;
use neco_toolkit::{DynTool, Plan, PreparedCall, ToolContext, ToolError, ToolOutput};
use serde_json::Value;

use super::answer_kind::{cut, option, said_yes};
use super::host::Caller;
use super::kept_tools::KeptTool;
use super::manifest::ToolInfo;
use super::names::tool_name;
use super::server::Server;
use super::settings::Reach;

/// The longest that a call may take, however often it says that it is alive.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a server may take to say what a tool is by now, before a person is asked about what was kept of it.
const LOOKS: Duration = Duration::from_secs(5);

/// Characters of an argument in the line that tells of a call.
const SHOWN: usize = 60;

/// Characters of what a server says of a tool where a person is asked about a call of it.
const SAID: usize = 200;

/// The same where it has changed.
const MOST_SAID: usize = 2000;

/// The answer that lets a call through whose tool has changed.
const CALL_IT: &str = "Call it";

/// A tool of a server.
pub(super) struct McpTool {
    name: String,
    origin: ToolOrigin,
    kept: Arc<KeptTool>,
    /// What is told of it, once somebody asked.
    told: OnceLock<Told>,
    /// The hash of what the server says of it, once somebody asked.
    hash: OnceLock<String>,
    server: Arc<Server>,
}

/// What agents and people are told of a tool.
struct Told {
    description: String,
    schema: ArgumentSchema,
}

impl McpTool {
    pub(super) fn new(kept: Arc<KeptTool>, server: &Arc<Server>) -> Self {
        let name = &server.settings.name;
        Self {
            name: tool_name(name, &kept.name),
            origin: ToolOrigin::Mcp { server: name.clone() },
            kept,
            told: OnceLock::new(),
            hash: OnceLock::new(),
            server: Arc::clone(server),
        }
    }

    /// What the server says of it.
    fn info(&self) -> &ToolInfo {
        self.kept.info()
    }

    fn told(&self) -> &Told {
        self.told.get_or_init(|| {
            let info = self.info();
            let said = match info.description.is_empty() {
                true => info.title.as_deref().unwrap_or(&info.name),
                false => &info.description,
            };
            let description = harmless(said, self.server.redactor());
            Told { description, schema: ArgumentSchema::new(info.schema.clone()) }
        })
    }

    /// What every call of it may do. What the server says of it can only make that more.
    fn plan(&self) -> Plan {
        let settings = &self.server.settings;
        let says = self.info().hints.words();
        let mut plan = match self.info().hints.destructive_hint == Some(true) {
            true => Plan {
                because: says.map(|words| format!("{} says that this tool {words}", settings.name)),
                ..Plan::of(Risk::Critical)
            },
            false => Plan {
                remarks: says.map(|words| format!("{} says: {words}", settings.name)).into_iter().collect(),
                ..Plan::of(Risk::Medium)
            },
        };
        if let Some(said) = self.said() {
            plan.remarks.insert(0, said);
        }
        match &settings.reach {
            Reach::Program(program) => plan.freedom = program.freedom(),
            Reach::Address(address) => {
                let at = address.host().map(|host| format!(", at {host}")).unwrap_or_default();
                plan.elsewhere = true;
                plan.remarks.push(format!("{} runs elsewhere{at}", settings.name));
            }
        }
        plan
    }

    /// The first line of what the server says that it does, as its words.
    fn said(&self) -> Option<String> {
        let line = self.told().description.lines().map(str::trim).find(|line| !line.is_empty())?;
        // The quotes are ours.
        let line = cut(line, SAID).replace('"', "'");
        Some(format!("{} says of this tool: \"{line}\"", self.server.settings.name))
    }

    /// Whether it says of itself what a person has let it be. Where nobody can tell, it does not.
    async fn is_as_seen(self: &Arc<Self>) -> bool {
        let tool = Arc::clone(self);
        let looking = move || tool.server.pins.is_as_seen(&tool.kept.name, tool.hash());
        tokio::task::spawn_blocking(looking).await.unwrap_or(false)
    }

    /// The tool as its server says it is now, which is started for that; as it was kept where that does not work, or
    /// takes long.
    async fn now(self: &Arc<Self>, caller: &Caller) -> Arc<Self> {
        // Whoever can't reach it is told so when the call is made.
        let _held = tokio::time::timeout(LOOKS, self.server.connection_for(caller)).await;
        match self.server.tool(&self.kept.name).filter(|now| now.info() != self.info()) {
            Some(now) => Arc::new(Self::new(now, &self.server)),
            None => Arc::clone(self),
        }
    }

    fn hash(&self) -> &str {
        self.hash.get_or_init(|| self.info().hash())
    }

    /// A person has seen what it says now, and allowed a call of it.
    async fn allow(self: &Arc<Self>) {
        let tool = Arc::clone(self);
        let keeping = move || tool.server.pins.allow(&tool.kept.name, tool.hash());
        let kept = tokio::task::spawn_blocking(keeping).await;
        if let Err(error) = kept.unwrap_or_else(|error| Err(io::Error::other(error))) {
            tracing::warn!(%error, "that a changed tool was allowed can't be kept");
        }
    }

    /// Fails where the server, now that it runs, says something else of the tool than when the call was judged, unless a
    /// person allows it.
    async fn check(&self, caller: &Caller) -> Result<(), ToolError> {
        let now = self.server.tool(&self.kept.name).filter(|now| now.info() != self.info());
        let Some(now) = now.map(|now| Arc::new(Self::new(now, &self.server))) else { return Ok(()) };
        let changed = "the server changed what it says of this tool, so the call was not sent";
        // What is riskier is judged as such.
        if now.plan().risk > self.plan().risk {
            return Err(ToolError::new(ErrorCode::ToolFailed, format!("{changed}; call it again, as it is now")));
        }
        if now.is_as_seen().await {
            return Ok(());
        }
        let asked = caller.person.ask(vec![now.question()]);
        let Some(Some(answers)) = caller.cancel.run_until_cancelled(asked).await else {
            let words = format!("{changed}: nobody allowed it as it is now; `neco` and `neco repl` ask about it");
            return Err(ToolError::new(ErrorCode::BlockedByPolicy, words));
        };
        if !said_yes(&answers, CALL_IT) {
            return Err(ToolError::new(ErrorCode::RejectedByUser, format!("{changed}: the user rejected it")));
        }
        now.allow().await;
        Ok(())
    }

    /// Whether it may be called as it is now.
    fn question(&self) -> QuestionItem {
        let server = &self.server.settings.name;
        let text = format!(
            "The MCP server {server} changed what it says of its tool {} since you last allowed it. It says now:\n{}",
            cut(&self.kept.name, SAID),
            cut(&self.told().description, MOST_SAID)
        );
        let options = vec![option(CALL_IT, "as it is now, also later"), option("No", "")];
        let (title, empty) = (server.clone(), EmptyAnswer::Refused);
        QuestionItem { title, text, options, multiple: false, empty, field: None }
    }
}

/// What a server wrote, without secrets and without imitations of a boundary.
fn harmless(text: &str, redactor: &Redactor) -> String {
    untrusted::neutral(&redactor.redact(text, Scope::Outside)).into_owned()
}

impl DynTool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.told().description
    }

    fn schema(&self) -> &Value {
        self.told().schema.declared()
    }

    /// Whatever a server says of its tools, any of them may do anything.
    fn most_touch(&self) -> SideEffect {
        SideEffect::Runs
    }

    fn origin(&self) -> &ToolOrigin {
        &self.origin
    }

    fn prepare(self: Arc<Self>, mut arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let notes = self.told().schema.fit(&mut arguments)?;
        Ok(Box::new(McpCall { tool: self, arguments, notes, now: Mutex::default() }))
    }
}

/// A call of a server's tool.
struct McpCall {
    tool: Arc<McpTool>,
    arguments: Value,
    notes: Vec<String>,
    /// The tool as its server says it is now, where the call was judged by that.
    now: Mutex<Option<Arc<McpTool>>>,
}

impl McpCall {
    /// The tool that the call is judged by: what was kept of a changed one may be old, and the person is asked about
    /// what it says now.
    async fn judged(&self, ctx: &ToolContext) -> Arc<McpTool> {
        if self.tool.is_as_seen().await {
            return Arc::clone(&self.tool);
        }
        let now = self.tool.now(&Caller::silent(ctx.cancel.child_token())).await;
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&now));
        now
    }
}

impl PreparedCall for McpCall {
    fn touch(&self) -> SideEffect {
        SideEffect::Runs
    }

    /// The server decides: a call may go on for as long as it gives signs of life.
    fn timeout(&self) -> Option<Duration> {
        Some(LONGEST)
    }

    fn summary(&self) -> String {
        let arguments = self.arguments.as_object().into_iter().flatten();
        let shown = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let cut: String = text.chars().take(SHOWN).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { text }
        };
        let arguments: Vec<String> = arguments.map(|(name, value)| format!("{name}: {}", shown(value))).collect();
        let title = self.tool.info().title.as_deref().unwrap_or(&self.tool.kept.name);
        format!("{} {title} {}", self.tool.server.settings.name, arguments.join(", ")).trim_end().to_owned()
    }

    fn arguments(&self) -> &Value {
        &self.arguments
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn plan<'a>(&'a self, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            let tool = self.judged(ctx).await;
            let mut plan = tool.plan();
            if !tool.is_as_seen().await {
                plan.must_ask = Some(format!(
                    "the server changed what it says of this tool since you last allowed it; it says now: {}",
                    tool.told().description
                ));
            }
            Ok(plan)
        })
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let McpCall { tool, arguments, now, .. } = *self;
            let tool = now.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or(tool);
            if ctx.approved && !tool.is_as_seen().await {
                tool.allow().await;
            }
            let caller = Caller { live: ctx.live, person: ctx.person, model: ctx.model, cancel: ctx.cancel };
            // It may have been started for this, and say something else now than what was kept of it.
            let _held = tool.server.connection_for(&caller).await?;
            tool.check(&caller).await?;
            Ok(tool.server.call(&tool.kept.name, arguments, &caller).await?)
        })
    }
}
