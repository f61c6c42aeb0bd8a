//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use bytes::Bytes;
use http::HeaderMap;
use neco_proto::{Message, Part, Role, ToolCall};
use serde_json::{Map, Value, json};

use super::decode::ResponsesDecoder;
use crate::adapt::{CallIds, Taker, adapt};
use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::wire::arguments;
use crate::wire::format::{Decoder, Delivery, Problem, Wire};
use crate::wire::heads::{Heads, effort_level, initiator_headers};
use crate::wire::kept::{For, Kept, list};
use crate::wire::openai_chat::problem;
use crate::wire::target::Target;

const NAME: &str = "openai_responses";
/// The longest id of a call that is accepted.
const LONGEST_ID: usize = 64;

/// The format bound to one model.
pub struct OpenaiResponses {
    target: Target,
    taker: Taker,
    /// Whether headers say who asks.
    initiator: bool,
    heads: Heads,
}

impl OpenaiResponses {
    /// The format for `target`.
    pub fn bound_to(target: Target) -> Self {
        let taker = Taker::new(&target, CallIds::Words(LONGEST_ID));
        Self { target, taker, initiator: false, heads: Heads::default() }
    }

    /// The same, with headers that say who asks, or without them.
    #[must_use]
    pub fn with_initiator(self, initiator: bool) -> Self {
        Self { initiator, ..self }
    }

    fn encode_head(&self, request: &Request, delivery: Delivery) -> Bytes {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        // The seed is left out: this format has none and refuses what it does not know.
        let top_p = &self.target.parameters.top_p;
        set("model", Some(self.target.model.as_str().into()));
        set("stream", Some((delivery == Delivery::Streamed).into()));
        // Nothing is left at the vendor's; so the thoughts must travel.
        set("store", Some(false.into()));
        set("include", self.thinks().then(|| json!(["reasoning.encrypted_content"])));
        set("reasoning", self.reasoning());
        set("temperature", self.target.temperature(request).map(Value::from));
        set("top_p", top_p.map(Value::from));
        set("max_output_tokens", self.target.max_tokens(request).map(Value::from));
        set("prompt_cache_key", filled(&request.cache_key));
        set("instructions", filled(&request.system));
        set("text", request.output.as_ref().map(|output| output_format(output)));
        set("tools", (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect()));
        let mut bytes = serde_json::to_vec(&fields).unwrap_or_default();
        bytes.pop();
        bytes.extend_from_slice(b",\"input\":[");
        bytes.into()
    }

    fn reasoning(&self) -> Option<Value> {
        let effort = self.target.parameters.reasoning.as_deref();
        match effort.map(|effort| effort_level(&self.target.model, effort)) {
            Some("none") => Some(json!({ "effort": "none" })),
            Some(effort) => Some(json!({ "effort": effort, "summary": "auto" })),
            None => self.thinks().then(|| json!({ "summary": "auto" })),
        }
    }

    /// Models that do not think refuse to be asked for their thoughts. A model of which nothing is
    /// known is newer than the catalogue, and the newer ones think.
    fn thinks(&self) -> bool {
        let Target { model, info, parameters, .. } = &self.target;
        let old =
            ["gpt-3", "gpt-4", "chatgpt-"].iter().any(|begin| model.starts_with(begin)) || model.contains("-chat");
        info.reasoning || parameters.reasoning.is_some() || !(info.known || old)
    }
}

impl Wire for OpenaiResponses {
    fn path(&self) -> &str {
        "/responses"
    }

    fn headers(&self, request: &Request) -> HeaderMap {
        if self.initiator { initiator_headers(request, self.taker.vision) } else { HeaderMap::new() }
    }

    fn sees(&self, media_type: &str) -> bool {
        self.taker.sees(media_type)
    }

    fn encode_as(&self, request: &Request, delivery: Delivery) -> Vec<Bytes> {
        let head = self.heads.of(request, delivery, |request| self.encode_head(request, delivery));
        list(head, &adapt(&request.history, &request.tools, &self.taker), |sent, before| {
            sent.encoded(NAME, |message| encode(message, before))
        })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<ResponsesDecoder>::default()
    }

