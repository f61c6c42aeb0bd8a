//! The request. A message is serialised once in its life; a request is a list of shared pieces, and
//! the marks of the prompt cache are pieces of their own between them.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use neco_proto::{Message, Part, Role, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use super::decode::AnthropicDecoder;
use super::thinking::Generation;
use crate::adapt::{CallIds, Sent, Taker, adapt};
use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::wire::arguments;
use crate::wire::format::{Auth, Decoder, Delivery, Problem, Wire};
use crate::wire::heads::Heads;
use crate::wire::kept::{For, Kept, add_pieces};
use crate::wire::openai_chat::problem;
use crate::wire::target::Target;

const NAME: &str = "anthropic";
const VERSION: &str = "2023-06-01";
const LONGEST_ID: usize = 64;
/// The most that an answer gets unasked: where the window is small, the vendor sets this much of it
/// aside for the answer.
const MOST_OUTPUT: u64 = 64_000;
/// Takes the place of a block's closing brace.
const MARK: &[u8] = b",\"cache_control\":{\"type\":\"ephemeral\"}}";
/// Conversations in which tools were used are refused without any declaration; none may be called.
const NO_TOOLS: &[u8] = b"],\"tools\":[{\"name\":\"none\",\"description\":\"No tools are available now.\",\
    \"input_schema\":{\"type\":\"object\"}}],\"tool_choice\":{\"type\":\"none\"}}";

/// The format bound to one model.
pub struct Anthropic {
    target: Target,
    taker: Taker,
    generation: Generation,
    heads: Heads,
    /// The beginnings of requests that can't ask for thought.
    heads_silent: Heads,
}

impl Anthropic {
    /// The format for `target`.
    pub fn bound_to(target: Target) -> Self {
        let taker = Taker::new(&target, CallIds::Words(LONGEST_ID));
        let generation = Generation::of(&target.model);
        Self { target, taker, generation, heads: Heads::default(), heads_silent: Heads::default() }
    }

    fn encode_head(&self, request: &Request, delivery: Delivery, may_think: bool) -> Bytes {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        // The seed is left out: this format has none and refuses what it does not know.
        let top_p = &self.target.parameters.top_p;
        // Which of these models take it is known better than the catalogue says: see `takes_sampling`.
        let temperature = self.target.parameters.temperature.or(request.temperature);
        let max_tokens = self.max_tokens(request);
        let (thinking, output_config) = if may_think { self.thinking(max_tokens) } else { (None, None) };
        let sampling = self.generation.takes_sampling(thinking.is_some());
        set("model", Some(self.target.model.as_str().into()));
        set("max_tokens", Some(max_tokens.into()));
        set("stream", Some((delivery == Delivery::Streamed).into()));
        set("thinking", thinking);
        set("output_config", with_output(output_config, request.output.as_deref()));
        set("temperature", temperature.filter(|_| sampling).map(|number| number.min(1.0).into()));
        // Both at once are refused by some models.
        set("top_p", top_p.filter(|_| sampling && temperature.is_none()).map(Value::from));
        set("tools", tools(&request.tools));
        set("system", system(&request.system));
        let mut bytes = serde_json::to_vec(&fields).unwrap_or_default();
        bytes.pop();
        bytes.extend_from_slice(b",\"messages\":[");
        bytes.into()
    }

    /// The fields `thinking` and `output_config`.
    fn thinking(&self, max_tokens: u64) -> (Option<Value>, Option<Value>) {
        self.generation.fields(self.target.parameters.reasoning.as_deref(), max_tokens)
    }

    /// Whether the model can be asked to think in the middle of `conversation`: models that think by a
    /// budget refuse to go on with calls that they did not think about.
    fn may_think(&self, conversation: &[Sent<'_>]) -> bool {
        if self.generation != Generation::Budget {
            return true;
        }
        let last = conversation.iter().rfind(|sent| sent.message().role == Role::Assistant);
        last.is_none_or(|sent| {
            let called = sent.message().tool_calls().next().is_some();
            !called || (sent.own_thoughts() && begins_with_thought(sent.message()))
        })
    }

    fn max_tokens(&self, request: &Request) -> u64 {
        let info = &self.target.info;
        let usual = info.max_output.min(MOST_OUTPUT).min(info.context_window / 4).max(1);
        self.target.max_tokens(request).unwrap_or(usual)
    }
}

impl Wire for Anthropic {
    fn path(&self) -> &str {
        "/messages"
    }

