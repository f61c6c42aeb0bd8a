//! A model that keeps what it is asked, checks it, and answers by a rule.

use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::{self, StreamExt};
use neco_agent::context::tokens_of_all;
use neco_model::tokens::{Family, estimate};
use neco_model::{Delta, DeltaStream, Entry, ErrorKind, FinishReason, ModelError, Place, Provider, Request};
use neco_proto::{CallId, Message, Part, Role};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What the model does with a question.
pub enum Reply {
    /// Says something.
    Say(String),
    /// The same, as soon as it may.
    SayAfter(Arc<Notify>, String),
    /// Calls a tool.
    Call(&'static str, Value),
    /// Refuses the question as too long.
    TooLong,
    /// Breaks.
    Fail,
}

/// The number of a question, from 0, and the question.
type Rule = Box<dyn Fn(usize, &Request) -> Reply + Send + Sync>;

/// A model with a window that answers by a rule.
pub struct Model {
    window: Option<u64>,
    rule: Rule,
    asked: Mutex<Vec<Request>>,
}

impl Model {
    /// Answers by `rule`, and keeps all that it is asked.
    pub fn new(window: Option<u64>, rule: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { window, rule: Box::new(rule), asked: Mutex::default() })
    }

    /// The questions, oldest first.
    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Provider for Model {
    fn label(&self) -> &str {
        "stage/recorder"
    }

    fn scripted(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<u64> {
        self.window
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let number = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(request.clone());
            asked.len() - 1
        };
        let begin = Ok(Delta::Begin { model: self.label().to_owned() });
        let reply = (self.rule)(number, &request);
        if let Reply::SayAfter(may, text) = reply {
            let waits = async move {
                may.notified().await;
                stream::iter([Ok(Delta::Text(text)), Ok(Delta::Finish(FinishReason::Stop))])
            };
            return stream::iter([begin]).chain(stream::once(waits).flatten()).boxed();
        }
        let rest: Vec<Result<Delta, ModelError>> = match reply {
            Reply::SayAfter(..) => Vec::new(),
            Reply::Say(text) => vec![Ok(Delta::Text(text)), Ok(Delta::Finish(FinishReason::Stop))],
            Reply::Call(name, arguments) => vec![
                Ok(Delta::CallStart { index: 0, id: Some(format!("call_{number}")), name: name.to_owned() }),
                Ok(Delta::CallArguments { index: 0, text: arguments.to_string() }),
                Ok(Delta::Finish(FinishReason::ToolCalls)),
            ],
            Reply::TooLong => {
                vec![Err(ModelError::new(ErrorKind::ContextLength, Place::Http, "stage says that this is too long"))]
            }
            Reply::Fail => vec![Err(ModelError::new(ErrorKind::InvalidRequest, Place::Http, "stage broke"))],
        };
        stream::iter(std::iter::once(begin).chain(rest)).boxed()
    }
}

/// Whether a question is one for a summary.
pub fn wants_summary(request: &Request) -> bool {
    request.tools.is_empty() && request.system.contains("## Next steps")
}

/// Reads one of the sample files, another part each time.
pub fn look(number: usize) -> Reply {
    Reply::Call("read_file", json!({ "path": format!("file{}.txt", number % 9), "offset": number % 40 + 1 }))
}

/// Tokens of a question, counted as the product counts.
pub fn tokens(request: &Request) -> u64 {
    let family = Family::of("stage/recorder");
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| estimate(&format!("{}{}{}", tool.name, tool.description, tool.schema), family))
        .sum();
    estimate(&request.system, family) + tools + tokens_of_all(&request.history, family)
}

/// What is wrong with the order of calls and results, if anything is.
pub fn unpaired(request: &Request) -> Option<String> {
    let messages: Vec<&Message> = request.history.iter().map(Entry::message).collect();
    messages.iter().enumerate().find_map(|(at, message)| {
        let calls: Vec<&CallId> = message.tool_calls().map(|call| &call.id).collect();
        let results: Vec<&CallId> = messages.get(at + 1).map(|next| results(next)).unwrap_or_default();
        let follows = at > 0 && messages.get(at - 1).is_some_and(|before| before.tool_calls().next().is_some());
        let wrong = (!calls.is_empty() && calls != results) || (message.role == Role::Tool && !follows);
        wrong.then(|| format!("message {at} of {}: {message:?}", messages.len()))
    })
}

fn results(message: &Message) -> Vec<&CallId> {
    let mut found = Vec::new();
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            found.push(&result.call_id);
        }
    }
    found
}
