//! One tiny real question to a model: does it answer, how fast, and can it call a tool?

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::{Message, Usage};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::delta::{Answer, Delta, FinishReason, RawCall};
use crate::error::ModelError;
use crate::models::Models;
use crate::provider::Provider;
use crate::request::{Request, ToolDeclaration};
use crate::setup::SetupError;

const TOOL: &str = "echo";
const WORD: &str = "neco";
const SYSTEM: &str = "You are a test of a connection. Do exactly what you are told, and nothing else.";

/// What one attempt came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// How long until the first piece of the answer came.
    pub first_byte: Option<Duration>,
    /// How long the answer took in all.
    pub took: Duration,
    /// What the vendor counted.
    pub usage: Option<Usage>,
    /// Whether it called the tool as it was told; `None` when it was given none.
    pub called: Option<bool>,
    /// What it called where that is not what it was told.
    pub miscalled: Option<String>,
    /// Why it ended; `None` when it broke off.
    pub finish: Option<FinishReason>,
    /// Why it failed.
    pub error: Option<ModelError>,
}

impl Trial {
    /// Whether the model can be worked with.
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.finish.is_some() && self.called != Some(false)
    }

    /// Output tokens a second from the first piece on; `None` when too little came to tell.
    pub fn tokens_per_second(&self) -> Option<f64> {
        let tokens = self.usage?.output;
        let seconds = self.took.saturating_sub(self.first_byte?).as_secs_f64();
        (tokens > 1 && seconds > 0.001).then(|| tokens as f64 / seconds)
    }
}

impl Models {
    /// Everything that `name` stands for, each of its keys for itself, and whether it can call tools;
    /// nothing of it is tried again by itself.
    /// Fails when there is no such model, or none of them can be asked.
    pub fn each_alone(&self, name: &str) -> Result<Vec<Alone>, SetupError> {
        let mut all = Vec::new();
        for model in self.members(name)?.0 {
            let info = self.info_of(&model)?;
            match self.workshop.member(self.providers.get(&model.provider)?, &model, info) {
                Ok(member) => all.extend(member.lanes().map(|lane| Alone {
                    name: lane.name.clone(),
                    tools: info.tools,
                    provider: Ok(Arc::clone(&lane.provider)),
                })),
                Err(error) => all.push(Alone { name: model.label(), tools: info.tools, provider: Err(error) }),
            }
        }
        Ok(all)
    }
}

/// One key of one model, outside of its group.
pub struct Alone {
    /// `provider/model`, with the number of the key where there are several.
    pub name: String,
    /// Whether it is known to call tools.
    pub tools: bool,
    /// What is asked, or why it can't be.
    pub provider: Result<Arc<dyn Provider>, SetupError>,
}

/// Asks `provider` once; with a tool that it is to call if it can call `tools`.
pub async fn attempt(provider: &dyn Provider, tools: bool) -> Trial {
    let begin = Instant::now();
    let (mut answer, mut first_byte, mut error) = (Answer::default(), None, None);
    let mut stream = provider.stream(question(tools));
    while let Some(item) = stream.next().await {
        match item {
            Ok(delta) => {
                if !matches!(delta, Delta::Begin { .. }) {
                    first_byte.get_or_insert_with(|| begin.elapsed());
                }
                answer.add(&delta);
            }
            Err(failure) => error = Some(failure),
        }
    }
    Trial {
        first_byte,
        took: begin.elapsed(),
        usage: answer.usage,
        called: tools.then(|| answer.calls.iter().any(is_as_told)),
        miscalled: answer
            .calls
            .iter()
            .find(|call| !is_as_told(call))
            .map(|call| format!("{} {}", call.name, call.arguments)),
        finish: answer.finish,
        error,
    }
}

fn question(tools: bool) -> Request {
    let schema = json!({
        "type": "object",
        "properties": { "word": { "type": "string", "description": "The word to say back." } },
        "required": ["word"],
    });
    let tool = ToolDeclaration { name: TOOL.to_owned(), description: "Says a word back.".to_owned(), schema };
    let words = match tools {
        true => format!("Call the tool `{TOOL}` once with the word `{WORD}`."),
        false => format!("Answer with the one word `{WORD}`."),
    };
    Request {
        system: SYSTEM.into(),
        tools: if tools { vec![tool].into() } else { Vec::new().into() },
        history: [Message::user(words)].into_iter().collect(),
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

fn is_as_told(call: &RawCall) -> bool {
    let arguments: Option<Value> = serde_json::from_str(&call.arguments).ok();
    let word = arguments.as_ref().and_then(|arguments| arguments.get("word")).and_then(Value::as_str);
    call.name == TOOL && word == Some(WORD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{Fault, Script};

    #[tokio::test]
    async fn a_model_passes_when_it_calls_the_tool_as_told() {
        let script = Script::new().call(TOOL, json!({ "word": WORD })).usage(30, 12).say("I called it!").say("neco");
        let model = script.into_provider();
        let called = attempt(&*model, true).await;
        assert!(called.passed() && called.called == Some(true) && called.first_byte.is_some(), "{called:?}");
        assert_eq!(called.usage.map(|usage| usage.output), Some(12));
        let talked = attempt(&*model, true).await;
        assert!(!talked.passed() && talked.error.is_none() && talked.finish.is_some(), "{talked:?}");
        assert!(attempt(&*model, false).await.passed());
        assert!(!attempt(&*model, false).await.passed(), "the script is used up");
    }

    #[tokio::test]
    async fn arguments_that_are_none_do_not_count() {
        let script = Script::parse(r#"{"turns":[{"calls":[{"name":"echo","arguments_raw":"{\"word\":"}]}]}"#).unwrap();
        let trial = attempt(&*script.into_provider(), true).await;
        assert_eq!((trial.called, trial.miscalled.as_deref()), (Some(false), Some("echo {\"word\":")));
        let refused = attempt(&*Script::new().fault(Fault::status(401)).into_provider(), true).await;
        assert!(!refused.passed() && refused.error.is_some() && refused.first_byte.is_none());
    }

    #[test]
    fn speed_is_told_only_when_there_is_something_to_tell() {
        let trial = Trial {
            first_byte: Some(Duration::from_millis(500)),
            took: Duration::from_millis(2500),
            usage: Some(Usage { output: 100, ..Usage::default() }),
            called: None,
            miscalled: None,
            finish: Some(FinishReason::Stop),
            error: None,
        };
        assert_eq!(trial.tokens_per_second(), Some(50.0));
        assert_eq!(Trial { usage: None, ..trial.clone() }.tokens_per_second(), None);
        assert_eq!(Trial { took: Duration::from_millis(500), ..trial }.tokens_per_second(), None);
    }
}