    fn auth(&self) -> Auth {
        Auth::Header(HeaderName::from_static("x-api-key"))
    }

    fn headers(&self, _: &Request) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        if let Some(beta) = self.generation.beta() {
            headers.insert("anthropic-beta", HeaderValue::from_static(beta));
        }
        headers
    }

    fn sees(&self, media_type: &str) -> bool {
        self.taker.sees(media_type)
    }

    fn encode_as(&self, request: &Request, delivery: Delivery) -> Vec<Bytes> {
        let conversation = adapt(&request.history, &request.tools, &self.taker);
        let mut turns = Turns { pieces: Vec::with_capacity(conversation.len() * 3 + 6), ..Turns::default() };
        let may_think = self.may_think(&conversation);
        let heads = if may_think { &self.heads } else { &self.heads_silent };
        turns.pieces.push(heads.of(request, delivery, |request| self.encode_head(request, delivery, may_think)));
        // Who is told not to think is not shown its thoughts. Without a word some think all the same.
        let silent = self.target.parameters.reasoning.as_deref() == Some("none")
            && self.thinking(self.max_tokens(request)).0.is_none();
        for sent in &conversation {
            turns.add(sent, if sent.own_thoughts() && !silent { For::AUTHOR } else { For::OTHERS });
        }
        let has_calls = conversation.iter().any(|sent| sent.message().role == Role::Tool);
        let end = if request.tools.is_empty() && has_calls { NO_TOOLS } else { b"]}" };
        turns.finish(end)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<AnthropicDecoder>::default()
    }

    fn problem(&self, status: u16, body: &[u8]) -> Problem {
        problem::of_answer(status, body)
    }
}

/// Messages of one speaker in a row become one turn.
#[derive(Default)]
struct Turns {
    pieces: Vec<Bytes>,
    speaker: Option<Speaker>,
    /// The last piece of each turn of the user's.
    user_ends: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

impl Turns {
    fn add(&mut self, sent: &Sent<'_>, reader: For) {
        let speaker = match sent.message().role {
            Role::User | Role::Tool => Speaker::User,
            Role::Assistant => Speaker::Assistant,
        };
        let begins = self.speaker != Some(speaker);
        if begins {
            self.close();
            self.open(speaker);
        }
        let first = self.pieces.len();
        let kept = sent.encoded(NAME, encode);
        add_pieces(&kept, reader, &mut self.pieces);
        // Every block begins with the comma that separates it from the one before.
        if begins && let Some(piece) = self.pieces.get_mut(first) {
            *piece = piece.slice(1..);
        }
    }

    fn open(&mut self, speaker: Speaker) {
        let open: &[u8] = match (speaker, self.speaker) {
            (Speaker::User, None) => b"{\"role\":\"user\",\"content\":[",
            (Speaker::Assistant, None) => b"{\"role\":\"assistant\",\"content\":[",
            (Speaker::User, Some(_)) => b",{\"role\":\"user\",\"content\":[",
            (Speaker::Assistant, Some(_)) => b",{\"role\":\"assistant\",\"content\":[",
        };
        self.pieces.push(Bytes::from_static(open));
        self.speaker = Some(speaker);
    }

    fn close(&mut self) {
        match self.speaker {
            Some(Speaker::User) => self.user_ends.push(self.pieces.len() - 1),
            Some(Speaker::Assistant) => {}
            None => return,
        }
        self.pieces.push(Bytes::from_static(b"]}"));
    }