    fn problem(&self, status: u16, body: &[u8]) -> Problem {
        problem::of_answer(status, body)
    }
}

fn filled(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

fn output_format(output: &OutputSchema) -> Value {
    let OutputSchema { name, schema } = output;
    let strict = output.is_strict();
    json!({ "format": { "type": "json_schema", "name": name, "schema": schema, "strict": strict } })
}

/// Not strict: that would take only schemas of a certain form, and tools come with any.
fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "type": "function", "name": name, "description": description, "parameters": schema, "strict": false })
}

/// The items of `message`; `before` is the message before it, whose calls a tool message answers.
fn encode(message: &Message, before: Option<&Message>) -> Bytes {
    let mut kept = Kept::default();
    match message.role {
        Role::User => add_user(message, &mut kept),
        Role::Assistant => add_assistant(message, &mut kept),
        Role::Tool => add_results(message, before, &mut kept),
    }
    kept.finish()
}

fn add_user(message: &Message, kept: &mut Kept) {
    let content: Vec<Value> = message.parts.iter().filter_map(user_part).collect();
    add_item(&json!({ "type": "message", "role": "user", "content": content }), kept);
}

fn user_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } => Some(json!({ "type": "input_text", "text": text })),
        Part::Image { media_type, data } => Some(json!({
            "type": "input_image", "detail": "auto", "image_url": format!("data:{media_type};base64,{data}"),
        })),
        Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    }
}

fn add_assistant(message: &Message, kept: &mut Kept) {
    let mut rest = message.parts.as_slice();
    while let Some((part, after)) = rest.split_first() {
        rest = after;
        match part {
            Part::Text { text } => add_text(text, after.first(), kept),
            Part::Reasoning { opaque, .. } => {
                if let Some(item) = opaque.as_ref().filter(|item| is_thought(item) && leads_to_something(after)) {
                    kept.only_for(For::AUTHOR, |kept| add_item(item, kept));
                }
            }
            Part::ToolCall(call) => add_item(&call_item(call), kept),
            Part::Image { .. } | Part::ToolResult(_) => {}
        }
    }
}

fn add_text(text: &str, next: Option<&Part>, kept: &mut Kept) {
    let content = json!([{ "type": "output_text", "text": text }]);
    kept.add(b",{\"type\":\"message\",\"role\":\"assistant\",\"content\":");
    kept.add_json(&content);
    if let Some(Part::Reasoning { opaque: Some(opaque), .. }) = next
        && let Some(phase) = opaque.get("phase")
    {
        kept.only_for(For::AUTHOR, |kept| {
            kept.add(b",\"phase\":");
            kept.add_json(phase);
        });
    }
    kept.add(b"}");
}

fn is_thought(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "reasoning")
}

/// The vendor refuses a thought that nothing follows, as in an answer that was cut off.
fn leads_to_something(after: &[Part]) -> bool {
    after.iter().any(|part| match part {
        Part::Text { .. } | Part::ToolCall(_) => true,
        Part::Image { .. } | Part::Reasoning { .. } | Part::ToolResult(_) => false,
    })
}

fn call_item(call: &ToolCall) -> Value {
    let ToolCall { id, name, arguments, .. } = call;
    if is_custom(call) {
        return json!({ "type": "custom_tool_call", "call_id": id, "name": name, "input": arguments });
    }
    json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments::as_object(arguments) })
}

fn add_results(message: &Message, before: Option<&Message>, kept: &mut Kept) {
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            let call = before.and_then(|before| before.tool_calls().find(|call| call.id == result.call_id));
            let kind = if call.is_some_and(is_custom) { "custom_tool_call_output" } else { "function_call_output" };
            add_item(&json!({ "type": kind, "call_id": result.call_id, "output": result.output }), kept);
        }
    }
}

/// Whether its arguments were free text rather than JSON.
fn is_custom(call: &ToolCall) -> bool {
    call.opaque.as_ref().and_then(|opaque| opaque.get("type")).is_some_and(|kind| kind == "custom_tool_call")
}

fn add_item(item: &Value, kept: &mut Kept) {
    kept.add(b",");
    kept.add_json(item);
}
