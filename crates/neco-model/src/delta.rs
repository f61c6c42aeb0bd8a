//! The pieces of an answer, and the answer they add up to.

use std::fmt;

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
    /// What the vendor wants back unchanged with a call.
    CallOpaque {
        /// Which call.
        index: u32,
        /// A signature or the like.
        value: Value,
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
    /// The vendor pauses a long answer; it goes on when the conversation is sent again as it is.
    Pause,
    /// We stopped reading: it is more than an answer may be. What came before that counts.
    Bound(Bound),
}

/// A limit of ours that an answer went past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What there was too much of.
    pub what: Bounded,
    /// How much of it an answer may have.
    pub most: u64,
}

/// What is limited in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded {
    /// Bytes of text.
    Text,
    /// Bytes of thoughts.
    Reasoning,
    /// The number of calls.
    Calls,
    /// Bytes of the arguments of one call.
    Arguments,
    /// Bytes of the arguments of all calls.
    AllArguments,
}

impl fmt::Display for Bound {
    /// What there was too much of, with the setting that says so: "more than 100 calls (…)".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.what {
            Bounded::Text => write!(f, "more than {most} bytes of text (network.max_answer_text)"),
            Bounded::Reasoning => write!(f, "more than {most} bytes of thoughts (network.max_answer_reasoning)"),
            Bounded::Calls => write!(f, "more than {most} calls (network.max_answer_calls)"),
            Bounded::Arguments => {
                write!(f, "more than {most} bytes of arguments in one call (network.max_call_arguments)")
            }
            Bounded::AllArguments => {
                write!(f, "more than {most} bytes of arguments in all calls (network.max_call_arguments)")
            }
        }
    }
}

/// A call as the vendor gave it: its id may be missing or taken, its arguments may not be JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawCall {
    /// The vendor's id, when it gave one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// JSON text, hopefully.
    pub arguments: String,
    /// What the vendor wants back unchanged with the call.
    pub opaque: Option<Value>,
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
    /// In which order the above came: some vendors want their own order back.
    order: Vec<Slot>,
}

/// A place in the order of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// Text up to this byte.
    Text(usize),
    /// The thought of this index.
    Reasoning(usize),
    /// The call of this index.
    Call(usize),
}

/// One piece of a whole answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece<'a> {
    /// Text.
    Text(&'a str),
    /// A thought.
    Reasoning(&'a str, Option<&'a Value>),
    /// The call of this index.
    Call(usize, &'a RawCall),
}

impl Answer {
    /// Adds a piece. A retry or switch that discards starts the answer over.
    pub fn add(&mut self, delta: &Delta) {
        match delta {
            Delta::Begin { model } => self.model.clone_from(model),
            Delta::Text(text) => self.add_text(text),
            Delta::Reasoning { text, opaque } => self.add_reasoning(text, opaque.as_ref()),
            Delta::CallStart { id, name, .. } => {
                self.order.push(Slot::Call(self.calls.len()));
                self.calls.push(RawCall { id: id.clone(), name: name.clone(), ..RawCall::default() });
            }
            Delta::CallArguments { index, text } => {
                if let Some(call) = self.calls.get_mut(*index as usize) {
                    call.arguments.push_str(text);
                }
            }
            Delta::CallOpaque { index, value } => {
                if let Some(call) = self.calls.get_mut(*index as usize) {
                    call.opaque = Some(value.clone());
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

    /// The pieces in the order they came.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut read = 0;
        self.order.iter().filter_map(move |slot| match *slot {
            Slot::Text(end) => self.text.get(std::mem::replace(&mut read, end)..end).map(Piece::Text),
            Slot::Reasoning(index) => {
                self.reasoning.get(index).map(|(text, opaque)| Piece::Reasoning(text, opaque.as_ref()))
            }
            Slot::Call(index) => self.calls.get(index).map(|call| Piece::Call(index, call)),
        })
    }

    fn add_text(&mut self, text: &str) {
        self.text.push_str(text);
        match self.order.last_mut() {
            Some(Slot::Text(end)) => *end = self.text.len(),
            _ => self.order.push(Slot::Text(self.text.len())),
        }
    }

    /// One thought goes on until an opaque item or something else ends it.
    fn add_reasoning(&mut self, text: &str, opaque: Option<&Value>) {
        let goes_on = matches!(self.order.last(), Some(Slot::Reasoning(_)));
        match self.reasoning.last_mut() {
            Some((last, end @ None)) if goes_on => {
                last.push_str(text);
                *end = opaque.cloned();
            }
            _ => {
                self.order.push(Slot::Reasoning(self.reasoning.len()));
                self.reasoning.push((text.to_owned(), opaque.cloned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_in_the_order_they_came() {
        let thought = |text: &str, opaque: Option<Value>| Delta::Reasoning { text: text.to_owned(), opaque };
        let call = |index| Delta::CallStart { index, id: None, name: format!("t{index}") };
        let mut answer = Answer::default();
        for delta in [
            thought("a", None),
            thought("b", Some(Value::from("sig"))),
            thought("c", None),
            Delta::Text("one ".to_owned()),
            Delta::Text("two".to_owned()),
            thought("d", None),
            call(0),
            Delta::Text("three".to_owned()),
            call(1),
            Delta::CallArguments { index: 0, text: "{}".to_owned() },
        ] {
            answer.add(&delta);
        }
        let shown: Vec<String> = answer
            .pieces()
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Reasoning(text, opaque) => format!("({text}{})", opaque.map_or("", |_| "!")),
                Piece::Call(index, call) => format!("{}#{index}{}", call.name, call.arguments),
            })
            .collect();
        assert_eq!(shown, ["(ab!)", "(c)", "one two", "(d)", "t0#0{}", "three", "t1#1"]);
        assert_eq!(answer.text, "one twothree");
    }
}
