//! The model: what it is asked, and its answer as it comes in.

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use neco_model::tokens::Family;
use neco_model::{
    Answer, Bound, Bounded, Delta, DeltaStream, ErrorKind, FinishReason, History, ModelError, Piece, Place, Provider,
    Request,
};
use neco_proto::event::{StreamChunk, ToolCallDelta, ToolCallStart, UsageEvent};
use neco_proto::{CallId, EventBody, Message, Part, Role, ToolCall, Usage};
use neco_safety::Who;
use neco_toolkit::{Registry, foreign};

use super::accounts::Accounts;
use super::paced::paced;
use super::setup::CallIds;
use crate::catalogue::{self, CALL, Unwrapping};
use crate::context::{Assembled, Meter};
use crate::machine::{AnswerKind, Stamp};
use crate::scheduler::CutOff;

/// Pieces that are taken in one go when they are there already: one event then carries them all.
const MOST_AT_ONCE: usize = 256;
/// Characters that are kept of the arguments of a call that is too big.
const KEPT_OF_CUT: usize = 200;
/// Bytes of a text that is too long that stay in the conversation: whatever it is made of, the next question has room.
const KEPT_OF_TEXT: usize = 20_000;
/// Bytes that a token has, about, where nobody counted.
const BYTES_OF_TOKEN: u64 = 4;

/// What an agent wishes of every answer.
#[derive(Clone, Copy, Default)]
pub(super) struct Wishes {
    pub(super) temperature: Option<f64>,
    pub(super) max_output: Option<u64>,
}

/// The model that is asked, and what it answers.
pub(super) struct Model {
    pub(super) provider: Arc<dyn Provider>,
    streaming: Option<Streaming>,
    cache_key: String,
    wishes: Wishes,
    /// The name of its definition, when it is not the root that asks.
    agent: Option<Arc<str>>,
    /// Ids of calls that the session has seen: a result must reach its own call.
    taken_ids: CallIds,
    /// Its last words since the agent last began.
    pub(super) final_text: String,
    /// Whether the next answer goes on where the last one was cut off.
    goes_on: bool,
    /// The calls that the last answer did not write to their end.
    pub(super) cut_off: Option<CutOff>,
}

/// What an answer is counted with, and the tools that it can name.
pub(super) struct Counting<'a> {
    pub(super) registry: &'a Registry,
    pub(super) meter: &'a mut Meter,
    pub(super) accounts: &'a mut Accounts,
}

/// How an answer stands after some pieces.
pub(super) enum Ending {
    NotYet,
    Whole(Streaming, FinishReason),
    Broken(Streaming, ModelError),
}

/// What is left of an answer that came to its end, good or bad.
pub(super) struct Answered {
    pub(super) stamp: Stamp,
    pub(super) kind: AnswerKind,
    pub(super) used: Option<EventBody>,
    pub(super) message: Option<Message>,
}

/// An answer that is coming in.
pub(super) struct Streaming {
    stamp: Stamp,
    stream: DeltaStream,
    answer: Answer,
    call_ids: Vec<CallId>,
    unwrapping: Unwrapping,
}

impl Streaming {
    fn new(stamp: Stamp, stream: DeltaStream) -> Self {
        let (answer, unwrapping) = (Answer::default(), Unwrapping::default());
        Self { stamp, stream: paced(stream), answer, call_ids: Vec::new(), unwrapping }
    }

    /// Whether we stopped reading it before its vendor said what it used.
    pub(super) fn is_uncounted(&self, reason: FinishReason) -> bool {
        matches!(reason, FinishReason::Bound(_)) && self.answer.usage.is_none()
    }

    /// The message that the answer adds up to, with its calls where the tools are given that they can name; `None` when
    /// there is nothing in it.
    fn message(&self, tools: Option<&Registry>) -> Option<Message> {
        let parts: Vec<Part> = self.answer.pieces().filter_map(|piece| self.part(piece, tools)).collect();
        // Thoughts alone are not an answer, and some vendors refuse a message of nothing else.
        let says_something = parts.iter().any(|part| !matches!(part, Part::Reasoning { .. }));
        says_something
            .then(|| Message { model: Some(self.answer.model.clone()), ..Message::new(Role::Assistant, parts) })
    }

