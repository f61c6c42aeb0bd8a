//! The request. A message is serialised once in its life; a request is a list of shared pieces.
//!
//! What is kept of an assistant message is `body ‖ reasoning ‖ length of reasoning (4 bytes, little
//! endian)`, where `body` lacks its closing brace. So one kept form serves vendors that want the
//! thoughts back and those that do not, and a switch between them serialises nothing again.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use neco_proto::{Message, Part, Role, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::dialect::{Dialect, ReasoningBack, ReasoningParameter};
use super::{decode::ChatDecoder, problem};
use crate::adapt::taker::Thoughts;
use crate::adapt::{Sent, Taker, adapt};
use crate::request::{Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::arguments;
use crate::wire::format::{Decoder, Problem, Wire};
use crate::wire::heads::Heads;
use crate::wire::target::Target;

const NAME: &str = "openai_chat";
const TRAILER: usize = size_of::<u32>();
/// What the model says where it must say something.
const BETWEEN: &[u8] = b",{\"role\":\"assistant\",\"content\":\"Done.\"}";

/// The format bound to one model.
pub struct OpenaiChat {
    target: Target,
    taker: Taker,
    dialect: Dialect,
    heads: Heads,
}

impl OpenaiChat {
    /// The format for `model` of `provider`, of which nothing else is known.
    #[must_use]
    pub fn new(provider: &str, model: &str, parameters: Parameters, dialect: Dialect) -> Self {
        Self::bound_to(Target { parameters, ..Target::new(provider, model) }, dialect)
    }

    /// The format for `target`.
    #[must_use]
    pub fn bound_to(target: Target, dialect: Dialect) -> Self {
        let taker = Taker::new(&target, dialect.call_ids, Thoughts::OfProvider);
        Self { target, taker, dialect, heads: Heads::default() }
    }

    fn encode_head(&self, request: &Request) -> Bytes {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), self.target.model.as_str().into());
        fields.insert("stream".to_owned(), true.into());
        if self.dialect.stream_usage {
            fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
        if self.dialect.prompt_cache_key && !request.cache_key.is_empty() {
            fields.insert("prompt_cache_key".to_owned(), request.cache_key.as_str().into());
        }
        self.add_parameters(&mut fields);
        fields.extend(self.dialect.extra.clone());
        if !request.tools.is_empty() {
            fields.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        }
        let mut bytes = to_bytes(&fields);
        bytes.pop();
        bytes.extend_from_slice(b",\"messages\":[");
        if !request.system.is_empty() {
            bytes.extend(to_bytes(&json!({ "role": "system", "content": &*request.system })));
        }
        bytes.into()
    }

    fn add_parameters(&self, fields: &mut Map<String, Value>) {
        let Parameters { temperature, top_p, max_tokens, reasoning, seed } = &self.target.parameters;
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        set("temperature", temperature.map(Value::from));
        set("top_p", top_p.map(Value::from));
        set(&self.dialect.max_tokens_field, max_tokens.map(Value::from));
        set("seed", seed.map(Value::from));
        let Some(effort) = reasoning else { return };
        match self.dialect.reasoning {
            ReasoningParameter::Effort => set("reasoning_effort", Some(effort.as_str().into())),
            ReasoningParameter::Object => set("reasoning", Some(json!({ "effort": effort }))),
            ReasoningParameter::Thinking if effort == "none" => {
                set("thinking", Some(json!({ "type": "disabled" })));
            }
            ReasoningParameter::Thinking => {
                set("thinking", Some(json!({ "type": "enabled" })));
                set("reasoning_effort", Some(effort.as_str().into()));
            }
        }
    }

    fn add_assistant(&self, sent: &Sent<'_>, kept: &Bytes, pieces: &mut Vec<Bytes>) {
        let Some((rest, trailer)) = kept.split_last_chunk::<TRAILER>() else { return };
        let length = u32::from_le_bytes(*trailer) as usize;
        let Some(body) = rest.len().checked_sub(length) else { return };
        pieces.push(kept.slice(..body));
        match self.dialect.reasoning_back {
            ReasoningBack::Kept | ReasoningBack::Required if sent.own_thoughts() && length > 0 => {
                pieces.push(kept.slice(body..rest.len()));
            }
            ReasoningBack::Required if sent.message().tool_calls().next().is_some() => {
                pieces.push(Bytes::from_static(b",\"reasoning_content\":\"\""));
            }
            ReasoningBack::Never | ReasoningBack::Kept | ReasoningBack::Required => {}
        }
        pieces.push(Bytes::from_static(b"}"));
    }

    fn add_message(&self, sent: &Sent<'_>, pieces: &mut Vec<Bytes>) {
        let bytes = sent.encoded(NAME, encode_message);
        match sent.message().role {
            Role::Assistant => self.add_assistant(sent, &bytes, pieces),
            Role::User | Role::Tool => pieces.push(bytes),
        }
    }
}

