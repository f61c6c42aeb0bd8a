//! task: an agent does one thing to its end, and its result is the result of the call.

use std::time::Duration;

use neco_proto::Risk;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::member::Member;
use crate::tree::SpawnRequest;

/// Longer than any agent works: its own limits end it.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 3600);

pub struct Task(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Three to seven words, for the user.
    description: String,
    /// All that it needs to know: it sees nothing of this conversation.
    prompt: String,
    /// Who does it; `general` when left out.
    #[serde(default, alias = "subagent_type")]
    agent: Option<String>,
    /// By name, if it has some.
    #[serde(default)]
    inputs: Option<Map<String, Value>>,
}

impl Tool for Task {
    type Args = Args;
    const NAME: &'static str = "task";
    const DESCRIPTION: &'static str = "Has another agent do one thing to its end and gives you its result. Long searches and big outputs then do not fill your conversation. Several calls in one turn run at the same time.";
    const TOUCH: SideEffect = SideEffect::Reads;

    fn timeout(&self, _: &Args) -> Option<Duration> {
        Some(LONGEST)
    }

    fn summary(&self, args: &Args) -> String {
        format!("{}: {}", args.agent.as_deref().unwrap_or("general"), args.description)
    }

    async fn plan(&self, args: &Args, _: &ToolContext) -> Result<Plan, ToolError> {
        let definition = self.0.definition(args.agent.as_deref().unwrap_or("general"))?;
        definition.check_inputs(args.inputs.as_ref())?;
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: Args, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let definition = self.0.definition(args.agent.as_deref().unwrap_or("general"))?;
        let task = definition.task(args.inputs.as_ref(), &args.prompt)?;
        self.0.run_to_end(SpawnRequest::new(definition, task), ctx).await
    }
}
