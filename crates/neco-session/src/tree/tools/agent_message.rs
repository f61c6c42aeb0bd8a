//! agent_message: a parent corrects, answers, pauses or asks its child.

use neco_proto::event::SubtreeBudget;
use neco_proto::{Actor, AgentOrder, AgentParameters};
use neco_toolkit::{SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::member::{Member, invalid};
use crate::tree::letters;

pub struct AgentMessageTool(pub(super) Member);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The name of one of your agents, such as `coder-1`.
    agent: String,
    /// What you want of it.
    kind: Kind,
    /// The words, for redirect, answer and task.
    #[serde(default)]
    text: Option<String>,
    /// For update_parameters: another model or model group.
    #[serde(default)]
    model: Option<String>,
    /// For update_parameters: most tokens of it and those below it.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<u64>,
    /// For update_parameters: most US dollars of it and those below it.
    #[serde(default)]
    #[schemars(range(min = 0))]
    max_cost: Option<f64>,
    /// For update_parameters: only these tools, of those it has.
    #[serde(default)]
    tools: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Corrects it while it works; it sees it at its next turn.
    Redirect,
    /// Answers its question.
    Answer,
    /// Something more to do.
    Task,
    /// Asks how it stands.
    Query,
    /// It does nothing for now and costs nothing.
    Pause,
    /// It goes on.
    Resume,
    /// It begins its task anew, and those below it end; also when it has failed.
    Retry,
    /// Other parameters from its next turn on.
    UpdateParameters,
}

impl Tool for AgentMessageTool {
    type Args = Args;
    const NAME: &'static str = "agent_message";
    const DESCRIPTION: &'static str = include_str!("agent_message.md");
    const TOUCH: SideEffect = SideEffect::Reads;

    fn summary(&self, args: &Args) -> String {
        let kind = match args.kind {
            Kind::Redirect => "Redirect",
            Kind::Answer => "Answer",
            Kind::Task => "Give a task to",
            Kind::Query => "Ask",
            Kind::Pause => "Pause",
            Kind::Resume => "Resume",
            Kind::Retry => "Start over",
            Kind::UpdateParameters => "Change",
        };
        let text = args.text.as_deref().and_then(|text| text.lines().next());
        format!("{kind} {}{}", args.agent, text.map(|text| format!(": {text}")).unwrap_or_default())
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let child = self.0.child(&args.agent).await?;
        let supervisor = self.0.supervisor()?;
        let said = match order(args)? {
            Some((order, said)) => {
                let from = Actor::Agent { id: self.0.agent };
                if let Err(error) = supervisor.order(from, child, order).await {
                    return Err(self.0.refused(error).await);
                }
                said
            }
            None => {
                let node = supervisor.own_child(self.0.agent, child).await;
                node.as_ref().map(letters::node).unwrap_or_else(|| "It is gone.".to_owned())
            }
        };
        Ok(ToolOutput::text(said))
    }
}

/// The order and what is said of it; nothing for a question.
fn order(args: Args) -> Result<Option<(AgentOrder, String)>, ToolError> {
    let agent = &args.agent;
    let text = || {
        args.text.clone().filter(|text| !text.trim().is_empty()).ok_or_else(|| invalid("text is missing".to_owned()))
    };
    Ok(Some(match args.kind {
        Kind::Redirect => (AgentOrder::Redirect { text: text()? }, format!("{agent} sees it at its next turn.")),
        Kind::Answer => (AgentOrder::Answer { text: text()? }, format!("{agent} has the answer.")),
        Kind::Task => (AgentOrder::Task { text: text()? }, format!("{agent} does that too.")),
        Kind::Query => return Ok(None),
        Kind::Pause => (AgentOrder::Pause, format!("{agent} is paused after its present turn.")),
        Kind::Resume => (AgentOrder::Resume, format!("{agent} goes on.")),
        Kind::Retry => (AgentOrder::Retry, format!("{agent} begins its task anew, without those below it.")),
        Kind::UpdateParameters => {
            let budget = SubtreeBudget { tokens: args.max_tokens, cost: args.max_cost };
            let budget = (budget != SubtreeBudget::default()).then_some(budget);
            let parameters = AgentParameters { model_group: args.model.clone(), budget, tools: args.tools.clone() };
            if parameters == AgentParameters::default() {
                return Err(invalid("update_parameters needs model, max_tokens, max_cost or tools".to_owned()));
            }
            (AgentOrder::UpdateParameters(parameters), format!("{agent} has them from its next turn on."))
        }
    }))
}
