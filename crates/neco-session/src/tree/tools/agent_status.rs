//! agent_status: how one's agents stand.

use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::member::{Member, invalid};
use crate::tree::letters;

pub struct AgentStatus(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Only this one of your agents.
    #[serde(default)]
    agent: Option<String>,
}

impl Tool for AgentStatus {
    type Args = Args;
    const NAME: &'static str = "agent_status";
    const DESCRIPTION: &'static str = "Tells how the agents that you started stand: state, progress, what they used, their last words or their result.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, args: &Args) -> String {
        format!("Look at {}", args.agent.as_deref().unwrap_or("the agents"))
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let children = self.0.supervisor()?.children_of(self.0.agent).await;
        let wanted = args.agent.as_deref().map(str::trim);
        let named = |name: &str| wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name));
        let lines: Vec<String> = children.iter().filter(|node| named(&node.name)).map(letters::node).collect();
        match (lines.is_empty(), wanted) {
            (true, Some(wanted)) => Err(invalid(format!("you have no agent {wanted:?}"))),
            (true, None) => Ok(ToolOutput::text("You have started no agents.")),
            (false, _) => Ok(ToolOutput::text(lines.join("\n"))),
        }
    }
}
