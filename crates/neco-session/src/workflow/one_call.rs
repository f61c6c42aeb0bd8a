//! The model of a task that is a tool or a command: it asks for one call and is done.
//!
//! So the call takes the way of every call, whoever asks for it: it is validated, hooks see it, the
//! policy judges it, a person may be asked, the workspace is kept before it, and it runs in its box.

use futures::stream;
use neco_model::{Delta, DeltaStream, FinishReason, Provider, Request};
use neco_proto::{Part, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What it is called where models are named.
const LABEL: &str = "workflow/task";

/// The one call that an agent makes instead of asking a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneCall {
    pub name: String,
    pub arguments: Value,
}

impl Provider for OneCall {
    fn label(&self) -> &str {
        LABEL
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
        let called = request.history.iter().any(|entry| entry.message().parts.iter().any(is_result));
        let begin = Delta::Begin { model: LABEL.to_owned() };
        let deltas = if called {
            vec![
                begin,
                Delta::Text("done".to_owned()),
                Delta::Usage(Usage::default()),
                Delta::Finish(FinishReason::Stop),
            ]
        } else {
            vec![
                begin,
                Delta::CallStart { index: 0, id: None, name: self.name.clone() },
                Delta::CallArguments { index: 0, text: self.arguments.to_string() },
                Delta::Usage(Usage::default()),
                Delta::Finish(FinishReason::ToolCalls),
            ]
        };
        Box::pin(stream::iter(deltas.into_iter().map(Ok)))
    }
}
