//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::decode::ResponsesDecoder;
use super::items_of;
use crate::adapt::{CallIds, Taker, adapt};
use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::effort;
use crate::wire::format::{Decoder, Delivery, Problem, Wire};
use crate::wire::heads::Heads;
use crate::wire::initiator;
use crate::wire::kept::list;
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
        let Parameters { top_p, max_tokens, .. } = &self.target.parameters;
        set("model", Some(self.target.model.as_str().into()));
        set("stream", Some((delivery == Delivery::Streamed).into()));
        // Nothing is left at the vendor's; so the thoughts must travel.
        set("store", Some(false.into()));
        set("include", self.thinks().then(|| json!(["reasoning.encrypted_content"])));
        set("reasoning", self.reasoning());
        set("temperature", self.target.temperature(request).map(Value::from));
        set("top_p", top_p.map(Value::from));
        set("max_output_tokens", max_tokens.map(Value::from));
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
        match effort.map(|effort| effort::level(&self.target.model, effort)) {
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
        if self.initiator { initiator::headers(request, self.taker.vision) } else { HeaderMap::new() }
    }

    fn sees(&self, media_type: &str) -> bool {
        self.taker.sees(media_type)
    }

    fn encode_as(&self, request: &Request, delivery: Delivery) -> Vec<Bytes> {
        let head = self.heads.of(request, delivery, |request| self.encode_head(request, delivery));
        list(head, &adapt(&request.history, &self.taker), |sent, before| {
            sent.encoded(NAME, |message| items_of::encode(message, before))
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
