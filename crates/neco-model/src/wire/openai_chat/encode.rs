//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::HeaderMap;
use neco_config::section::TextToolCalls;
use neco_proto::Role;
use serde_json::{Map, Value, json};

use super::decode::{AfterCalls, ChatDecoder};
use super::dialect::{Dialect, OutputForm, ReasoningBack, ReasoningParameter};
use super::messages::{self, to_bytes};
use super::problem;
use crate::adapt::{Kin, Sent, Taker, adapt};
use crate::error::ErrorKind;
use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::route::Parameters;
use crate::wire::format::{Decoder, Delivery, Problem, Template, Wire};
use crate::wire::heads::{Heads, effort_level, initiator_headers};
use crate::wire::kept::{For, add_pieces, has_for};
use crate::wire::target::Target;
use crate::wire::text_calls::{Declared, Spotter, Trust, circle, told};

const NAME: &str = "openai_chat";
const NAME_AS_TEXT: &str = "openai_chat, calls as text";
const NAME_AS_CIRCLE: &str = "openai_chat, calls as text, a circle";
/// What the model says where it must say something.
const BETWEEN: &[u8] = b",{\"role\":\"assistant\",\"content\":\"Done.\"}";

/// The format bound to one model.
pub struct OpenaiChat {
    pub(super) target: Target,
    taker: Taker,
    pub(super) dialect: Dialect,
    calling: Calling,
    heads: Heads,
    /// The beginnings of requests in which calls are text.
    heads_as_text: Heads,
}

impl OpenaiChat {
    /// The format for `model` of `provider`, of which nothing else is known.
    pub fn new(provider: &str, model: &str, parameters: Parameters, dialect: Dialect) -> Self {
        Self::bound_to(Target { parameters, ..Target::new(provider, model) }, dialect)
    }

    /// The format for `target`.
    pub fn bound_to(target: Target, dialect: Dialect) -> Self {
        let taker = Taker::new(&target, dialect.call_ids);
        let calling = Calling::new(TextToolCalls::Never);
        Self { target, taker, dialect, calling, heads: Heads::default(), heads_as_text: Heads::default() }
    }

    /// The same, with calls that the model writes into its text taken as `setting` says.
    #[must_use]
    pub fn with_text_calls(self, setting: TextToolCalls) -> Self {
        Self { calling: Calling::new(setting), ..self }
    }

