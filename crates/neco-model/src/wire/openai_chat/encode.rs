//! The request. A message is serialised once in its life; a request is a list of shared pieces.
//!
//! What is kept of an assistant message is `body ‖ reasoning ‖ length of reasoning (4 bytes, little
//! endian)`, where `body` lacks its closing brace. So one kept form serves vendors that want the
//! thoughts back and those that do not, and a switch between them serialises nothing again.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use neco_proto::{Message, Part, Role, ToolCall};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::dialect::{Dialect, ReasoningBack, ReasoningParameter};
use super::{decode::ChatDecoder, problem};
use crate::history::Entry;
use crate::request::{Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::format::{Decoder, Problem, Wire};

const NAME: &str = "openai_chat";
const TRAILER: usize = size_of::<u32>();
/// As many beginnings are kept as agents usually run side by side.
const KEPT_HEADS: usize = 8;

/// The format bound to one model.
pub struct OpenaiChat {
    provider: String,
    model: String,
    parameters: Parameters,
    dialect: Dialect,
    heads: Mutex<Vec<Head>>,
}

/// Everything before the conversation: the same in every request of an agent.
struct Head {
    system: Arc<str>,
    tools: Arc<[ToolDeclaration]>,
    cache_key: String,
    bytes: Bytes,
}

impl OpenaiChat {
    /// The format for `model` of `provider`.
    #[must_use]
    pub fn new(provider: &str, model: &str, parameters: Parameters, dialect: Dialect) -> Self {
        let (provider, model) = (provider.to_owned(), model.to_owned());
        Self { provider, model, parameters, dialect, heads: Mutex::default() }
    }

    fn head(&self, request: &Request) -> Bytes {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = heads.iter().position(|head| head.fits(request)) {
            // The one that was used last goes to the end; the front is given up first.
            heads[at..].rotate_left(1);
        } else {
            if heads.len() == KEPT_HEADS {
                heads.remove(0);
            }
            heads.push(Head {
                system: request.system.clone(),
                tools: request.tools.clone(),
                cache_key: request.cache_key.clone(),
                bytes: self.encode_head(request),
            });
        }
        heads.last().map(|head| head.bytes.clone()).unwrap_or_default()
    }

    fn encode_head(&self, request: &Request) -> Bytes {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), self.model.as_str().into());
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
        let Parameters { temperature, top_p, max_tokens, reasoning, seed } = &self.parameters;
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

    fn add_assistant(&self, message: &Message, kept: &Bytes, pieces: &mut Vec<Bytes>) {
        let Some((rest, trailer)) = kept.split_last_chunk::<TRAILER>() else { return };
        let length = u32::from_le_bytes(*trailer) as usize;
        let Some(body) = rest.len().checked_sub(length) else { return };
        pieces.push(kept.slice(..body));
        let ours = message.model.as_deref().is_none_or(|model| is_of(model, &self.provider));
        match self.dialect.reasoning_back {
            ReasoningBack::Kept | ReasoningBack::Required if ours && length > 0 => {
                pieces.push(kept.slice(body..rest.len()));
            }
            ReasoningBack::Required if message.tool_calls().next().is_some() => {
                pieces.push(Bytes::from_static(b",\"reasoning_content\":\"\""));
            }
            ReasoningBack::Never | ReasoningBack::Kept | ReasoningBack::Required => {}
        }
        pieces.push(Bytes::from_static(b"}"));
    }

    fn add_entry(&self, entry: &Entry, pieces: &mut Vec<Bytes>) {
        let message = entry.message();
        let bytes = entry.encoded(NAME, encode_message);
        if bytes.is_empty() {
            return;
        }
        match message.role {
            Role::Assistant => self.add_assistant(message, &bytes, pieces),
            Role::User | Role::Tool => pieces.push(bytes),
        }
    }
}

impl Head {
    fn fits(&self, request: &Request) -> bool {
        Arc::ptr_eq(&self.system, &request.system)
            && Arc::ptr_eq(&self.tools, &request.tools)
            && self.cache_key == request.cache_key
    }
}

impl Wire for OpenaiChat {
    fn path(&self) -> &str {
        "/chat/completions"
    }

    fn encode(&self, request: &Request) -> Vec<Bytes> {
        let mut pieces = Vec::with_capacity(request.history.len() * 2 + 2);
        pieces.push(self.head(request));
        for entry in request.history.iter() {
            self.add_entry(entry, &mut pieces);
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

fn is_of(model: &str, provider: &str) -> bool {
    model.strip_prefix(provider).is_some_and(|rest| rest.starts_with('/'))
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}

/// One history message with a comma before it; nothing when it says nothing.
fn encode_message(message: &Message) -> Bytes {
    let mut out = Vec::new();
    match message.role {
        Role::User => {
            add_message(&mut out, &json!({ "role": "user", "content": message.text() }));
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

fn encode_assistant(message: &Message, out: &mut Vec<u8>) {
    let text = message.text();
    let calls: Vec<Value> = message.tool_calls().map(call).collect();
    if text.is_empty() && calls.is_empty() {
        return;
    }
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
        "function": { "name": call.name, "arguments": arguments(&call.arguments) },
    })
}

/// Many servers parse the arguments of earlier calls and refuse the whole conversation when they
/// are no JSON object. So the model sees its own words again, but inside one.
fn arguments(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    if text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return text.to_owned();
    }
    json!({ "not_json": text }).to_string()
}

fn add_message(out: &mut Vec<u8>, message: &impl Serialize) {
    out.push(b',');
    out.extend(to_bytes(message));
}

/// Our own values always have a JSON form; writing into memory does not fail.
fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
