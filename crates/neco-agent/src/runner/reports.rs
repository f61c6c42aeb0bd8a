//! What an agent tells the world, under the turn that it is in.

use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::event::{ErrorEvent, MessageQueued, Notification, NotificationLevel, NotificationTopic, TurnStart};
use neco_proto::{ErrorCode, EventBody, TurnId};

use crate::gate::{Failure, HookDecision};
use crate::ports::{EventSink, SinkError};

/// Where events go, and the turn that they belong to.
pub(super) struct Reports {
    sink: Arc<dyn EventSink>,
    turn: Option<TurnId>,
    /// What failed and was not told at the gate yet; nothing where nobody there wants to know.
    failures: Option<Mutex<Vec<Failure>>>,
}

impl Reports {
    pub(super) fn new(sink: Arc<dyn EventSink>) -> Self {
        Self { sink, turn: None, failures: None }
    }

    /// Whether somebody at the gate wants to know of failures from now on.
    pub(super) fn keep_failures(&mut self, wanted: bool) {
        if wanted != self.failures.is_some() {
            self.failures = wanted.then(Mutex::default);
        }
    }

    /// The turn that events belong to.
    pub(super) fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    pub(super) async fn begin_turn(&mut self, iteration: u32, model: &str) -> Result<(), SinkError> {
        self.turn = Some(TurnId::new());
        self.emit(EventBody::TurnStart(TurnStart { iteration, model: model.to_owned() })).await
    }

    /// What follows belongs to a turn that began in another process.
    pub(super) fn go_on_in(&mut self, turn: Option<TurnId>) {
        self.turn = turn;
    }

    /// What follows belongs to no turn.
    pub(super) fn leave_turn(&mut self) {
        self.turn = None;
    }

    /// What failed since this was last asked.
    pub(super) fn take_failures(&self) -> Vec<Failure> {
        let Some(failures) = &self.failures else { return Vec::new() };
        std::mem::take(&mut *failures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note_failure(&self, body: &EventBody) {
        if let Some(failures) = &self.failures {
            failures.lock().unwrap_or_else(PoisonError::into_inner).extend(Failure::told_by(body));
        }
    }

    pub(super) async fn emit(&self, body: EventBody) -> Result<(), SinkError> {
        self.note_failure(&body);
        self.sink.emit(self.turn, body).await
    }

    pub(super) async fn commit(&self, body: EventBody) -> Result<(), SinkError> {
        self.note_failure(&body);
        self.sink.commit(self.turn, body).await
    }

    pub(super) async fn commit_all(&self, events: Vec<EventBody>) -> Result<(), SinkError> {
        for event in events {
            self.commit(event).await?;
        }
        Ok(())
    }

    /// Tells what belongs to the session rather than to a turn; it is on the disk with what is committed next.
    pub(super) async fn emit_apart(&self, body: EventBody) -> Result<(), SinkError> {
        self.sink.emit(None, body).await
    }

    /// Commits what belongs to the session rather than to a turn.
    pub(super) async fn commit_apart(&self, body: EventBody) -> Result<(), SinkError> {
        self.sink.commit(None, body).await
    }

    /// A message waits, or does not wait any more.
    pub(super) async fn queued(&self, queued: MessageQueued) -> Result<(), SinkError> {
        self.commit(EventBody::MessageQueued(queued)).await
    }

    pub(super) async fn notify(&self, notification: Notification) -> Result<(), SinkError> {
        self.emit(EventBody::Notification(notification)).await
    }

    pub(super) async fn inform(&self, text: &str) -> Result<(), SinkError> {
        self.notify(Notification::new(NotificationLevel::Info, text.to_owned())).await
    }

    pub(super) async fn warn(&self, text: &str) -> Result<(), SinkError> {
        self.notify(Notification::new(NotificationLevel::Warning, text.to_owned())).await
    }

    pub(super) async fn error(&self, code: ErrorCode, message: String) -> Result<(), SinkError> {
        self.emit(EventBody::Error(ErrorEvent { code, message, retryable: code.retryable() })).await
    }

    /// The work ends because the model repeats itself.
    pub(super) async fn looped(&self, reason: &str) -> Result<(), SinkError> {
        let code = ErrorCode::LoopDetected;
        let message = format!("the model was stopped because it repeats itself: {reason}");
        let event = EventBody::Error(ErrorEvent { code, message, retryable: code.retryable() });
        self.note_failure(&event);
        self.sink.emit(None, event).await
    }

    /// The model gave an answer with nothing in it, so often.
    pub(super) async fn no_answer(&self, model: &str, times: u32) -> Result<(), SinkError> {
        let often = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        self.error(ErrorCode::EmptyAnswer, format!("{model} answered nothing, {often}; try another model")).await
    }

    /// The model gave answers that were cut off one after the other.
    pub(super) async fn no_end(&self, model: &str) -> Result<(), SinkError> {
        let message = format!("the answers of {model} are longer than answers may be; try another model");
        self.error(ErrorCode::AnswerTooLong, message).await
    }

    pub(super) async fn not_compacted(&self, why: &str) -> Result<(), SinkError> {
        let text = format!("The conversation was not compacted: {why}");
        let told = Notification::new(NotificationLevel::Warning, text).about(NotificationTopic::CompactionFailed);
        self.notify(told).await
    }

    /// What the gate ran for a decision.
    pub(super) async fn hook_runs(&self, mut decision: HookDecision) -> Result<HookDecision, SinkError> {
        for run in decision.runs.drain(..) {
            self.commit(EventBody::HookRun(run)).await?;
        }
        Ok(decision)
    }
}
