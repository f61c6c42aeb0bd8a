//! A model is asked for a title.

use std::sync::Arc;

use futures::StreamExt;
use neco_agent::context::transcript;
use neco_model::tokens::Family;
use neco_model::{Answer, Delta, FinishReason, History, Provider, Request};
use neco_proto::Message;
use neco_proto::event::UsageEvent;

use super::shorten::of_answer;

/// What the model is told.
const SYSTEM: &str = include_str!("title.md");

/// Tokens of the conversation that are shown: a title needs few.
const MOST_TOKENS: u64 = 1_500;

/// What came of asking.
pub(super) struct Asked {
    /// The title, if the answer holds one.
    pub title: Option<String>,
    /// What the question cost.
    pub usage: Option<UsageEvent>,
}

/// Asks for a title of `messages`.
pub(super) async fn ask(provider: &dyn Provider, messages: Vec<Message>) -> Result<Asked, String> {
    let history: History = messages.into_iter().collect();
    let told = transcript(&history, history.len(), MOST_TOKENS, Family::of(provider.label()));
    let asked = format!("<conversation>\n{}\n</conversation>\n\nThe title:", told.trim());
    let mut stream = provider.whole(Request {
        system: SYSTEM.trim().into(),
        tools: Arc::from([]),
        history: History::from_iter([Message::user(asked)]),
        cache_key: String::new(),
        output: None,
        temperature: None,
        agent: None,
    });
    let mut answer = Answer::default();
    while let Some(delta) = stream.next().await {
        let delta = delta.map_err(|error| error.to_string())?;
        answer.add(&delta);
        if let Delta::Finish(reason) = delta {
            return Ok(finished(answer, reason, provider));
        }
    }
    Err("the answer has no end".to_owned())
}

/// An answer that was cut off costs as much as a whole one.
fn finished(answer: Answer, reason: FinishReason, provider: &dyn Provider) -> Asked {
    let title = match reason {
        FinishReason::Stop => of_answer(&answer.text),
        FinishReason::ToolCalls
        | FinishReason::Length
        | FinishReason::ContentFilter
        | FinishReason::Refusal
        | FinishReason::Pause
        | FinishReason::Bound(_) => None,
    };
    let used = |usage| UsageEvent {
        context_window: provider.context_window(),
        ..UsageEvent::of(&answer.model, usage, provider.scripted())
    };
    Asked { title, usage: answer.usage.map(used) }
}