    /// The calls that an answer which was not done did not write to their end. Of one that we stopped reading
    /// little of them is kept: nobody runs them, and the model is sent all that is.
    fn cut_off(&mut self, reason: FinishReason) -> Option<CutOff> {
        let (bound, words) = match reason {
            FinishReason::Length | FinishReason::ContentFilter => (
                None,
                "the answer ended in the middle of this call, so it was not run; call again, with less in one call"
                    .to_owned(),
            ),
            FinishReason::Bound(bound) => (
                Some(bound),
                format!(
                    "this call was not run: the answer was cut off, it had {bound}; call again with less, in several answers"
                ),
            ),
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Refusal | FinishReason::Pause => return None,
        };
        let whole = |text: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok();
        let last = self.answer.calls.len().saturating_sub(1);
        let first = if bound.is_some() { 0 } else { last };
        let mut calls = Vec::new();
        for (at, (call, id)) in self.answer.calls.iter_mut().zip(&self.call_ids).enumerate().skip(first) {
            // A call without arguments is whole, unless they were still to come.
            let is_empty = at < last && call.arguments.trim().is_empty();
            if !is_empty && !whole(&call.arguments) {
                calls.push(id.clone());
                if bound.is_some() {
                    call.arguments = call.arguments.chars().take(KEPT_OF_CUT).collect();
                }
            }
        }
        (!calls.is_empty()).then_some(CutOff { calls, words })
    }

    fn part(&self, piece: Piece<'_>, tools: Option<&Registry>) -> Option<Part> {
        match piece {
            // Blank text says nothing, and some vendors refuse a conversation that holds any.
            Piece::Text(text) if text.trim().is_empty() => None,
            Piece::Text(text) => Some(Part::Text { text: text.to_owned() }),
            Piece::Reasoning(text, opaque) => Some(Part::Reasoning { text: text.to_owned(), opaque: opaque.cloned() }),
            Piece::Call(index, call) => self.call_ids.get(index).zip(tools).map(|(id, tools)| {
                let (name, arguments) = match meant(&call.name, &call.arguments, tools) {
                    Some(meant) => meant,
                    None => (call.name.clone(), call.arguments.clone()),
                };
                Part::ToolCall(ToolCall { id: id.clone(), name, arguments, opaque: call.opaque.clone() })
            }),
        }
    }
}

impl Model {
    pub(super) fn new(
        provider: Arc<dyn Provider>,
        taken_ids: CallIds,
        cache_key: String,
        wishes: Wishes,
        role: &Arc<str>,
    ) -> Self {
        Self {
            provider,
            streaming: None,
            cache_key,
            wishes,
            agent: Some(role).filter(|role| ***role != *Who::ROOT).cloned(),
            taken_ids,
            final_text: String::new(),
            goes_on: false,
            cut_off: None,
        }
    }

    pub(super) fn label(&self) -> &str {
        self.provider.label()
    }

    pub(super) fn family(&self) -> Family {
        Family::of(self.label())
    }

    pub(super) fn start_over(&mut self) {
        self.final_text.clear();
        self.goes_on = false;
    }

    /// Asks it in a turn.
    pub(super) fn ask(&mut self, stamp: Stamp, assembled: &Assembled, history: &History) {
        let request = Request {
            system: Arc::clone(&assembled.system),
            tools: Arc::clone(&assembled.tools),
            history: history.clone(),
            cache_key: self.cache_key.clone(),
            output: None,
            temperature: self.wishes.temperature,
            max_output: self.wishes.max_output,
            agent: self.agent.clone(),
        };
        self.streaming = Some(Streaming::new(stamp, self.provider.stream(request)));
    }

    /// Asks it for notes, beside the work and without tools.
    pub(super) fn ask_for_notes(&self, system: String, asked: String) -> DeltaStream {
        self.provider.whole(Request {
            system: system.into(),
            tools: Arc::from([]),
            history: History::from_iter([Message::user(asked)]),
            cache_key: format!("{}-notes", self.cache_key),
            output: None,
            temperature: None,
            max_output: None,
            agent: None,
        })
    }