impl Wire for OpenaiChat {
    fn path(&self) -> &str {
        "/chat/completions"
    }

    fn headers(&self, request: &Request) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.dialect.initiator {
            let user = request.history.last().is_none_or(|message| message.role == Role::User);
            headers.insert("x-initiator", HeaderValue::from_static(if user { "user" } else { "agent" }));
            let is_picture = |part: &Part| matches!(part, Part::Image { .. });
            if self.taker.vision && request.history.iter().any(|entry| entry.message().parts.iter().any(is_picture)) {
                headers.insert("copilot-vision-request", HeaderValue::from_static("true"));
            }
        }
        headers
    }

    fn encode(&self, request: &Request) -> Vec<Bytes> {
        let messages = adapt(&request.history, &self.taker);
        let mut pieces = Vec::with_capacity(messages.len() * 3 + 2);
        pieces.push(self.heads.of(request, |request| self.encode_head(request)));
        let mut after_results = false;
        for sent in &messages {
            let role = sent.message().role;
            if self.dialect.answer_after_results && after_results && role == Role::User {
                pieces.push(Bytes::from_static(BETWEEN));
            }
            after_results = role == Role::Tool;
            self.add_message(sent, &mut pieces);
        }
        // Every message begins with the comma that separates it from the one before.
        if request.system.is_empty()
            && let Some(first) = pieces.get_mut(1)
        {
            *first = first.slice(1..);
        }
        pieces.push(Bytes::from_static(b"]}"));
        pieces
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<ChatDecoder>::default()
    }

    fn problem(&self, status: u16, body: &[u8]) -> Problem {
        problem::of_answer(status, body)
    }
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}

/// One message with a comma before it.
fn encode_message(message: &Message) -> Bytes {
    let mut out = Vec::new();
    match message.role {
        Role::User => {
            add_message(&mut out, &json!({ "role": "user", "content": user_content(message) }));
        }
        Role::Tool => {
            for part in &message.parts {
                if let Part::ToolResult(result) = part {
                    let id = result.call_id.as_str();
                    add_message(&mut out, &json!({ "role": "tool", "tool_call_id": id, "content": result.output }));
                }
            }
        }
        Role::Assistant => encode_assistant(message, &mut out),
    }
    out.into()
}

/// Plain text where that is all, which every server knows; else parts.
fn user_content(message: &Message) -> Value {
    let has_pictures = message.parts.iter().any(|part| matches!(part, Part::Image { .. }));
    if !has_pictures {
        return message.text().into();
    }
    let part = |part: &Part| match part {
        Part::Text { text } => Some(json!({ "type": "text", "text": text })),
        Part::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            Some(json!({ "type": "image_url", "image_url": { "url": url } }))
        }
        Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    };
    message.parts.iter().filter_map(part).collect()
}

fn encode_assistant(message: &Message, out: &mut Vec<u8>) {
    let text = message.text();
    let calls: Vec<Value> = message.tool_calls().map(call).collect();
    let mut fields = Map::new();
    fields.insert("role".to_owned(), "assistant".into());
    // Servers disagree about a missing and about an empty content; all of them know null beside calls.
    fields.insert("content".to_owned(), if text.is_empty() { Value::Null } else { text.into() });
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    add_message(out, &fields);
    out.pop();
    let before = out.len();
    encode_reasoning(message, out);
    let length = u32::try_from(out.len() - before).unwrap_or_else(|_| {
        // Four gigabytes of thought are left out rather than sent half.
        out.truncate(before);
        0
    });
    out.extend(length.to_le_bytes());
}

/// What the vendor gave: the very items it wants back, or else the text.
fn encode_reasoning(message: &Message, out: &mut Vec<u8>) {
    let mut thought = String::new();
    let mut details = Vec::new();
    for part in &message.parts {
        if let Part::Reasoning { text, opaque } = part {
            thought.push_str(text);
            let items = opaque.as_ref().and_then(|opaque| opaque.get("reasoning_details"));
            details.extend(items.and_then(Value::as_array).into_iter().flatten());
        }
    }
    if !details.is_empty() {
        out.extend_from_slice(b",\"reasoning_details\":");
        out.extend(to_bytes(&details));
    } else if !thought.is_empty() {
        out.extend_from_slice(b",\"reasoning_content\":");
        out.extend(to_bytes(&thought));
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id.as_str(),
        "type": "function",
        "function": { "name": call.name, "arguments": arguments::as_object(&call.arguments) },
    })
}

fn add_message(out: &mut Vec<u8>, message: &impl Serialize) {
    out.push(b',');
    out.extend(to_bytes(message));
}

/// Our own values always have a JSON form; writing into memory does not fail.
fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
