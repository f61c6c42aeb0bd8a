//! The script file.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use neco_proto::Usage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::expect::Expect;
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
    /// Fails when it is no script; says where.
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

    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// A turn that says `text`.
    pub fn say(self, text: impl Into<String>) -> Self {
        self.turn(Turn { say: text.into(), ..Turn::default() })
    }

    /// A turn that calls a tool.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.turn(Turn { calls: vec![ScriptCall::new(name, arguments)], ..Turn::default() })
    }

    /// A turn in which something goes wrong.
    pub fn fault(self, fault: Fault) -> Self {
        self.turn(Turn { fault: Some(fault), ..Turn::default() })
    }

    /// A turn as it is.
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// The last turn calls another tool beside.
    pub fn also_call(self, name: &str, arguments: Value) -> Self {
        self.change(|turn| turn.calls.push(ScriptCall::new(name, arguments)))
    }

    /// The last turn thinks this.
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.change(|turn| turn.reasoning = text.into())
    }

    /// The last turn says this before its calls.
    pub fn saying(self, text: impl Into<String>) -> Self {
        self.change(|turn| turn.say = text.into())
    }

    /// The last turn used so many tokens.
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.change(|turn| turn.usage = Some(ScriptUsage { input, output, ..ScriptUsage::default() }))
    }

    /// The last turn must have been asked this.
    pub fn expecting(self, expect: Expect) -> Self {
        self.change(|turn| turn.expect = Some(expect))
    }

    /// The last turn goes wrong like this.
    pub fn faulty(self, fault: Fault) -> Self {
        self.change(|turn| turn.fault = Some(fault))
    }

    /// The last turn answers `times` times; `{n}` in it counts them from 1.
    pub fn repeat(self, times: u32) -> Self {
        self.change(|turn| turn.repeat = Some(times))
    }

    /// The last turn goes on answering when the script is used up.
    pub fn loop_last(mut self) -> Self {
        self.loop_last = true;
        self
    }

    /// Text comes in pieces of so many characters.
    pub fn in_pieces_of(mut self, characters: usize) -> Self {
        self.chunk = characters;
        self
    }

    fn change(mut self, change: impl FnOnce(&mut Turn)) -> Self {
        if self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        if let Some(turn) = self.turns.last_mut() {
            change(turn);
        }
        self
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

    /// A call with an id of its own.
    pub fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments, ..Self::default() }
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

/// What goes wrong with a turn. Pieces are counted as they are streamed: of thought, text and calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// No answer but an HTTP status.
    Status {
        /// Such as 429 or 500.
        code: u16,
        /// Seconds in the `retry-after` header.
        #[serde(default)]
        retry_after: Option<f64>,
        /// The vendor's words.
        #[serde(default)]
        message: Option<String>,
    },
    /// The connection breaks after so many pieces.
    DropAfter(usize),
    /// Silence after so many pieces; 0 is before the first byte.
    StallAfter(usize),
    /// An error event after so many pieces.
    ErrorAfter(usize),
    /// A proper answer that says nothing.
    Empty,
}

/// The words of an error event.
pub const ERROR_EVENT: &str = "the script says that the vendor fails here";

impl Fault {
    /// A 429 that asks to wait so many seconds.
    pub fn rate_limit(retry_after: f64) -> Self {
        Self::Status { code: 429, retry_after: Some(retry_after), message: None }
    }

    /// A status without more.
    pub fn status(code: u16) -> Self {
        Self::Status { code, retry_after: None, message: None }
    }

    /// How many pieces come before it; `None` when all do.
    pub fn after(&self) -> Option<usize> {
        match self {
            Self::DropAfter(pieces) | Self::StallAfter(pieces) | Self::ErrorAfter(pieces) => Some(*pieces),
            Self::Status { .. } | Self::Empty => None,
        }
    }
}

/// The headers of a status fault.
pub fn fault_headers(retry_after: Option<f64>) -> HeaderMap {
    let milliseconds = retry_after
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .and_then(|wait| HeaderValue::from_str(&wait.as_millis().to_string()).ok());
    milliseconds.map(|value| (HeaderName::from_static("retry-after-ms"), value)).into_iter().collect()
}

/// The body of a status fault.
pub fn fault_body(code: u16, message: Option<&str>) -> String {
    let message = message.map_or_else(|| format!("the script answers with status {code}"), str::to_owned);
    json!({ "error": { "message": message, "type": null, "code": null } }).to_string()
}