    /// The next piece of its answer; waits for ever when none is coming in.
    pub(super) async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        match &mut self.streaming {
            Some(streaming) => streaming.stream.next().await,
            None => futures::future::pending().await,
        }
    }

    /// Stops its answer; what came of it so far.
    pub(super) fn stop(&mut self) -> Option<Streaming> {
        self.streaming.take()
    }

    /// Takes a piece and everything that is there already behind it. The events that they become, and how the answer
    /// stands.
    pub(super) fn take(
        &mut self,
        first: Option<Result<Delta, ModelError>>,
        mut counting: Counting<'_>,
    ) -> (Vec<EventBody>, Ending) {
        let mut events = Vec::new();
        let Some(mut streaming) = self.streaming.take() else { return (events, Ending::NotYet) };
        let (mut next, mut taken, mut pieces) = (first, 0, Vec::new());
        loop {
            let delta = match next {
                Some(Ok(delta)) => delta,
                Some(Err(error)) => return (events, Ending::Broken(streaming, error)),
                None => {
                    let cut = ModelError::new(ErrorKind::StreamCut, Place::Stream, "the answer ended without an end");
                    return (events, Ending::Broken(streaming, cut));
                }
            };
            if let Delta::Finish(FinishReason::Bound(bound @ Bound { what: Bounded::Text, .. })) = delta {
                let note = Delta::Text(cut_note(bound));
                self.announce(&mut streaming, &note, &mut events, &mut counting);
                streaming.answer.add(&note);
            }
            // Events, hooks, rules and the conversation itself know a tool by its own name alone.
            streaming.unwrapping.take(delta, counting.registry, &mut pieces);
            for piece in pieces.drain(..) {
                self.announce(&mut streaming, &piece, &mut events, &mut counting);
                streaming.answer.add(&piece);
                if let Delta::Finish(reason) = piece {
                    return (events, Ending::Whole(streaming, reason));
                }
            }
            taken += 1;
            // What is polled must be taken in: the last look is not made when there is no room for what it finds.
            let more = if taken == MOST_AT_ONCE { None } else { streaming.stream.next().now_or_never() };
            match more {
                Some(more) => next = more,
                None => {
                    self.streaming = Some(streaming);
                    return (events, Ending::NotYet);
                }
            }
        }
    }

    /// The event that a piece becomes; pieces of the same kind in a row become one.
    fn announce(
        &self,
        streaming: &mut Streaming,
        delta: &Delta,
        events: &mut Vec<EventBody>,
        counting: &mut Counting<'_>,
    ) {
        match delta {
            Delta::Begin { .. } | Delta::CallOpaque { .. } | Delta::Usage(_) | Delta::Finish(_) => {}
            Delta::Text(text) => match events.last_mut() {
                Some(EventBody::StreamChunk(chunk)) => chunk.text.push_str(text),
                _ => events.push(EventBody::StreamChunk(StreamChunk { text: text.clone() })),
            },
            Delta::Reasoning { text, .. } if text.is_empty() => {}
            Delta::Reasoning { text, .. } => match events.last_mut() {
                Some(EventBody::ReasoningChunk(chunk)) => chunk.text.push_str(text),
                _ => events.push(EventBody::ReasoningChunk(StreamChunk { text: text.clone() })),
            },
            Delta::CallStart { index, id, name } => {
                let call_id = self.free_id(id.as_deref());
                streaming.call_ids.push(call_id.clone());
                let start = ToolCallStart { index: *index, call_id, name: name.clone() };
                events.push(EventBody::StreamToolCallStart(start));
            }
            Delta::CallArguments { index, text } => {
                let Some(call_id) = streaming.call_ids.get(*index as usize) else { return };
                match events.last_mut() {
                    Some(EventBody::StreamToolCallDelta(last)) if last.call_id == *call_id => {
                        last.partial_args.push_str(text);
                    }
                    _ => events.push(EventBody::StreamToolCallDelta(ToolCallDelta {
                        call_id: call_id.clone(),
                        partial_args: text.clone(),
                    })),
                }
            }
            Delta::Retry(retry) => {
                if retry.discards {
                    self.discard(streaming, events, counting);
                }
                events.push(EventBody::ModelRetry(retry.clone()));
            }
            Delta::Switch(switch) => {
                if switch.discards {
                    self.discard(streaming, events, counting);
                }
                events.push(EventBody::ModelSwitch(switch.clone()));
            }
        }
    }

    /// An answer that is void was paid for all the same.
    fn discard(&self, streaming: &mut Streaming, events: &mut Vec<EventBody>, counting: &mut Counting<'_>) {
        streaming.call_ids.clear();
        events.extend(self.used(streaming, counting));
    }

    /// What an answer used, counted once.
    fn used(&self, streaming: &mut Streaming, counting: &mut Counting<'_>) -> Option<EventBody> {
        let usage = streaming.answer.usage.take()?;
        counting.meter.corrected_by(&usage);
        Some(self.spent(&streaming.answer.model, usage, counting))
    }

    fn spent(&self, model: &str, usage: Usage, counting: &mut Counting<'_>) -> EventBody {
        let used = counting.accounts.spend(&*self.provider, model, usage);
        EventBody::Usage(UsageEvent { context_window: self.provider.context_window(), ..used })
    }

    /// The model's own id when it has one that is unique in the session, otherwise one of ours.
    pub(super) fn free_id(&self, id: Option<&str>) -> CallId {
        let wanted = id.filter(|id| !id.is_empty()).map(CallId::from);
        self.taken_ids.take(wanted)
    }

    /// Takes an answer that is whole. Of one that nobody counted, `asked` is about how many tokens the question had:
    /// budgets are to see it.
    pub(super) fn finish(
        &mut self,
        mut streaming: Streaming,
        reason: FinishReason,
        asked: Option<u64>,
        mut counting: Counting<'_>,
    ) -> Answered {
        let guessed = asked.map(|input| {
            let output = written(&streaming.answer) / BYTES_OF_TOKEN;
            Usage { input, output, ..Usage::default() }
        });
        self.cut_off = streaming.cut_off(reason);
        let mut message = streaming.message(Some(counting.registry));
        if let FinishReason::Bound(bound @ Bound { what: Bounded::Text, .. }) = reason {
            message = message.map(|message| shortened(message, bound));
        }
        let counted = self.used(&mut streaming, &mut counting);
        let used = guessed.map(|usage| self.spent(&streaming.answer.model, usage, &mut counting)).or(counted);
        let Streaming { stamp, answer, .. } = streaming;
        let kind = kind_of(&answer, reason);
        self.say(&answer.text);
        self.goes_on = matches!(kind, AnswerKind::CutOff | AnswerKind::Paused);
        Answered { stamp, kind, used, message }
    }

    /// What was shown is not lost: the text of an answer that broke off stays, its calls do not.
    pub(super) fn keep_partial(&mut self, mut streaming: Streaming, mut counting: Counting<'_>) -> Answered {
        let message = streaming.message(None);
        let used = self.used(&mut streaming, &mut counting);
        self.say(&streaming.answer.text);
        Answered { stamp: streaming.stamp, kind: AnswerKind::Empty, used, message }
    }

    /// The model's last words; what goes on after a cut belongs to what came before it.
    fn say(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.goes_on {
            self.final_text.clear();
        }
        self.final_text.push_str(text);
    }
}

