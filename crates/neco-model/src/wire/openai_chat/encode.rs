//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use neco_config::section::TextToolCalls;
use neco_proto::{Part, Role};
use serde_json::{Map, Value, json};

use super::calling::Calling;
use super::decode::{AfterCalls, ChatDecoder};
use super::dialect::{Dialect, OutputForm, ReasoningBack, ReasoningParameter};
use super::messages::{self, TRAILER, to_bytes};
use super::problem;
use crate::adapt::taker::Thoughts;
use crate::adapt::{Sent, Taker, adapt};
use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::format::{Decoder, Problem, Template, Wire};
use crate::wire::heads::Heads;
use crate::wire::target::Target;
use crate::wire::text_calls::{Declared, Spotter, told};

const NAME: &str = "openai_chat";
const NAME_AS_TEXT: &str = "openai_chat, calls as text";
/// What the model says where it must say something.
const BETWEEN: &[u8] = b",{\"role\":\"assistant\",\"content\":\"Done.\"}";

/// The format bound to one model.
pub struct OpenaiChat {
    target: Target,
    taker: Taker,
    dialect: Dialect,
    calling: Calling,
    heads: Heads,
    /// The beginnings of requests in which calls are text.
    heads_as_text: Heads,
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
        let calling = Calling::new(TextToolCalls::Never);
        Self { target, taker, dialect, calling, heads: Heads::default(), heads_as_text: Heads::default() }
    }

    /// The same, with calls that the model writes into its text taken as `setting` says.
    #[must_use]
    pub fn with_text_calls(self, setting: TextToolCalls) -> Self {
        Self { calling: Calling::new(setting), ..self }
    }

    fn encode_head(&self, request: &Request, as_text: bool) -> Bytes {
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
        if let Some(output) = &request.output {
            fields.insert("response_format".to_owned(), self.output(output));
        }
        if !request.tools.is_empty() && !as_text {
            fields.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        }
        let mut bytes = to_bytes(&fields);
        bytes.pop();
        bytes.extend_from_slice(b",\"messages\":[");
        let told = as_text.then(|| told::system(&request.system, &request.tools));
        let system = told.as_deref().unwrap_or(&request.system);
        if !system.is_empty() {
            bytes.extend(to_bytes(&json!({ "role": "system", "content": system })));
        }
        bytes.into()
    }

    fn output(&self, output: &OutputSchema) -> Value {
        let OutputSchema { name, schema } = output;
        match self.dialect.output {
            OutputForm::Schema => {
                let schema = json!({ "name": name, "schema": schema, "strict": output.is_strict() });
                json!({ "type": "json_schema", "json_schema": schema })
            }
            OutputForm::Object => json!({ "type": "json_object" }),
        }
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

    fn add_assistant(&self, sent: &Sent<'_>, kept: &Bytes, as_text: bool, pieces: &mut Vec<Bytes>) {
        let Some((rest, trailer)) = kept.split_last_chunk::<TRAILER>() else { return };
        let length = u32::from_le_bytes(*trailer) as usize;
        let Some(body) = rest.len().checked_sub(length) else { return };
        pieces.push(kept.slice(..body));
        match self.dialect.reasoning_back {
            ReasoningBack::Kept | ReasoningBack::Required if sent.own_thoughts() && length > 0 => {
                pieces.push(kept.slice(body..rest.len()));
            }
            ReasoningBack::Required if !as_text && sent.message().tool_calls().next().is_some() => {
                pieces.push(Bytes::from_static(b",\"reasoning_content\":\"\""));
            }
            ReasoningBack::Never | ReasoningBack::Kept | ReasoningBack::Required => {}
        }
        pieces.push(Bytes::from_static(b"}"));
    }

    fn add_message(&self, sent: &Sent<'_>, as_text: bool, pieces: &mut Vec<Bytes>) {
        let bytes = if as_text {
            sent.encoded(NAME_AS_TEXT, messages::encode_as_text)
        } else {
            sent.encoded(NAME, messages::encode)
        };
        match sent.message().role {
            Role::Assistant => self.add_assistant(sent, &bytes, as_text, pieces),
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
        let as_text = self.calling.is_as_text();
        let heads = if as_text { &self.heads_as_text } else { &self.heads };
        let mut pieces = Vec::with_capacity(messages.len() * 3 + 2);
        pieces.push(heads.of(request, |request| self.encode_head(request, as_text)));
        // As text, results are words of the user's, who must not speak twice in a row either.
        let answer_after_results = as_text || self.dialect.answer_after_results;
        let mut after_results = false;
        for sent in &messages {
            let role = sent.message().role;
            if answer_after_results && after_results && role == Role::User {
                pieces.push(Bytes::from_static(BETWEEN));
            }
            after_results = role == Role::Tool;
            self.add_message(sent, as_text, &mut pieces);
        }
        // Every message begins with the comma that separates it from the one before.
        let told_tools = as_text && !request.tools.is_empty();
        if request.system.is_empty()
            && !told_tools
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

    fn decoder_for(&self, request: &Request) -> Box<dyn Decoder> {
        let trust = self.calling.trust().filter(|_| !request.tools.is_empty());
        let spotter = trust.map(|trust| Spotter::new(Declared::new(request.tools.clone()), trust));
        // Where nothing is paid for, nobody misses what was used.
        let after_calls = if self.target.info.price.is_none() { AfterCalls::Close } else { AfterCalls::ReadOn };
        Box::new(ChatDecoder::spotting(spotter, after_calls))
    }

    fn asks_for_template(&self) -> bool {
        self.calling.asks_for_template()
    }

    fn heed(&self, template: Template) {
        self.calling.heed(template);
    }

    fn changes_after(&self, problem: &Problem) -> bool {
        self.calling.changes_after(problem)
    }

    fn problem(&self, status: u16, body: &[u8]) -> Problem {
        problem::of_answer(status, body)
    }
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}
