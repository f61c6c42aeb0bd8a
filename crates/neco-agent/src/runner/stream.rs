//! The model's answer, as it comes in.

use futures::{FutureExt, StreamExt};
use neco_model::{Answer, Delta, DeltaStream, ErrorKind, FinishReason, ModelError, Piece, Place};
use neco_proto::event::{
    ErrorEvent, Notification, NotificationLevel, StreamChunk, ToolCallDelta, ToolCallStart, UsageEvent,
};
use neco_proto::{CallId, EventBody, Message, MessageId, Part, Role, ToolCall};

use super::agent::Agent;
use crate::machine::{AnswerKind, Input, Stamp};
use crate::ports::SinkError;

/// Pieces that are taken in one go when they are there already: one event then carries them all.
const MOST_AT_ONCE: usize = 256;

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

    /// The message that the answer adds up to; `None` when there is nothing in it.
    fn message(&self, with_calls: bool) -> Option<Message> {
        let parts: Vec<Part> = self.answer.pieces().filter_map(|piece| self.part(piece, with_calls)).collect();
        // Thoughts alone are not an answer, and some vendors refuse a message of nothing else.
        let says_something = parts.iter().any(|part| !matches!(part, Part::Reasoning { .. }));
        says_something.then(|| Message {
            id: MessageId::new(),
            role: Role::Assistant,
            parts,
            model: Some(self.answer.model.clone()),
        })
    }

    fn part(&self, piece: Piece<'_>, with_calls: bool) -> Option<Part> {
        match piece {
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
        let mut next = first;
        for _ in 0..MOST_AT_ONCE {
            let delta = match next {
                Some(Ok(delta)) => delta,
                Some(Err(error)) => return (events, Ending::Broken(error)),
                None => {
                    let cut = ModelError::new(ErrorKind::StreamCut, Place::Stream, "the answer ended without an end");
                    return (events, Ending::Broken(cut));
                }
            };
            streaming.answer.add(&delta);
            self.announce(streaming, &delta, &mut events);
            if let Delta::Finish(reason) = delta {
                return (events, Ending::Whole(reason));
            }
            match streaming.stream.next().now_or_never() {
                Some(more) => next = more,
                None => break,
            }
        }
        (events, Ending::NotYet)
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
                    streaming.call_ids.clear();
                }
                events.push(EventBody::ModelRetry(retry.clone()));
            }
            Delta::Switch(switch) => {
                if switch.discards {
                    streaming.call_ids.clear();
                }
                events.push(EventBody::ModelSwitch(switch.clone()));
            }
        }
    }

    /// The model's own id when it has one that is unique in the session, otherwise one of ours.
    fn free_id(&mut self, id: Option<&str>) -> CallId {
        let wanted = id.filter(|id| !id.is_empty()).map(CallId::from);
        let free = wanted.filter(|id| !self.taken_ids.contains(id)).unwrap_or_else(CallId::generate);
        self.taken_ids.insert(free.clone());
        free
    }

    async fn answered(&mut self, streaming: Streaming, reason: FinishReason) -> Result<(), SinkError> {
        let message = streaming.message(true);
        let Streaming { stamp, answer, .. } = streaming;
        if let Some(usage) = answer.usage {
            self.usage += usage;
            self.session_usage += usage;
            let event = UsageEvent { model: answer.model.clone(), usage };
            self.sink.emit(self.turn_id, EventBody::Usage(event)).await?;
        }
        if let Some(message) = message {
            self.sink.emit(self.turn_id, EventBody::Message(message.clone())).await?;
            self.history.push(message);
        }
        let kind = kind_of(&answer, reason);
        if !answer.text.is_empty() {
            self.final_text = answer.text;
        }
        if let FinishReason::ContentFilter | FinishReason::Refusal = reason {
            self.warn("the model declined to go on").await?;
        }
        self.check_budget().await?;
        self.on(Input::Answered { stamp, kind }).await
    }

    async fn provider_failed(&mut self, streaming: Streaming, error: ModelError) -> Result<(), SinkError> {
        let code = error.code();
        let stamp = streaming.stamp;
        self.keep_partial(streaming).await?;
        let event = ErrorEvent { code, message: error.to_string(), retryable: error.retryable() };
        self.sink.emit(self.turn_id, EventBody::Error(event)).await?;
        self.on(Input::ProviderFailed { stamp, code }).await
    }

    /// What was shown is not lost: the text of an answer that broke off stays, its calls do not.
    pub(super) async fn keep_partial(&mut self, streaming: Streaming) -> Result<(), SinkError> {
        let message = streaming.message(false);
        drop(streaming);
        if let Some(message) = message {
            self.sink.emit(self.turn_id, EventBody::Message(message.clone())).await?;
            self.history.push(message);
        }
        Ok(())
    }

    pub(super) async fn warn(&mut self, text: &str) -> Result<(), SinkError> {
        let notification = Notification { level: NotificationLevel::Warning, text: text.to_owned() };
        self.sink.emit(self.turn_id, EventBody::Notification(notification)).await
    }
}

fn kind_of(answer: &Answer, reason: FinishReason) -> AnswerKind {
    match reason {
        _ if !answer.calls.is_empty() => AnswerKind::Calls,
        FinishReason::Length => AnswerKind::CutOff,
        FinishReason::Pause => AnswerKind::Paused,
        FinishReason::ContentFilter | FinishReason::Refusal => AnswerKind::Text,
        FinishReason::Stop | FinishReason::ToolCalls if answer.text.trim().is_empty() => AnswerKind::Empty,
        FinishReason::Stop | FinishReason::ToolCalls => AnswerKind::Text,
    }
}
