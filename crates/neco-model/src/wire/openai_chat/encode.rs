//! The request. A message is serialised once in its life; a request is a list of shared pieces.

use bytes::Bytes;
use http::HeaderMap;
use neco_config::section::TextToolCalls;
use neco_proto::Role;

use super::calling::Calling;
use super::decode::{AfterCalls, ChatDecoder};
use super::dialect::{Dialect, ReasoningBack};
use super::messages;
use super::problem;
use crate::adapt::{Kin, Sent, Taker, adapt};
use crate::request::Request;
use crate::route::Parameters;
use crate::wire::format::{Decoder, Delivery, Problem, Template, Wire};
use crate::wire::heads::Heads;
use crate::wire::initiator;
use crate::wire::kept::{For, add_pieces, has_for};
use crate::wire::target::Target;
use crate::wire::text_calls::{Declared, Spotter, Trust, circle};

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
        let messages = adapt(&request.history, &self.taker);
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
        if self.dialect.initiator { initiator::headers(request, self.taker.vision) } else { HeaderMap::new() }
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