/// The call that one is meant as: of a tool of ours where it is written for one of another agent, of a tool itself where
/// it is written into another call and that was not seen while it came in.
fn meant(name: &str, arguments: &str, tools: &Registry) -> Option<(String, String)> {
    let inside = if name == CALL { catalogue::meant(arguments) } else { None };
    let inside = inside.map(|(name, arguments)| (tools.own_name(name), arguments));
    let (name, arguments) =
        inside.as_ref().map_or((name, arguments), |(name, arguments)| (name.as_str(), arguments.as_str()));
    let foreign = foreign::meant(name, arguments).map(|(name, arguments)| (name.to_owned(), arguments));
    foreign.or(inside)
}

/// Bytes of all that the model wrote.
fn written(answer: &Answer) -> u64 {
    let thoughts = answer.reasoning.iter().map(|(text, _)| text.len());
    let calls = answer.calls.iter().map(|call| call.name.len() + call.arguments.len());
    let bytes: usize = thoughts.chain(calls).sum();
    u64::try_from(bytes + answer.text.len()).unwrap_or(u64::MAX)
}

fn cut_note(bound: Bound) -> String {
    format!("\n\n[The answer was cut off here: it had {bound}.]")
}

/// The beginning of what was said, with a note that it is no more than that. All of it was shown.
fn shortened(mut message: Message, bound: Bound) -> Message {
    let mut room = KEPT_OF_TEXT;
    for part in &mut message.parts {
        if let Part::Text { text } = part {
            text.truncate(text.floor_char_boundary(room.min(text.len())));
            room -= text.len();
        }
    }
    message.parts.retain(|part| !matches!(part, Part::Text { text } if text.is_empty()));
    message.parts.push(Part::Text { text: cut_note(bound) });
    message
}

