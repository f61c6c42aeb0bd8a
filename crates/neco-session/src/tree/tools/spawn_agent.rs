//! spawn_agent: a child begins to work; its parent goes on.

use neco_proto::Risk;
use neco_proto::event::SubtreeBudget;
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::member::Member;
use crate::tree::SpawnRequest;

pub struct SpawnAgent(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What it is to do: all that it needs to know, as it sees nothing of this conversation.
    task: String,
    /// Who does it: the name of an agent such as `explore` or `coder`; `general` when left out.
    #[serde(default)]
    agent: Option<String>,
    /// Its inputs by name, if it has some.
    #[serde(default)]
    inputs: Option<Map<String, Value>>,
    /// Another model or model group than its own.
    #[serde(default)]
    model: Option<String>,
    /// Most tokens that it and those below it may use.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<u64>,
    /// Most US dollars that it and those below it may cost.
    #[serde(default)]
    #[schemars(range(min = 0))]
    max_cost: Option<f64>,
}

impl Tool for SpawnAgent {
    type Args = Args;
    const NAME: &'static str = "spawn_agent";
    const DESCRIPTION: &'static str = include_str!("spawn_agent.md");
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, args: &Args) -> String {
        format!(
            "Start {}: {}",
            args.agent.as_deref().unwrap_or("general"),
            args.task.lines().next().unwrap_or_default()
        )
    }

    async fn plan(&self, args: &Args, _: &ToolContext) -> Result<Plan, ToolError> {
        let definition = self.0.definition(args.agent.as_deref().unwrap_or("general"))?;
        definition.check_inputs(args.inputs.as_ref())?;
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let definition = self.0.definition(args.agent.as_deref().unwrap_or("general"))?;
        let task = definition.task(args.inputs.as_ref(), &args.task)?;
        let budget = SubtreeBudget { tokens: args.max_tokens, cost: args.max_cost };
        let request = SpawnRequest {
            model_group: args.model,
            budget: (budget != SubtreeBudget::default()).then_some(budget),
            ..SpawnRequest::new(definition, task)
        };
        let child = self.0.spawn(request).await?;
        let node = self.0.supervisor()?.own_child(self.0.agent, child).await;
        let name = node.map_or_else(|| child.to_string(), |node| node.name);
        let told = self.0.hinted(format!(
            "{name} works on it. Go on with something else; what it reports, asks and completes comes by itself. \
             agent_wait waits for it, agent_message corrects it."
        ));
        Ok(ToolOutput { agent: Some(name), ..told })
    }
}
