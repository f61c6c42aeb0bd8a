//! The model's answer, as it comes in.

use futures::{FutureExt, StreamExt};
use neco_model::{Answer, Bound, Bounded, Delta, DeltaStream, ErrorKind, FinishReason, ModelError, Piece, Place};
use neco_proto::event::{
    ErrorEvent, Notification, NotificationLevel, NotificationTopic, StreamChunk, ToolCallDelta, ToolCallStart,
    UsageEvent,
};
use neco_proto::{CallId, ErrorCode, EventBody, Message, Part, Role, ToolCall, Usage};

use super::agent::Agent;
use crate::context::tokens_of_all;
use crate::guards::Objection;
use crate::machine::{AnswerKind, End, Input, Stamp};
use crate::ports::SinkError;
use crate::scheduler::CutOff;

/// Pieces that are taken in one go when they are there already: one event then carries them all.
const MOST_AT_ONCE: usize = 256;
/// Characters that are kept of the arguments of a call that is too big.
const KEPT_OF_CUT: usize = 200;
/// Bytes of a text that is too long that stay in the conversation: whatever it is made of, the next question has room.
const KEPT_OF_TEXT: usize = 20_000;
/// Bytes that a token has, about, where nobody counted.
const BYTES_OF_TOKEN: u64 = 4;

/// An answer that is coming in.
pub(super) struct Streaming {
    stamp: Stamp,
    stream: DeltaStream,
    answer: Answer,
    call_ids: Vec<CallId>,
}

impl Streaming {
    pub fn new(stamp: Stamp, stream: DeltaStream) -> Self {
        Self { stamp, stream, answer: Answer::default(), call_ids: Vec::new() }
    }

    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The message that the answer adds up to; `None` when there is nothing in it.
    fn message(&self, with_calls: bool) -> Option<Message> {
        let parts: Vec<Part> = self.answer.pieces().filter_map(|piece| self.part(piece, with_calls)).collect();
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

    fn part(&self, piece: Piece<'_>, with_calls: bool) -> Option<Part> {
        match piece {
            // Blank text says nothing, and some vendors refuse a conversation that holds any.
            Piece::Text(text) if text.trim().is_empty() => None,
            Piece::Text(text) => Some(Part::Text { text: text.to_owned() }),
            Piece::Reasoning(text, opaque) => Some(Part::Reasoning { text: text.to_owned(), opaque: opaque.cloned() }),
            Piece::Call(index, call) => self.call_ids.get(index).filter(|_| with_calls).map(|id| {
                Part::ToolCall(ToolCall {
                    id: id.clone(),
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                    opaque: call.opaque.clone(),
                })
            }),
        }
    }
}

/// The next piece; waits for ever when no answer is coming in.
pub(super) async fn next_delta(streaming: Option<&mut Streaming>) -> Option<Result<Delta, ModelError>> {
    match streaming {
        Some(streaming) => streaming.stream.next().await,
        None => futures::future::pending().await,
    }
}

/// How an answer stands after some pieces.
enum Ending {
    NotYet,
    Whole(FinishReason),
    Broken(ModelError),
}

impl Agent {
    /// Takes a piece and everything that is there already behind it.
    pub(super) async fn take_deltas(&mut self, first: Option<Result<Delta, ModelError>>) -> Result<(), SinkError> {
        let Some(mut streaming) = self.streaming.take() else { return Ok(()) };
        let (events, ending) = self.absorb_deltas(&mut streaming, first);
        for event in events {
            self.sink.emit(self.turn_id, event).await?;
        }
        match ending {
            Ending::NotYet => self.streaming = Some(streaming),
            Ending::Whole(reason) => self.answered(streaming, reason).await?,
            Ending::Broken(error) => self.provider_failed(streaming, error).await?,
        }
        Ok(())
    }