fn kind_of(answer: &Answer, reason: FinishReason) -> AnswerKind {
    match reason {
        _ if !answer.calls.is_empty() => AnswerKind::Calls,
        FinishReason::Length => AnswerKind::CutOff,
        FinishReason::Pause => AnswerKind::Paused,
        FinishReason::Bound(_) => AnswerKind::TooLong,
        FinishReason::ContentFilter | FinishReason::Refusal => AnswerKind::Refused,
        FinishReason::Stop | FinishReason::ToolCalls if answer.text.trim().is_empty() => AnswerKind::Empty,
        FinishReason::Stop | FinishReason::ToolCalls => AnswerKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streaming(arguments: &[&str]) -> Streaming {
        let mut streaming = Streaming::new(Stamp::default(), Box::pin(futures::stream::empty()));
        for (index, text) in (0_u32..).zip(arguments) {
            streaming.answer.add(&Delta::CallStart { index, id: None, name: "tool".to_owned() });
            streaming.answer.add(&Delta::CallArguments { index, text: (*text).to_owned() });
            streaming.call_ids.push(CallId::from(format!("c{index}").as_str()));
        }
        streaming
    }

    #[test]
    fn calls_without_arguments_are_cut_only_at_the_end() {
        let cut = |reason, arguments: &[&str]| -> Vec<CallId> {
            streaming(arguments).cut_off(reason).map(|cut| cut.calls).unwrap_or_default()
        };
        let bound = FinishReason::Bound(Bound { what: Bounded::Calls, most: 3 });
        assert_eq!(cut(bound, &["", "{}", "{\"a"]), [CallId::from("c2")]);
        assert_eq!(cut(bound, &["{\"a", "", ""]), [CallId::from("c0"), CallId::from("c2")]);
        assert!(cut(bound, &["", "{}"]).is_empty());
        assert_eq!(cut(FinishReason::Length, &["", ""]), [CallId::from("c1")]);
        assert!(cut(FinishReason::ToolCalls, &["{\"a"]).is_empty());
    }

    #[test]
    fn calls_whose_arguments_come_after_the_starts_of_all_are_those_of_their_tools() {
        let tools = Registry::new(catalogue::tools());
        let written = [
            r#"{"name": "ACTIVATE", "arguments": {"names": ["git"]}}"#,
            r#"{"name": "str_replace_editor", "arguments": {"command": "view", "path": "a.rs"}}"#,
        ];
        let mut streaming = streaming(&[]);
        let mut pieces = Vec::new();
        for (index, name) in (0_u32..).zip([CALL, CALL, "bash"]) {
            let id = format!("c{index}");
            streaming.call_ids.push(CallId::from(id.as_str()));
            let start = Delta::CallStart { index, id: Some(id), name: name.to_owned() };
            streaming.unwrapping.take(start, &tools, &mut pieces);
        }
        for at in [0..20, 20..usize::MAX] {
            for (index, text) in (0_u32..).zip(written) {
                let text = text.get(at.start..at.end.min(text.len())).unwrap().to_owned();
                streaming.unwrapping.take(Delta::CallArguments { index, text }, &tools, &mut pieces);
            }
        }
        streaming.unwrapping.take(Delta::Finish(FinishReason::ToolCalls), &tools, &mut pieces);
        pieces.iter().for_each(|piece| streaming.answer.add(piece));
        let message = streaming.message(Some(&tools)).unwrap();
        let calls = message.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some((call.name.as_str(), call.arguments.as_str())),
            _ => None,
        });
        let meant = [(catalogue::ACTIVATE, r#"{"names":["git"]}"#), ("read_file", r#"{"path":"a.rs"}"#), ("bash", "")];
        assert_eq!(calls.collect::<Vec<_>>(), meant);
        assert!(streaming.message(None).is_none());
    }

    #[test]
    fn all_that_was_written_is_counted() {
        let mut streaming = streaming(&["{}", "{}"]);
        streaming.answer.add(&Delta::Text("four".to_owned()));
        streaming.answer.add(&Delta::Reasoning { text: "why".to_owned(), opaque: None });
        assert_eq!(written(&streaming.answer), 2 * 6 + 4 + 3);
    }
}
