//! The end of a session: one small question to a model, what of it is worth keeping.
//!
//! It never fails a session: what goes wrong is logged. It takes a bounded time, and it asks only
//! about sessions in which something was done.

use std::sync::Arc;
use std::time::Duration;

use neco_model::{FinishReason, OutputSchema, Provider};
use neco_proto::app::memory::{Kept, MemoryReach};
use neco_proto::event::{SidePurpose, UsageEvent};
use neco_proto::{Message, Part, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::entry::Category;
use super::keep::NewEntry;
use super::memory::Memory;
use crate::aside::{self, AsideError};

/// What the model is told.
const SYSTEM: &str = include_str!("extract.md");

/// Tokens of the conversation that are looked at.
const MOST_TOKENS: u64 = 12_000;

const MOST_ENTRIES: usize = 3;

/// Calls, or things that the person said, that make a session one with work in it.
const WORTH_CALLS: usize = 3;
const WORTH_MESSAGES: usize = 2;

/// How a session that ends is looked through.
pub struct Extraction {
    /// Where it is kept.
    pub memory: Arc<Memory>,
    /// Who keeps it.
    pub source: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether a script is asked too.
    pub scripted_too: bool,
}

/// What the model said is worth keeping.
#[derive(Debug)]
pub struct WorthAnswer {
    text: String,
    usage: Option<UsageEvent>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Extracted {
    /// What the question cost.
    pub usage: Option<UsageEvent>,
    pub kept: Vec<Kept>,
}

impl Extraction {
    /// Whether something was said and done that is worth asking about, and `provider` may be asked.
    pub fn is_worth_it(&self, provider: &dyn Provider, messages: &[Message]) -> bool {
        is_worth_it(messages) && (self.scripted_too || !provider.scripted())
    }

    /// Looks through what was said and done and asks what is worth keeping. Nothing is kept yet.
    pub async fn ask(&self, provider: &dyn Provider, messages: Vec<Message>) -> Option<WorthAnswer> {
        let asked = tokio::time::timeout(self.timeout, ask(provider, messages)).await;
        let asked = asked.unwrap_or(Err(AsideError::TooSlow));
        asked.inspect_err(|error| tracing::warn!(%error, "nothing is kept of the session")).ok()
    }

    /// Keeps what the model said is worth it.
    pub async fn keep(&self, answer: WorthAnswer) -> Extracted {
        let mut extracted = Extracted { usage: answer.usage, kept: Vec::new() };
        for new in self.entries(&answer.text) {
            match self.memory.keep(new).await {
                Ok(kept) => extracted.kept.push(kept),
                Err(error) => tracing::warn!(%error, "an entry is not kept"),
            }
        }
        extracted
    }

    fn entries(&self, text: &str) -> Vec<NewEntry> {
        let not_understood = |error: &serde_json::Error| {
            tracing::warn!(%error, "what is worth keeping was not understood");
        };
        let found = read(text).inspect_err(not_understood).map(|found| found.memories).unwrap_or_default();
        found.into_iter().take(MOST_ENTRIES).filter_map(|memory| self.entry(memory)).collect()
    }

    /// Nobody is asked here, so nothing is written to the workspace: what is about the folder is kept
    /// with the person's own.
    fn entry(&self, memory: WorthKeeping) -> Option<NewEntry> {
        let category = Category::of(&memory.category, &memory.topic)?;
        let says_something = !memory.title.trim().is_empty() && !memory.summary.trim().is_empty();
        says_something.then(|| NewEntry {
            title: memory.title,
            summary: memory.summary,
            content: memory.content,
            category,
            tags: memory.tags,
            source: self.source.clone(),
            keep: if memory.everywhere { MemoryReach::Global } else { MemoryReach::Private },
            replaces: None,
        })
    }
}

/// Whether something was done that could be worth keeping.
fn is_worth_it(messages: &[Message]) -> bool {
    let said = messages.iter().filter(|message| message.role == Role::User && !message.is_neco()).count();
    let is_result = |part: &&Part| matches!(part, Part::ToolResult(result) if result.error_code.is_none());
    let done = messages.iter().flat_map(|message| &message.parts).filter(is_result).count();
    said >= WORTH_MESSAGES || (said > 0 && done >= WORTH_CALLS) || messages.iter().any(states_a_preference)
}

/// Words of somebody who says how things are to be done from now on.
const FROM_NOW_ON: [&str; 16] = [
    "always",
    "never",
    "from now on",
    "in future",
    "in the future",
    "every time",
    "prefer",
    "remember",
    "don't ever",
    "以后",
    "总是",
    "永远",
    "从现在",
    "不要再",
    "记住",
    "今後",
];

fn states_a_preference(message: &Message) -> bool {
    let says = |part: &Part| {
        let Part::Text { text } = part else { return false };
        let text = text.to_lowercase();
        FROM_NOW_ON.iter().any(|words| text.contains(words))
    };
    message.role == Role::User && !message.is_neco() && message.parts.iter().any(says)
}

async fn ask(provider: &dyn Provider, messages: Vec<Message>) -> Result<WorthAnswer, AsideError> {
    let room = provider.context_window().map_or(MOST_TOKENS, |window| (window / 2).min(MOST_TOKENS));
    let output = OutputSchema { name: "memories".to_owned(), schema: schema() };
    let words = (SYSTEM, "What is worth remembering?");
    let (answer, reason) = aside::ask(provider, messages, room, words, Some(output)).await?;
    if !matches!(reason, FinishReason::Stop | FinishReason::ToolCalls) {
        return Err(AsideError::NotWhole(reason));
    }
    let used = |usage| UsageEvent {
        aside: Some(SidePurpose::Memory),
        ..UsageEvent::of(&answer.model, usage, provider.scripted())
    };
    let usage = answer.usage.map(used);
    Ok(WorthAnswer { text: answer.text, usage })
}

/// What the model says.
#[derive(Debug, Deserialize)]
struct Worth {
    memories: Vec<WorthKeeping>,
}

#[derive(Debug, Deserialize)]
struct WorthKeeping {
    category: String,
    #[serde(default)]
    topic: String,
    title: String,
    summary: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    everywhere: bool,
}

/// The object in an answer; models that can't be held to a form put words or a fence around it.
fn read(text: &str) -> Result<Worth, serde_json::Error> {
    let (start, end) = (text.find('{').unwrap_or(0), text.rfind('}').map_or(text.len(), |at| at + 1));
    serde_json::from_str(text.get(start..end).unwrap_or(text))
}

fn schema() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "memories": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "category": { "type": "string", "enum": ["preference", "solution", "explore_result", "strategy"] },
                        "topic": text,
                        "title": text,
                        "summary": text,
                        "content": text,
                        "tags": { "type": "array", "items": text },
                        "everywhere": { "type": "boolean" },
                    },
                    "required": ["category", "topic", "title", "summary", "content", "tags", "everywhere"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["memories"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use neco_proto::ToolResult;

    use super::*;

    #[test]
    fn the_schema_is_strict() {
        assert!(OutputSchema { name: "memories".to_owned(), schema: schema() }.is_strict());
    }

    #[test]
    fn an_answer_is_found_among_words() {
        let one = r#"{"memories":[{"category":"solution","title":"t","summary":"s"}]}"#;
        for text in [one.to_owned(), format!("```json\n{one}\n```"), format!("Here: {one}\nDone.")] {
            assert_eq!(read(&text).unwrap().memories.first().unwrap().title, "t", "{text}");
        }
        for text in ["", "nothing", "{}", "{\"memories\": 5}", "}{"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_sessions_with_work_are_looked_through() {
        let result = |error_code| ToolResult { call_id: "c".into(), output: String::new(), error_code };
        let done = |count| Message::tool_results((0..count).map(|_| result(None)).collect());
        assert!(!is_worth_it(&[]));
        assert!(!is_worth_it(&[Message::user("hi"), done(2)]));
        assert!(is_worth_it(&[Message::user("hi"), done(3)]));
        assert!(is_worth_it(&[Message::user("hi"), Message::user("no, with tabs")]));
        assert!(is_worth_it(&[Message::user("From now on answer in German")]));
        assert!(is_worth_it(&[Message::user("以后用中文回答")]));
        assert!(!is_worth_it(&[Message::user("hi"), Message::neco("you always say so")]));
        assert!(!is_worth_it(&[Message::user("hi"), Message::neco("today is Sunday")]));
        let failed = Message::tool_results((0..5).map(|_| result(Some(neco_proto::ErrorCode::ToolFailed))).collect());
        assert!(!is_worth_it(&[Message::user("hi"), failed]));
    }
}
