//! What becomes of the model's answer: events as it comes in, a message when it is there, and what it used.

use neco_model::{Delta, FinishReason, ModelError};
use neco_proto::ErrorCode;

use super::conversation::Conversation;
use super::model::{Answered, Counting, Ending, Model, Streaming};
use super::reports::Reports;
use crate::machine::{AnswerKind, Stamp};
use crate::ports::SinkError;

/// The parts of an agent that an answer goes through.
pub(super) struct Answering<'a> {
    pub(super) model: &'a mut Model,
    pub(super) counting: Counting<'a>,
    pub(super) conversation: &'a mut Conversation,
    pub(super) reports: &'a Reports,
}

impl Answering<'_> {
    /// Takes a piece of the answer and everything that is there already behind it.
    pub(super) async fn take(self, first: Option<Result<Delta, ModelError>>) -> Result<Ending, SinkError> {
        let (events, ending) = self.model.take(first, self.counting);
        for event in events {
            self.reports.emit(event).await?;
        }
        Ok(ending)
    }

    /// The answer is whole: it enters the conversation. `asked` are the tokens of the question, where nobody counted
    /// them.
    pub(super) async fn finish(
        self,
        streaming: Streaming,
        reason: FinishReason,
        asked: Option<u64>,
    ) -> Result<(Stamp, AnswerKind), SinkError> {
        let answered = self.model.finish(streaming, reason, asked, self.counting);
        let (stamp, kind) = (answered.stamp, answered.kind);
        record(answered, self.conversation, self.reports).await?;
        let label = self.model.label();
        match reason {
            FinishReason::ContentFilter => {
                tell_of_refusal(kind, "vendor's filter ended the answer", label, self.reports).await?;
            }
            FinishReason::Refusal => {
                tell_of_refusal(kind, "model declined to go on", label, self.reports).await?;
            }
            FinishReason::Length => self.reports.warn("The answer was cut off by the model's output limit").await?,
            FinishReason::Bound(bound) => {
                self.reports.warn(&format!("The answer was cut off: it had {bound}")).await?;
            }
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause => {}
        }
        Ok((stamp, kind))
    }

    /// What was shown of an answer that broke off is not lost.
    pub(super) async fn keep_partial(self, streaming: Streaming) -> Result<Stamp, SinkError> {
        let kept = self.model.keep_partial(streaming, self.counting);
        let stamp = kept.stamp;
        record(kept, self.conversation, self.reports).await?;
        Ok(stamp)
    }
}

async fn record(answered: Answered, conversation: &mut Conversation, reports: &Reports) -> Result<(), SinkError> {
    if let Some(used) = answered.used {
        reports.emit(used).await?;
    }
    match answered.message {
        Some(message) => conversation.answer(message, reports).await,
        None => Ok(()),
    }
}

/// An error where it ends the work; calls that came before it are run, and the work goes on. `what` follows a “the”.
async fn tell_of_refusal(kind: AnswerKind, what: &str, label: &str, reports: &Reports) -> Result<(), SinkError> {
    if kind != AnswerKind::Refused {
        return reports.warn(&format!("The {what}")).await;
    }
    let message = format!("the {what} ({label}); say it in other words, or set another model");
    reports.error(ErrorCode::AnswerRefused, message).await
}