    fn absorb_deltas(
        &mut self,
        streaming: &mut Streaming,
        first: Option<Result<Delta, ModelError>>,
    ) -> (Vec<EventBody>, Ending) {
        let mut events = Vec::new();
        let (mut next, mut taken) = (first, 0);
        loop {
            let delta = match next {
                Some(Ok(delta)) => self.with_own_name(delta),
                Some(Err(error)) => return (events, Ending::Broken(error)),
                None => {
                    let cut = ModelError::new(ErrorKind::StreamCut, Place::Stream, "the answer ended without an end");
                    return (events, Ending::Broken(cut));
                }
            };
            if let Delta::Finish(FinishReason::Bound(bound @ Bound { what: Bounded::Text, .. })) = delta {
                let note = Delta::Text(cut_note(bound));
                self.announce(streaming, &note, &mut events);
                streaming.answer.add(&note);
            }
            self.announce(streaming, &delta, &mut events);
            streaming.answer.add(&delta);
            if let Delta::Finish(reason) = delta {
                return (events, Ending::Whole(reason));
            }
            taken += 1;
            // What is polled must be taken in: the last look is not made when there is no room for what it finds.
            if taken == MOST_AT_ONCE {
                return (events, Ending::NotYet);
            }
            match streaming.stream.next().now_or_never() {
                Some(more) => next = more,
                None => return (events, Ending::NotYet),
            }
        }
    }

    /// The piece with a tool's own name in it, however the model spells that: events, hooks, rules and the conversation
    /// itself know it by that name alone.
    fn with_own_name(&self, delta: Delta) -> Delta {
        match delta {
            Delta::CallStart { index, id, name } => {
                Delta::CallStart { index, id, name: self.scheduler.registry().own_name(name) }
            }
            Delta::Begin { .. }
            | Delta::Text(_)
            | Delta::Reasoning { .. }
            | Delta::CallArguments { .. }
            | Delta::CallOpaque { .. }
            | Delta::Retry(_)
            | Delta::Switch(_)
            | Delta::Usage(_)
            | Delta::Finish(_) => delta,
        }
    }

