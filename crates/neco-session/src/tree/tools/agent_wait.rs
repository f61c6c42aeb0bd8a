//! agent_wait: until one's agents have ended.

use std::time::Duration;

use neco_proto::AgentId;
use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::member::Member;
use crate::tree::wait::{WaitFor, Waited};

/// How long is waited when nobody says.
const USUAL: u64 = 600;
const LONGEST: u64 = 24 * 3600;

pub struct AgentWait(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Whether the first that ends is enough.
    #[serde(default)]
    wait_for: WaitFor,
    /// Only these of your agents; all of them when left out.
    #[serde(default)]
    agents: Option<Vec<String>>,
    /// Most seconds to wait; 600 when left out.
    #[serde(default)]
    #[schemars(range(min = 0, max = 86_400))]
    timeout: Option<u64>,
}

impl Tool for AgentWait {
    type Args = Args;
    const NAME: &'static str = "agent_wait";
    const DESCRIPTION: &'static str = "Waits until one (any) or all of your agents have ended, or one of them asks something or seems to hang, and says which. What they said and completed follows, as it also does without waiting: wait only when you have nothing else to do.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn timeout(&self, args: &Args) -> Option<Duration> {
        // It keeps its own time, and says what is left when that is up.
        Some(Duration::from_secs(args.timeout.unwrap_or(USUAL).min(LONGEST) + 60))
    }

    fn summary(&self, args: &Args) -> String {
        let whom = args.agents.as_ref().map_or_else(|| "the agents".to_owned(), |agents| agents.join(", "));
        match args.wait_for {
            WaitFor::Any => format!("Wait for one of {whom}"),
            WaitFor::All => format!("Wait for {whom}"),
        }
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let supervisor = self.0.supervisor()?;
        let agents = self.agents(args.agents.as_deref()).await?;
        if agents.is_empty() {
            // The last one may have ended a moment ago: what it gave comes before the next turn.
            supervisor.flush(self.0.agent).await;
            return Ok(ToolOutput::text("You have no agents at work."));
        }
        let timeout = Duration::from_secs(args.timeout.unwrap_or(USUAL).min(LONGEST));
        match supervisor.wait(self.0.agent, &agents, args.wait_for, timeout, &ctx.cancel).await {
            Ok(waited) if waited.stopped => Ok(ToolOutput::text(told(&waited)).interrupted()),
            Ok(waited) => Ok(ToolOutput::text(told(&waited))),
            Err(error) => Err(self.0.refused(error).await),
        }
    }
}

impl AgentWait {
    /// Those that are meant; all that are live, or have something to say, when none is named.
    async fn agents(&self, named: Option<&[String]>) -> Result<Vec<AgentId>, ToolError> {
        let Some(names) = named.filter(|names| !names.is_empty()) else {
            let children = self.0.supervisor()?.children_of(self.0.agent).await;
            return Ok(children.into_iter().filter(|node| node.state.is_live()).map(|node| node.id).collect());
        };
        let mut agents = Vec::new();
        for name in names {
            agents.push(self.0.child(name).await?);
        }
        Ok(agents)
    }
}

fn told(waited: &Waited) -> String {
    let mut parts = Vec::new();
    if !waited.ended.is_empty() {
        let ended: Vec<String> = waited.ended.iter().map(|(name, state)| format!("{name} ({state})")).collect();
        parts.push(format!("Ended: {}. What they gave follows, if you have not seen it yet.", ended.join(", ")));
    }
    if !waited.asks.is_empty() {
        parts.push(format!("Waiting for your answer: {}.", waited.asks.join(", ")));
    }
    if !waited.silent.is_empty() {
        let names = waited.silent.join(", ");
        parts.push(format!(
            "Nothing was heard for long of: {names}. Look with agent_status, then wait on, redirect or cancel."
        ));
    }
    if let Some(why) = waited.early {
        parts.push(format!("Waiting ended: {why}."));
    }
    if !waited.left.is_empty() {
        parts.push(format!("Not done yet: {}.", waited.left.join(", ")));
    }
    parts.join("\n")
}
