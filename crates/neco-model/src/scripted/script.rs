//! The script file.

use std::collections::BTreeMap;

use neco_proto::Usage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::expect::Expect;
use super::faults::Fault;
use crate::delta::FinishReason;
use crate::request::Request;

/// A script: JSON with the answers to one request after the other.
///
/// ```json
/// {
///   "turns": [
///     { "reasoning": "I should look first.",
///       "say": "Let me look.",
///       "calls": [{ "name": "read_file", "arguments": { "path": "src/main.rs" } }],
///       "usage": { "input": 1200, "output": 30 } },
///     { "fault": { "status": { "code": 429, "retry_after": 0 } } },
///     { "expect": { "last_tool_contains": "fn main" }, "say": "Done." }
///   ]
/// }
/// ```
///
/// A turn answers one request; a request that is tried again after a fault gets the turn after it.
/// Every model name of the provider plays its own copy from the beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The answers.
    pub turns: Vec<Turn>,
    /// Answers for models that are to say something else, by model name.
    pub models: BTreeMap<String, Vec<Turn>>,
    /// Answers for agents below the root: the first part that fits.
    pub agents: Vec<AgentPart>,
    /// Whether the last turn goes on answering when the script is used up.
    pub loop_last: bool,
    /// Characters of a piece of text; 0 (the default) cuts between words.
    pub chunk: usize,
    /// Tokens that fit into one request and its answer; without it nothing limits them.
    pub context_window: Option<u64>,
}

/// What agents say that fit it. Every agent plays its own copy, from the beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentPart {
    /// The name of the agent's definition, such as `explore`; any when left out.
    pub role: Option<String>,
    /// Words in its task; any when left out.
    pub task: Option<String>,
    /// The answers.
    pub turns: Vec<Turn>,
}

impl AgentPart {
    /// Whether it is the part of whoever asks this. The task of an agent is the first thing that is said to it; the root
    /// plays no part.
    pub fn fits(&self, request: &Request) -> bool {
        let Some(agent) = request.agent.as_deref() else { return false };
        let task = request.history.iter().next().map(|entry| entry.message().text()).unwrap_or_default();
        self.role.as_ref().is_none_or(|role| role == agent)
            && self.task.as_ref().is_none_or(|words| task.contains(words))
    }
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// Text. `{n}` stands for which repetition this is, from 1; so it does in thoughts and arguments.
    pub say: String,
    /// Thoughts.
    pub reasoning: String,
    /// Tool calls.
    pub calls: Vec<ScriptCall>,
    /// Tokens used; none are reported without it.
    pub usage: Option<ScriptUsage>,
    /// Why the answer ends: `stop`, `tool_calls`, `length`, `content_filter` or `refusal`. Without
    /// it, what fits.
    pub finish: Option<ScriptFinish>,
    /// Characters of a piece of text, other than the script's.
    pub chunk: Option<usize>,
    /// Milliseconds before the first piece.
    pub delay_ms: u64,
    /// Milliseconds between pieces.
    pub between_ms: u64,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// What must have been asked.
    pub expect: Option<Expect>,
    /// How often this turn answers; 1 without it.
    pub repeat: Option<u32>,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// Its arguments as the very text, for text that is no JSON.
    pub arguments_raw: Option<String>,
    /// Its id. `null` leaves it out, as some vendors do; without this field every call has its own.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub id: Option<Option<String>>,
}

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptUsage {
    /// All input tokens.
    pub input: u64,
    /// All output tokens.
    pub output: u64,
    /// The part of the input that came from the cache.
    pub cache_read: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFinish {
    /// Done.
    Stop,
    /// Wants its calls run.
    ToolCalls,
    /// Output limit.
    Length,
    /// Filtered.
    ContentFilter,
    /// Declined.
    Refusal,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// When it is no script; says where.
    pub fn parse(json: &str) -> Result<Self, String> {
        let script: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if script.turns.is_empty() && script.models.is_empty() && script.agents.is_empty() {
            return Err("it has no turns".to_owned());
        }
        Ok(script)
    }

    /// The turns that `model` plays.
    pub fn turns_of(&self, model: &str) -> &[Turn] {
        self.models.get(model).unwrap_or(&self.turns)
    }
}

impl Turn {
    pub(super) fn finish_reason(&self) -> FinishReason {
        match self.finish {
            Some(ScriptFinish::Stop) => FinishReason::Stop,
            Some(ScriptFinish::ToolCalls) => FinishReason::ToolCalls,
            Some(ScriptFinish::Length) => FinishReason::Length,
            Some(ScriptFinish::ContentFilter) => FinishReason::ContentFilter,
            Some(ScriptFinish::Refusal) => FinishReason::Refusal,
            None if self.calls.is_empty() => FinishReason::Stop,
            None => FinishReason::ToolCalls,
        }
    }
}

impl ScriptCall {
    pub(super) fn arguments_text(&self) -> String {
        match (&self.arguments_raw, &self.arguments) {
            (Some(raw), _) => raw.clone(),
            (None, Value::Null) => "{}".to_owned(),
            (None, arguments) => arguments.to_string(),
        }
    }
}

impl From<ScriptUsage> for Usage {
    /// Written answers cost nothing by themselves.
    fn from(usage: ScriptUsage) -> Self {
        let ScriptUsage { input, output, cache_read, reasoning } = usage;
        Self { input, output, cache_read, reasoning, ..Self::default() }
    }
}

/// Tells a `null` from a field that is absent.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