    /// The event that a piece becomes; pieces of the same kind in a row become one.
    fn announce(&mut self, streaming: &mut Streaming, delta: &Delta, events: &mut Vec<EventBody>) {
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
                    self.discard(streaming, events);
                }
                events.push(EventBody::ModelRetry(retry.clone()));
            }
            Delta::Switch(switch) => {
                if switch.discards {
                    self.discard(streaming, events);
                }
                events.push(EventBody::ModelSwitch(switch.clone()));
            }
        }
    }

    /// An answer that is void was paid for all the same.
    fn discard(&mut self, streaming: &mut Streaming, events: &mut Vec<EventBody>) {
        streaming.call_ids.clear();
        events.extend(self.used(streaming));
    }

    /// What an answer used, counted once.
    fn used(&mut self, streaming: &mut Streaming) -> Option<EventBody> {
        let usage = streaming.answer.usage.take()?;
        self.room.meter.corrected_by(&usage);
        Some(self.spent(&streaming.answer.model, usage))
    }

    fn spent(&mut self, model: &str, usage: Usage) -> EventBody {
        let used = UsageEvent::of(model, usage, self.provider.scripted());
        self.usage += used.usage;
        self.session_usage += used.usage;
        EventBody::Usage(UsageEvent { context_window: self.provider.context_window(), ..used })
    }

    /// About what an answer used that we stopped reading before its vendor said so: budgets are to see it.
    fn guessed(&mut self, answer: &Answer, reason: FinishReason) -> Option<Usage> {
        if !matches!(reason, FinishReason::Bound(_)) || answer.usage.is_some() {
            return None;
        }
        let asked = tokens_of_all(&self.history, self.family());
        let input = self.assembled().tokens().saturating_add(asked);
        Some(Usage { input, output: written(answer) / BYTES_OF_TOKEN, ..Usage::default() })
    }

    /// The model's own id when it has one that is unique in the session, otherwise one of ours.
    fn free_id(&self, id: Option<&str>) -> CallId {
        let wanted = id.filter(|id| !id.is_empty()).map(CallId::from);
        self.taken_ids.take(wanted)
    }

    async fn answered(&mut self, mut streaming: Streaming, reason: FinishReason) -> Result<(), SinkError> {
        let guessed = self.guessed(&streaming.answer, reason);
        self.cut_off = streaming.cut_off(reason);
        let mut message = streaming.message(true);
        if let FinishReason::Bound(bound @ Bound { what: Bounded::Text, .. }) = reason {
            message = message.map(|message| shortened(message, bound));
        }
        let mut used = self.used(&mut streaming);
        let Streaming { stamp, answer, .. } = streaming;
        if let Some(usage) = guessed {
            used = Some(self.spent(&answer.model, usage));
        }
        if let Some(used) = used {
            self.sink.emit(self.turn_id, used).await?;
        }
        if let Some(message) = message {
            self.sink.emit(self.turn_id, EventBody::Message(message.clone())).await?;
            self.history.push(message);
        }
        let kind = kind_of(&answer, reason);
        self.say(&answer.text);
        self.goes_on = matches!(kind, AnswerKind::CutOff | AnswerKind::Paused);
        match reason {
            FinishReason::ContentFilter => self.tell_of_refusal(kind, "the vendor's filter ended the answer").await?,
            FinishReason::Refusal => self.tell_of_refusal(kind, "the model declined to go on").await?,
            FinishReason::Length => self.warn("the answer was cut off by the model's output limit").await?,
            FinishReason::Bound(bound) => self.warn(&format!("the answer was cut off: it had {bound}")).await?,
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause => {}
        }
        self.check_budget().await?;
        let objection = if kind == AnswerKind::Text { self.objection() } else { None };
        match objection {
            Some(Objection::Hold { text, notice }) => {
                self.admit(Message::neco(text)).await?;
                self.inform(notice).await?;
                return self.on(Input::Answered { stamp, kind: AnswerKind::Held }).await;
            }
            Some(Objection::Stop(reason)) => {
                self.tell_of_loop(&reason).await?;
                return self.on(Input::Blocked { stamp, end: End::LOOP }).await;
            }
            Some(Objection::Note(notice)) => self.inform(notice).await?,
            None => {}
        }
        if kind == AnswerKind::Text && self.hold_end(stamp) {
            return self.on(Input::EndAtGate { stamp }).await;
        }
        self.on(Input::Answered { stamp, kind }).await
    }

    /// An error where it ends the work; calls that came before it are run, and the work goes on.
    async fn tell_of_refusal(&mut self, kind: AnswerKind, what: &str) -> Result<(), SinkError> {
        if kind != AnswerKind::Refused {
            return self.warn(what).await;
        }
        let code = ErrorCode::AnswerRefused;
        let message = format!("{what} ({}); say it in other words, or set another model", self.provider.label());
        self.sink.emit(self.turn_id, EventBody::Error(ErrorEvent { code, message, retryable: code.retryable() })).await
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

    async fn provider_failed(&mut self, streaming: Streaming, error: ModelError) -> Result<(), SinkError> {
        let code = error.code();
        if code == ErrorCode::ContextTooLong && !self.room.refused {
            return self.ask_about_less(streaming, &error).await;
        }
        let stamp = streaming.stamp;
        self.keep_partial(streaming).await?;
        let event = ErrorEvent { code, message: error.to_string(), retryable: error.retryable() };
        self.sink.emit(self.turn_id, EventBody::Error(event)).await?;
        self.on(Input::ProviderFailed { stamp, code }).await
    }

    /// What was shown is not lost: the text of an answer that broke off stays, its calls do not.
    pub(super) async fn keep_partial(&mut self, mut streaming: Streaming) -> Result<(), SinkError> {
        let message = streaming.message(false);
        let used = self.used(&mut streaming);
        self.say(&streaming.answer.text);
        drop(streaming);
        if let Some(used) = used {
            self.sink.emit(self.turn_id, used).await?;
        }
        if let Some(message) = message {
            self.sink.emit(self.turn_id, EventBody::Message(message.clone())).await?;
            self.history.push(message);
        }
        Ok(())
    }

    pub(super) async fn inform(&mut self, text: &str) -> Result<(), SinkError> {
        let notification = Notification::new(NotificationLevel::Info, text.to_owned());
        self.sink.emit(self.turn_id, EventBody::Notification(notification)).await
    }

    pub(super) async fn not_compacted(&mut self, why: &str) -> Result<(), SinkError> {
        let text = format!("the conversation was not compacted: {why}");
        let told = Notification::new(NotificationLevel::Warning, text).about(NotificationTopic::CompactionFailed);
        self.sink.emit(self.turn_id, EventBody::Notification(told)).await
    }

    pub(super) async fn warn(&mut self, text: &str) -> Result<(), SinkError> {
        let notification = Notification::new(NotificationLevel::Warning, text.to_owned());
        self.sink.emit(self.turn_id, EventBody::Notification(notification)).await
    }
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
    fn all_that_was_written_is_counted() {
        let mut streaming = streaming(&["{}", "{}"]);
        streaming.answer.add(&Delta::Text("four".to_owned()));
        streaming.answer.add(&Delta::Reasoning { text: "why".to_owned(), opaque: None });
        assert_eq!(written(&streaming.answer), 2 * 6 + 4 + 3);
    }
}
