//! The pieces of an answer, and the answer they add up to.

use neco_proto::Usage;
use neco_proto::event::{ModelRetry, ModelSwitch};
use serde_json::Value;

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// `provider/model` answers from here on; comes first, and again after a switch.
    Begin {
        /// `provider/model`.
        model: String,
    },
    /// Text.
    Text(String),
    /// Thought; `opaque` is what the vendor wants back unchanged.
    Reasoning {
        /// The readable part.
        text: String,
        /// A signature or an encrypted item that ends this thought.
        opaque: Option<Value>,
    },
    /// A call begins. Comes once an index, with its name complete.
    CallStart {
        /// Position among the calls of the answer, from 0.
        index: u32,
        /// The vendor's id, when it gave one.
        id: Option<String>,
        /// The tool's name.
        name: String,
    },
    /// The next piece of a call's arguments.
    CallArguments {
        /// Which call.
        index: u32,
        /// A piece of JSON text.
        text: String,
    },
    /// Tokens used. The last one counts.
    Usage(Usage),
    /// The answer is whole. Only now may its calls be run.
    Finish(FinishReason),
    /// The call failed and is tried again after a wait.
    Retry(ModelRetry),
    /// Another key or model takes over.
    Switch(ModelSwitch),
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It wants its calls run.
    ToolCalls,
    /// The output limit was reached; calls may be cut off.
    Length,
    /// The vendor's filter stopped it.
    ContentFilter,
    /// The model declined.
    Refusal,
}

/// A call as the vendor gave it: its id may be missing or taken, its arguments may not be JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCall {
    /// The vendor's id, when it gave one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// JSON text, hopefully.
    pub arguments: String,
}

/// What the pieces add up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// `provider/model` that gave it.
    pub model: String,
    /// Text, in order of arrival.
    pub text: String,
    /// Thoughts: readable part and what the vendor wants back.
    pub reasoning: Vec<(String, Option<Value>)>,
    /// Calls, by index.
    pub calls: Vec<RawCall>,
    /// Tokens used, when the vendor said.
    pub usage: Option<Usage>,
    /// Why it ended; `None` while it has not.
    pub finish: Option<FinishReason>,
}

impl Answer {
    /// Adds a piece. A retry or switch that discards starts the answer over.
    pub fn add(&mut self, delta: &Delta) {
        match delta {
            Delta::Begin { model } => self.model.clone_from(model),
            Delta::Text(text) => self.text.push_str(text),
            Delta::Reasoning { text, opaque } => self.add_reasoning(text, opaque.as_ref()),
            Delta::CallStart { id, name, .. } => {
                self.calls.push(RawCall { id: id.clone(), name: name.clone(), arguments: String::new() });
            }
            Delta::CallArguments { index, text } => {
                if let Some(call) = self.calls.get_mut(*index as usize) {
                    call.arguments.push_str(text);
                }
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Finish(reason) => self.finish = Some(*reason),
            Delta::Retry(ModelRetry { discards, .. }) | Delta::Switch(ModelSwitch { discards, .. }) => {
                if *discards {
                    *self = Self { model: std::mem::take(&mut self.model), ..Self::default() };
                }
            }
        }
    }

    /// One thought goes on until an opaque item ends it.
    fn add_reasoning(&mut self, text: &str, opaque: Option<&Value>) {
        match self.reasoning.last_mut() {
            Some((last, end @ None)) => {
                last.push_str(text);
                *end = opaque.cloned();
            }
            _ => self.reasoning.push((text.to_owned(), opaque.cloned())),
        }
    }
}