    /// Marks the ends of the newest two turns of the user's: up to the older one everything was
    /// written to the cache by the request before, up to the newer one it is written now.
    fn finish(mut self, end: &'static [u8]) -> Vec<Bytes> {
        self.close();
        for at in self.user_ends.iter().rev().take(2) {
            if let Some(piece) = self.pieces.get_mut(*at) {
                *piece = piece.slice(..piece.len().saturating_sub(1));
                self.pieces.insert(at + 1, Bytes::from_static(MARK));
            }
        }
        self.pieces.push(Bytes::from_static(end));
        self.pieces
    }
}

fn marked(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
    value
}

/// The vendor's settings of an answer, with the form it must have.
fn with_output(config: Option<Value>, output: Option<&OutputSchema>) -> Option<Value> {
    let Some(output) = output else { return config };
    let mut config = config.unwrap_or_else(|| json!({}));
    if let Value::Object(fields) = &mut config {
        fields.insert("format".to_owned(), json!({ "type": "json_schema", "schema": output.schema }));
    }
    Some(config)
}

fn system(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!([marked(json!({ "type": "text", "text": text }))]))
}

fn tools(declarations: &[ToolDeclaration]) -> Option<Value> {
    let mut tools: Vec<Value> = declarations.iter().map(tool).collect();
    let last = tools.pop()?;
    tools.push(marked(last));
    Some(tools.into())
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "name": name, "description": description, "input_schema": schema })
}

/// The blocks of one message; thoughts are only for the model that thought them. A message may not end
/// with a thought, as it does when an answer was cut off.
fn encode(message: &Message) -> Bytes {
    let mut kept = Kept::default();
    let last = message.parts.iter().rposition(|part| !matches!(part, Part::Reasoning { .. }));
    for part in message.parts.iter().take(last.map_or(0, |last| last + 1)) {
        match part {
            Part::Text { text } => add(&mut kept, &json!({ "type": "text", "text": text })),
            Part::Image { media_type, data } => {
                let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                add(&mut kept, &json!({ "type": "image", "source": source }));
            }
            Part::Reasoning { text, opaque } => {
                if let Some(block) = opaque.as_ref().and_then(|opaque| thought(text, opaque)) {
                    kept.only_for(For::AUTHOR, |kept| add(kept, &block));
                }
            }
            Part::ToolCall(call) => add_call(&mut kept, call),
            Part::ToolResult(result) => add(&mut kept, &tool_result(result)),
        }
    }
    kept.finish()
}

/// Whether the message begins with a thought that its author takes back.
fn begins_with_thought(message: &Message) -> bool {
    let mut parts = message.parts.iter().filter_map(|part| match part {
        Part::Reasoning { text, opaque } => opaque.as_ref().and_then(|opaque| thought(text, opaque)).map(|_| true),
        Part::Text { .. } | Part::Image { .. } | Part::ToolCall(_) | Part::ToolResult(_) => Some(false),
    });
    parts.next() == Some(true)
}

fn add(kept: &mut Kept, block: &Value) {
    kept.add(b",");
    kept.add_json(block);
}

/// A thought as it came. One without its signature is refused, so it stays here.
fn thought(text: &str, opaque: &Value) -> Option<Value> {
    let field = |name: &str| opaque.get(name).and_then(Value::as_str);
    match field("type")? {
        "thinking" => Some(json!({ "type": "thinking", "thinking": text, "signature": field("signature")? })),
        "redacted_thinking" => Some(json!({ "type": "redacted_thinking", "data": field("data")? })),
        _ => None,
    }
}

fn add_call(kept: &mut Kept, call: &ToolCall) {
    kept.add(b",{\"type\":\"tool_use\",\"id\":");
    kept.add_json(&call.id.as_str());
    kept.add(b",\"name\":");
    kept.add_json(&call.name);
    kept.add(b",\"input\":");
    kept.add(arguments::as_object(&call.arguments).as_bytes());
    kept.add(b"}");
}

fn tool_result(result: &ToolResult) -> Value {
    let ToolResult { call_id, output, error_code } = result;
    match error_code {
        Some(_) => {
            json!({ "type": "tool_result", "tool_use_id": call_id.as_str(), "content": output, "is_error": true })
        }
        None => json!({ "type": "tool_result", "tool_use_id": call_id.as_str(), "content": output }),
    }
}
