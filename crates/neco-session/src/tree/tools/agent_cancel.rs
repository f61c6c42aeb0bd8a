//! agent_cancel: a child and everybody below it ends.

use std::time::Duration;

use neco_proto::Actor;
use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::member::Member;

pub struct AgentCancel(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The name of one of your agents.
    agent: String,
}

impl Tool for AgentCancel {
    type Args = Args;
    const NAME: &'static str = "agent_cancel";
    const DESCRIPTION: &'static str =
        "Ends one of your agents and all agents below it, with every process they started. What they did stays.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn timeout(&self, _: &Args) -> Option<Duration> {
        Some(Duration::from_secs(60))
    }

    fn summary(&self, args: &Args) -> String {
        format!("Stop {}", args.agent)
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let child = self.0.child(&args.agent).await?;
        let from = Actor::Agent { id: self.0.agent };
        match self.0.supervisor()?.end(from, child).await {
            Ok(true) => Ok(ToolOutput::text(format!("{} is stopped, with everybody below it.", args.agent))),
            Ok(false) => Ok(ToolOutput::text(format!(
                "{} has ended, with everybody below it; what they ran takes long to stop, and may still run.",
                args.agent
            ))),
            Err(error) => Err(self.0.refused(error).await),
        }
    }
}