    fn add_assistant(&self, sent: &Sent<'_>, kept: &Bytes, as_text: bool, pieces: &mut Vec<Bytes>) {
        let reader = if sent.own_thoughts() { For::AUTHOR } else { For::OTHERS };
        // Signed thoughts are refused by every other model, also of the same gateway.
        let thoughts = match (self.dialect.reasoning_back, sent.kin()) {
            (ReasoningBack::Never, _) | (_, Kin::Stranger) => None,
            (ReasoningBack::Kept | ReasoningBack::Required, Kin::Author) => Some(For::SIGNED),
            (ReasoningBack::Kept | ReasoningBack::Required, Kin::Sibling) => Some(For::PLAIN),
        };
        add_pieces(kept, thoughts.map_or(reader, |thoughts| reader.and(thoughts)), pieces);
        let has_thoughts = thoughts.is_some_and(|thoughts| has_for(kept, thoughts));
        let calls = !as_text && sent.message().tool_calls().next().is_some();
        if self.dialect.reasoning_back == ReasoningBack::Required && calls && !has_thoughts {
            pieces.push(Bytes::from_static(b",\"reasoning_content\":\"\""));
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

    fn encode_for(&self, request: &Request, as_text: bool, delivery: Delivery) -> Vec<Bytes> {
        let messages = adapt(&request.history, &request.tools, &self.taker);
        let heads = if as_text { &self.heads_as_text } else { &self.heads };
        let mut pieces = Vec::with_capacity(messages.len() * 3 + 2);
        pieces.push(heads.of(request, delivery, |request| self.encode_head(request, as_text, delivery)));
        // As text, results are words of the user's, who must not speak twice in a row either.
        let answer_after_results = as_text || self.dialect.answer_after_results;
        let marked = if self.marks_cache() && !as_text { last_of_user(&messages) } else { [None; 2] };
        let mut after_results = false;
        for (at, sent) in messages.iter().enumerate() {
            let role = sent.message().role;
            if answer_after_results && after_results && role == Role::User {
                pieces.push(Bytes::from_static(BETWEEN));
            }
            after_results = role == Role::Tool;
            let so_far = || messages.iter().take(at + 1).rev().map(Sent::message);
            if as_text && after_results && circle::closes(so_far()) {
                pieces.push(sent.encoded(NAME_AS_CIRCLE, messages::encode_circle_as_text));
                continue;
            }
            if marked.contains(&Some(at)) {
                pieces.push(messages::encode_marked(sent.message()));
            } else {
                self.add_message(sent, as_text, &mut pieces);
            }
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

    fn decoder_with(&self, request: &Request, trust: Option<Trust>) -> ChatDecoder {
        let trust = trust.filter(|_| !request.tools.is_empty());
        let spotter = trust.map(|trust| Spotter::new(Declared::new(request.tools.clone()), trust));
        // Where nothing is paid for, nobody misses what was used.
        let after_calls = if self.target.info.price.is_none() { AfterCalls::Close } else { AfterCalls::ReadOn };
        ChatDecoder::spotting(spotter, after_calls).with_think_tags(self.dialect.think_tags)
    }

    fn encode_head(&self, request: &Request, as_text: bool, delivery: Delivery) -> Bytes {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), self.target.model.as_str().into());
        match delivery {
            Delivery::Streamed => {
                fields.insert("stream".to_owned(), true.into());
                if self.dialect.stream_usage {
                    fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
                }
            }
            Delivery::Whole => {
                fields.insert("stream".to_owned(), false.into());
            }
        }
        if self.dialect.prompt_cache_key && !request.cache_key.is_empty() {
            fields.insert("prompt_cache_key".to_owned(), request.cache_key.as_str().into());
        }
        self.add_parameters(request, &mut fields);
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
        if !system.is_empty() && self.marks_cache() {
            bytes.extend(to_bytes(&messages::marked_system(system)));
        } else if !system.is_empty() {
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

    fn add_parameters(&self, request: &Request, fields: &mut Map<String, Value>) {
        let Parameters { temperature: _, top_p, max_tokens: _, reasoning, seed } = &self.target.parameters;
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        set("temperature", self.target.temperature(request).map(Value::from));
        set("top_p", top_p.map(Value::from));
        let most = self.target.max_tokens(request).map(Value::from);
        set(self.dialect.max_tokens_field(&self.target.model), most);
        set(&self.dialect.seed_field, seed.map(Value::from));
        let Some(effort) = reasoning else { return };
        match self.dialect.reasoning {
            ReasoningParameter::None => {}
            ReasoningParameter::Effort => {
                set("reasoning_effort", Some(effort_level(&self.target.model, effort).into()));
            }
            ReasoningParameter::Object => {
                // A gateway finds the level that the model knows; `max` is not one of its words.
                let effort = if effort == "max" { "xhigh" } else { effort };
                set("reasoning", Some(json!({ "effort": effort })));
            }
            ReasoningParameter::Thinking if effort == "none" => {
                set("thinking", Some(json!({ "type": "disabled" })));
            }
            ReasoningParameter::Thinking => {
                set("thinking", Some(json!({ "type": "enabled" })));
                set("reasoning_effort", Some(effort.as_str().into()));
            }
        }
    }

    fn marks_cache(&self) -> bool {
        self.dialect.cache_marks && self.target.model.to_lowercase().contains("claude")
    }
}

/// The newest two messages that are not the model's: up to the older one everything was cached by the
/// request before, up to the newer one it is cached now.
fn last_of_user(messages: &[Sent<'_>]) -> [Option<usize>; 2] {
    let mut found = messages.iter().enumerate().rev().filter(|(_, sent)| sent.message().role != Role::Assistant);
    [found.next().map(|(at, _)| at), found.next().map(|(at, _)| at)]
}

impl Wire for OpenaiChat {
    fn path(&self) -> &str {
        "/chat/completions"
    }

    fn headers(&self, request: &Request) -> HeaderMap {
        if self.dialect.initiator { initiator_headers(request, self.taker.vision) } else { HeaderMap::new() }
    }

    fn sees(&self, media_type: &str) -> bool {
        self.taker.sees(media_type)
    }

    fn encode_as(&self, request: &Request, delivery: Delivery) -> Vec<Bytes> {
        self.encode_for(request, self.calling.is_as_text(), delivery)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ChatDecoder::default().with_think_tags(self.dialect.think_tags))
    }

    fn decoder_for(&self, request: &Request) -> Box<dyn Decoder> {
        Box::new(self.decoder_with(request, self.calling.trust(self.calling.is_as_text())))
    }

    fn call(&self, request: &Request, delivery: Delivery) -> (Vec<Bytes>, Box<dyn Decoder>) {
        // Read once: another call may find out more about the server meanwhile.
        let as_text = self.calling.is_as_text();
        let decoder = self.decoder_with(request, self.calling.trust(as_text));
        (self.encode_for(request, as_text, delivery), Box::new(decoder))
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

/// What servers say that can't pass tools on to their model.
const REFUSALS: [&str; 6] = [
    "does not support tools",
    "do not support tools",
    "tools param requires --jinja",
    "--enable-auto-tool-choice",
    "tool use is not supported",
    "tools are not supported",
];

/// What is known of one model. What was found out holds for as long as the program runs.
#[derive(Debug)]
struct Calling {
    setting: TextToolCalls,
    as_text: AtomicBool,
}

impl Calling {
    fn new(setting: TextToolCalls) -> Self {
        Self { setting, as_text: AtomicBool::new(setting == TextToolCalls::Always) }
    }

    /// Whether tools are described in the system prompt, and calls and results sent as text.
    fn is_as_text(&self) -> bool {
        self.as_text.load(Ordering::Relaxed)
    }

    /// How calls in the text are taken, if the model was told of the tools in the prompt or not; none
    /// are looked for without.
    fn trust(&self, as_text: bool) -> Option<Trust> {
        match self.setting {
            TextToolCalls::Never => None,
            TextToolCalls::Auto | TextToolCalls::Always => Some(if as_text { Trust::Told } else { Trust::Guessed }),
        }
    }

    /// Whether it matters what the server says of its template.
    fn asks_for_template(&self) -> bool {
        self.setting == TextToolCalls::Auto && !self.is_as_text()
    }

    fn heed(&self, template: Template) {
        match template {
            Template::DropsTools if self.setting == TextToolCalls::Auto => self.as_text.store(true, Ordering::Relaxed),
            Template::DropsTools | Template::ShowsTools | Template::Unknown => {}
        }
    }

    /// A server that stumbles over the calls of its model, or takes no tools, is asked without them
    /// from here on. Whether that is a change.
    fn changes_after(&self, problem: &Problem) -> bool {
        let message = problem.message.to_lowercase();
        let of_calls =
            problem.kind == ErrorKind::MalformedToolCall || REFUSALS.iter().any(|text| message.contains(text));
        if self.setting == TextToolCalls::Never || !of_calls {
            return false;
        }
        !self.as_text.swap(true, Ordering::Relaxed)
    }
}

fn tool(declaration: &ToolDeclaration) -> Value {
    let ToolDeclaration { name, description, schema } = declaration;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_stumbles_over_calls_gets_them_as_text() {
        let stumbled = Problem::new(ErrorKind::MalformedToolCall, "no such format");
        let refused = Problem::new(ErrorKind::InvalidRequest, "registry/gemma does not support tools");
        for problem in [stumbled, refused] {
            let calling = Calling::new(TextToolCalls::Auto);
            assert_eq!(calling.trust(calling.is_as_text()), Some(Trust::Guessed));
            assert!(!calling.changes_after(&Problem::cut()));
            assert!(calling.changes_after(&problem) && !calling.changes_after(&problem));
            assert!(calling.is_as_text());
            assert_eq!(calling.trust(calling.is_as_text()), Some(Trust::Told));
            let never = Calling::new(TextToolCalls::Never);
            assert!(!never.changes_after(&problem) && !never.is_as_text());
        }
    }

    #[test]
    fn a_template_without_tools_gets_calls_as_text() {
        let calling = Calling::new(TextToolCalls::Auto);
        calling.heed(Template::Unknown);
        calling.heed(Template::ShowsTools);
        assert!(!calling.is_as_text() && calling.asks_for_template());
        calling.heed(Template::DropsTools);
        assert!(calling.is_as_text() && !calling.asks_for_template());
        let never = Calling::new(TextToolCalls::Never);
        never.heed(Template::DropsTools);
        assert!(!never.is_as_text() && never.trust(false).is_none());
        assert!(Calling::new(TextToolCalls::Always).is_as_text());
    }
}
