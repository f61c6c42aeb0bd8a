//! OpenAI responses: items that are added, filled and done, and the whole answer once more at the end.

use bytes::Bytes;
use neco_model::{Delta, FinishReason};
use neco_proto::Usage;
use serde_json::{Value, json};

use super::{Spoken, named, usage};

pub(super) fn speak(pieces: &[Delta], message: &str) -> Spoken {
    let mut items = Items { used: usage(pieces), ..Items::default() };
    items.add("response.created", json!({ "response": items.response("in_progress", None) }));
    pieces.iter().for_each(|piece| items.piece(piece));
    let error =
        json!({ "type": "error", "code": "server_error", "message": message, "param": null, "sequence_number": 0 });
    Spoken { events: items.events, end: Vec::new(), error: named(&error) }
}

#[derive(Default)]
struct Items {
    events: Vec<Bytes>,
    done: Vec<Value>,
    open: Option<Item>,
    used: Usage,
}

/// What is being written.
enum Item {
    Text(String),
    Thought(String),
    Call { id: String, name: String, arguments: String },
}

impl Items {
    fn piece(&mut self, piece: &Delta) {
        match piece {
            Delta::Text(text) => self.text(text),
            Delta::Reasoning { text, .. } => self.thought(text),
            Delta::CallStart { index, id, name } => {
                self.close();
                let id = id.clone().unwrap_or_else(|| format!("call_{index}"));
                self.open(Item::Call { id, name: name.clone(), arguments: String::new() });
            }
            Delta::CallArguments { text, .. } => {
                if let Some(Item::Call { arguments, .. }) = &mut self.open {
                    arguments.push_str(text);
                }
                self.fill("response.function_call_arguments.delta", json!({ "delta": text }));
            }
            Delta::Finish(reason) => self.finish(*reason),
            Delta::Usage(_) | Delta::Begin { .. } | Delta::CallOpaque { .. } | Delta::Retry(_) | Delta::Switch(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if !matches!(self.open, Some(Item::Text(_))) {
            self.close();
            self.open(Item::Text(String::new()));
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            self.fill("response.content_part.added", json!({ "content_index": 0, "part": part }));
        }
        if let Some(Item::Text(written)) = &mut self.open {
            written.push_str(text);
        }
        self.fill("response.output_text.delta", json!({ "content_index": 0, "delta": text, "logprobs": [] }));
    }

    fn thought(&mut self, text: &str) {
        if !matches!(self.open, Some(Item::Thought(_))) {
            self.close();
            self.open(Item::Thought(String::new()));
            let part = json!({ "type": "summary_text", "text": "" });
            self.fill("response.reasoning_summary_part.added", json!({ "summary_index": 0, "part": part }));
        }
        if let Some(Item::Thought(written)) = &mut self.open {
            written.push_str(text);
        }
        self.fill("response.reasoning_summary_text.delta", json!({ "summary_index": 0, "delta": text }));
    }

    fn open(&mut self, item: Item) {
        let event = json!({ "output_index": self.done.len(), "item": self.item(&item, "in_progress") });
        self.open = Some(item);
        self.add("response.output_item.added", event);
    }

    fn close(&mut self) {
        let Some(item) = self.open.take() else { return };
        match &item {
            Item::Text(text) => {
                self.fill("response.output_text.done", json!({ "content_index": 0, "text": text, "logprobs": [] }));
                let part = json!({ "type": "output_text", "text": text, "annotations": [] });
                self.fill("response.content_part.done", json!({ "content_index": 0, "part": part }));
            }
            Item::Thought(text) => {
                self.fill("response.reasoning_summary_text.done", json!({ "summary_index": 0, "text": text }));
                let part = json!({ "type": "summary_text", "text": text });
                self.fill("response.reasoning_summary_part.done", json!({ "summary_index": 0, "part": part }));
            }
            Item::Call { arguments, name, .. } => {
                let done = json!({ "arguments": arguments, "name": name });
                self.fill("response.function_call_arguments.done", done);
            }
        }
        let done = self.item(&item, "completed");
        self.add("response.output_item.done", json!({ "output_index": self.done.len(), "item": done.clone() }));
        self.done.push(done);
    }

    fn item(&self, item: &Item, status: &str) -> Value {
        let item_id = self.item_id();
        match item {
            Item::Text(text) => {
                let content = match text.as_str() {
                    "" => json!([]),
                    text => json!([{ "type": "output_text", "text": text, "annotations": [] }]),
                };
                json!({ "type": "message", "id": item_id, "role": "assistant", "status": status, "content": content })
            }
            Item::Thought(text) => {
                let summary = match text.as_str() {
                    "" => json!([]),
                    text => json!([{ "type": "summary_text", "text": text }]),
                };
                json!({ "type": "reasoning", "id": item_id, "summary": summary })
            }
            Item::Call { id, name, arguments } => json!({
                "type": "function_call", "id": item_id, "call_id": id, "name": name, "arguments": arguments,
                "status": status,
            }),
        }
    }

    fn finish(&mut self, reason: FinishReason) {
        self.close();
        let (kind, status, why) = match reason {
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Refusal | FinishReason::Pause => {
                ("response.completed", "completed", None)
            }
            FinishReason::Length | FinishReason::Bound(_) => {
                ("response.incomplete", "incomplete", Some("max_output_tokens"))
            }
            FinishReason::ContentFilter => ("response.incomplete", "incomplete", Some("content_filter")),
        };
        let response = self.response(status, why);
        self.add(kind, json!({ "response": response }));
    }

    fn response(&self, status: &str, why: Option<&str>) -> Value {
        let Usage { input, output, cache_read, reasoning, .. } = self.used;
        let usage = json!({
            "input_tokens": input, "input_tokens_details": { "cached_tokens": cache_read },
            "output_tokens": output, "output_tokens_details": { "reasoning_tokens": reasoning },
            "total_tokens": input + output,
        });
        json!({
            "id": "resp_script", "object": "response", "created_at": 0, "model": "script", "status": status,
            "output": self.done, "error": null, "incomplete_details": why.map(|why| json!({ "reason": why })),
            "usage": (status != "in_progress").then_some(usage), "parallel_tool_calls": true, "tools": [],
            "tool_choice": "auto", "metadata": {}, "instructions": null, "temperature": null, "top_p": null,
        })
    }

    /// An event about the item that is open.
    fn fill(&mut self, kind: &str, fields: Value) {
        let mut event = json!({ "item_id": self.item_id(), "output_index": self.done.len() });
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        self.add(kind, event);
    }

    fn item_id(&self) -> String {
        format!("item_{}", self.done.len())
    }

    fn add(&mut self, kind: &str, fields: Value) {
        let mut event = json!({ "type": kind, "sequence_number": self.events.len() });
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        self.events.push(named(&event));
    }
}
