//! A tool of a server, as an agent has it.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::{Risk, ToolOrigin};
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::{SideEffect, untrusted};
use neco_toolkit::schema::ArgumentSchema;
use neco_toolkit::{DynTool, Plan, PreparedCall, ToolContext, ToolError, ToolOutput};
use serde_json::Value;

use super::host::Caller;
use super::manifest::ToolInfo;
use super::names::tool_name;
use super::server::Server;
use super::settings::Reach;

/// The longest that a call may take, however often it says that it is alive.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Characters of an argument in the line that tells of a call.
const SHOWN: usize = 60;

/// A tool of a server.
pub(super) struct McpTool {
    name: String,
    origin: ToolOrigin,
    description: String,
    schema: ArgumentSchema,
    info: ToolInfo,
    /// That of `info`, once somebody asked.
    hash: OnceLock<String>,
    server: Arc<Server>,
}

impl McpTool {
    pub(super) fn new(info: ToolInfo, server: &Arc<Server>) -> Self {
        let name = &server.settings.name;
        let said =
            if info.description.is_empty() { info.title.as_deref().unwrap_or(&info.name) } else { &info.description };
        Self {
            name: tool_name(name, &info.name),
            origin: ToolOrigin::Mcp { server: name.clone() },
            description: harmless(said, server.redactor()),
            schema: ArgumentSchema::new(info.schema.clone()),
            info,
            hash: OnceLock::new(),
            server: Arc::clone(server),
        }
    }

    /// What every call of it may do. What the server says of it can only make that more.
    fn plan(&self) -> Plan {
        let settings = &self.server.settings;
        let says = self.info.hints.words();
        let mut plan = match self.info.hints.destructive_hint == Some(true) {
            true => Plan {
                because: says.map(|words| format!("{} says that this tool {words}", settings.name)),
                ..Plan::of(Risk::Critical)
            },
            false => Plan {
                remarks: says.map(|words| format!("{} says: {words}", settings.name)).into_iter().collect(),
                ..Plan::of(Risk::Medium)
            },
        };
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

    /// Whether it says of itself what a person has let it be.
    fn is_as_seen(&self) -> bool {
        self.server.pins.is_as_seen(&self.info.name, self.hash())
    }

    fn hash(&self) -> &str {
        self.hash.get_or_init(|| self.info.hash())
    }

    /// A person has seen what it says now, and allowed a call of it.
    async fn allow(self: &Arc<Self>) {
        let tool = Arc::clone(self);
        let keeping = move || tool.server.pins.allow(&tool.info.name, tool.hash());
        let kept = tokio::task::spawn_blocking(keeping).await;
        if let Err(error) = kept.unwrap_or_else(|error| Err(io::Error::other(error))) {
            tracing::warn!(%error, "that a changed tool was allowed can't be kept");
        }
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
        &self.description
    }

    fn schema(&self) -> &Value {
        self.schema.declared()
    }

    /// Whatever a server says of its tools, any of them may do anything.
    fn most_touch(&self) -> SideEffect {
        SideEffect::Runs
    }

    fn origin(&self) -> &ToolOrigin {
        &self.origin
    }

    fn prepare(self: Arc<Self>, mut arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let notes = self.schema.fit(&mut arguments)?;
        Ok(Box::new(McpCall { tool: self, arguments, notes }))
    }
}

/// A call of a server's tool.
struct McpCall {
    tool: Arc<McpTool>,
    arguments: Value,
    notes: Vec<String>,
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
        let title = self.tool.info.title.as_deref().unwrap_or(&self.tool.info.name);
        format!("{} {title} {}", self.tool.server.settings.name, arguments.join(", ")).trim_end().to_owned()
    }

    fn arguments(&self) -> &Value {
        &self.arguments
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn plan<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        let mut plan = self.tool.plan();
        if !self.tool.is_as_seen() {
            plan.must_ask = Some(format!(
                "the server changed what it says of this tool since you last allowed it; it says now: {}",
                self.tool.description
            ));
        }
        Box::pin(std::future::ready(Ok(plan)))
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let McpCall { tool, arguments, .. } = *self;
            if ctx.approved && !tool.is_as_seen() {
                tool.allow().await;
            }
            let caller = Caller { live: ctx.live, person: ctx.person, model: ctx.model, cancel: ctx.cancel };
            Ok(tool.server.call(&tool.info.name, arguments, &caller).await?)
        })
    }
}
