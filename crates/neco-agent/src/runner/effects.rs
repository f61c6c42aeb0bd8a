//! What the machine wants done.

use std::collections::VecDeque;
use std::time::Duration;

use neco_proto::event::{
    Admission, AgentComplete, AgentState, CompleteReason, ErrorEvent, Notification, NotificationLevel, StateChange,
    TurnEnd, TurnStart,
};
use neco_proto::{ErrorCode, EventBody, Message, MessageId, Role, ToolCall, TurnId};

use super::agent::Agent;
use crate::machine::{Effect, End, Input, Nudge, Stamp};
use crate::ports::SinkError;
use crate::scheduler::Record;

/// How long whoever stops the work waits for the workspace to be kept.
const MOST_SETTLING: Duration = Duration::from_millis(50);

impl Agent {
    /// Tells the machine what happened and does what it wants.
    pub(super) async fn on(&mut self, input: Input) -> Result<(), SinkError> {
        let mut effects: VecDeque<Effect> = self.machine.on(input).into();
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Change(change) => self.changed(change).await?,
                Effect::AskModel { stamp, iteration } => self.ask_model(stamp, iteration).await?,
                Effect::RunCalls { stamp } => effects.extend(self.run_calls(stamp).await?),
                Effect::EndTurn { iteration } => self.end_turn(iteration).await?,
                Effect::Nudge(nudge) => self.admit(Message::neco(nudge_text(nudge))).await?,
                Effect::StopWork => self.stop_work().await?,
                Effect::NoAnswer { times } => self.tell_of_no_answer(times).await?,
                Effect::NoEnd => self.tell_of_no_end().await?,
                Effect::Finish { reason, code } => effects.extend(self.finish(reason, code).await?),
            }
        }
        Ok(())
    }

    /// Begins to work on what was admitted.
    pub(super) async fn begin(&mut self) -> Result<(), SinkError> {
        self.start_over();
        self.check_budget().await?;
        self.on(Input::Begin).await
    }

    /// Tells the machine when the session has used what it may use.
    pub(super) async fn check_budget(&mut self) -> Result<(), SinkError> {
        if self.budget.reached(&self.session_usage, self.worked()).is_some() {
            return self.on(Input::BudgetUsedUp).await;
        }
        Ok(())
    }

    fn start_over(&mut self) {
        self.began_at = self.clock.now();
        self.waited = Duration::ZERO;
        self.waits_since = None;
        self.usage = neco_proto::Usage::default();
        self.final_text.clear();
        self.goes_on = false;
        self.gated.start_over();
    }

    /// How long the session has worked in all.
    pub(super) fn worked(&self) -> Duration {
        let waits = self.waits_since.map_or(Duration::ZERO, |since| self.clock.now().saturating_sub(since));
        self.worked + self.clock.now().saturating_sub(self.began_at).saturating_sub(self.waited + waits)
    }

    async fn changed(&mut self, change: StateChange) -> Result<(), SinkError> {
        if change.to == AgentState::AwaitingApproval {
            self.waits_since = Some(self.clock.now());
        } else if let Some(since) = self.waits_since.take() {
            self.waited += self.clock.now().saturating_sub(since);
        }
        self.sink.emit(self.turn_id, EventBody::StateChange(change)).await
    }

    /// Asks the model with what was said meanwhile, once that has passed the gate.
    pub(super) async fn ask_model(&mut self, stamp: Stamp, iteration: u32) -> Result<(), SinkError> {
        if self.letters.hold(stamp, iteration) {
            return Ok(());
        }
        self.renew().await?;
        self.admit_letters().await?;
        let said = self.take_at_boundary();
        if self.messages_are_gated() {
            if self.hold_question(stamp, iteration, said) {
                return Ok(());
            }
        } else {
            for message in said {
                self.admit_said(message).await?;
            }
        }
        self.begin_turn(stamp, iteration).await
    }

    /// Asks the model with all that was said.
    pub(super) async fn begin_turn(&mut self, stamp: Stamp, iteration: u32) -> Result<(), SinkError> {
        if !self.hear_guards(stamp, iteration).await? {
            return Ok(());
        }
        self.turn_id = Some(TurnId::new());
        let start = TurnStart { iteration, model: self.provider.label().to_owned() };
        self.sink.emit(self.turn_id, EventBody::TurnStart(start)).await?;
        self.turn_mode = self.settings.mode;
        if std::mem::take(&mut self.tools_changed) {
            self.scheduler.set_registry(self.generation.narrow(&self.tools));
        }
        self.room.refused = false;
        self.ask_within_room(stamp).await
    }

    fn take_at_boundary(&mut self) -> Vec<Message> {
        let (now, later): (VecDeque<_>, VecDeque<_>) =
            self.queued.drain(..).partition(|(when, _)| *when == Admission::TurnBoundary);
        self.queued = later;
        now.into_iter().map(|(_, message)| message).collect()
    }

    async fn run_calls(&mut self, stamp: Stamp) -> Result<Vec<Effect>, SinkError> {
        self.stamp = stamp;
        let calls: Vec<ToolCall> =
            self.history.last().map(|message| message.tool_calls().cloned().collect()).unwrap_or_default();
        let cut_off = self.cut_off.take();
        self.scheduler.set_scene(self.scene());
        if self.checkpoints.is_some() {
            let said = |message: &Message| message.role == Role::User && !message.is_neco();
            let asked = self.history.iter().rev().map(|entry| entry.message()).find(|message| said(message));
            self.scheduler.set_asked(&asked.map(Message::text).unwrap_or_default());
        }
        let records = self.scheduler.begin(&calls, cut_off.as_ref());
        self.record(records).await?;
        Ok(self.machine.on(self.calls_input()))
    }

    /// Records what the scheduler did and starts what it announced.
    pub(super) async fn record(&mut self, records: Vec<Record>) -> Result<(), SinkError> {
        for record in records {
            match record {
                Record::Emit(body) => self.sink.emit(self.turn_id, body).await?,
                Record::Commit(body) => {
                    if let EventBody::PermissionRequest(request) = &body {
                        self.tell_of_waiting(request);
                    }
                    self.sink.commit(self.turn_id, body).await?;
                }
                Record::Keep(rule) => self.keep(rule).await?,
            }
        }
        self.scheduler.launch();
        Ok(())
    }

    /// Has a rule kept, and says what came of it: it holds for this session in any case.
    async fn keep(&mut self, rule: String) -> Result<(), SinkError> {
        let Some(book) = self.rule_book.clone() else { return Ok(()) };
        let (level, text) = match book.keep(rule).await {
            Ok(()) => (NotificationLevel::Info, format!("the rule is kept in {}", book.file())),
            Err(error) => {
                let text = format!("the rule holds for this session only: {} can't be written: {error}", book.file());
                (NotificationLevel::Warning, text)
            }
        };
        self.sink.emit(self.turn_id, EventBody::Notification(Notification::new(level, text))).await
    }

    /// Tells the machine when the gate wants the work to end.
    pub(super) async fn check_stop(&mut self) -> Result<(), SinkError> {
        if self.scheduler.take_stop().is_some() {
            // Calls that waited for an answer have ended with it.
            self.withdraw_questions().await?;
            return self.on(Input::Halt(End::STOPPED)).await;
        }
        Ok(())
    }

    pub(super) async fn calls_moved(&mut self) -> Result<(), SinkError> {
        self.check_budget().await?;
        let input = self.calls_input();
        self.on(input).await
    }

    fn calls_input(&self) -> Input {
        let counts = self.scheduler.counts();
        Input::CallsMoved { stamp: self.stamp, waiting: counts.waiting, running: counts.running, open: counts.open }
    }

    /// The results enter the conversation; with the end of the turn they are on the disk.
    async fn end_turn(&mut self, iteration: u32) -> Result<(), SinkError> {
        self.keep_after();
        self.keep_results();
        self.admit_pictures().await?;
        self.tell_folder_rules().await?;
        self.sink.commit(self.turn_id, EventBody::TurnEnd(TurnEnd { iteration })).await
    }

    /// What the turn changed is kept beside the next question to the model.
    fn keep_after(&mut self) {
        let kept = self.scheduler.take_kept();
        if let Some(checkpoints) = self.checkpoints.as_ref().filter(|_| kept) {
            checkpoints.after(self.turn_id);
        }
    }

    /// What the last turn changed is told before the end of the work, so that whatever is asked next comes
    /// after it. Whoever stops the work is not kept waiting for a large workspace.
    async fn settle(&mut self, reason: CompleteReason) {
        let Some(checkpoints) = &self.checkpoints else { return };
        match reason {
            CompleteReason::Cancelled => drop(tokio::time::timeout(MOST_SETTLING, checkpoints.settled()).await),
            CompleteReason::Natural
            | CompleteReason::IterationLimit
            | CompleteReason::Failed
            | CompleteReason::Budget
            | CompleteReason::Stopped
            | CompleteReason::LoopDetected => checkpoints.settled().await,
        }
    }

    fn keep_results(&mut self) {
        let results = self.scheduler.take_results();
        if !results.is_empty() {
            let asked = self.history.last().map_or_else(MessageId::new, |message| message.id);
            self.history.push(Message::results_of(asked, results));
        }
    }

    async fn tell_of_no_answer(&mut self, times: u32) -> Result<(), SinkError> {
        let code = ErrorCode::EmptyAnswer;
        let often = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let message = format!("{} answered nothing, {often}; try another model", self.provider.label());
        let event = ErrorEvent { code, message, retryable: code.retryable() };
        self.sink.emit(self.turn_id, EventBody::Error(event)).await
    }

    async fn tell_of_no_end(&mut self) -> Result<(), SinkError> {
        let code = ErrorCode::ProviderUnavailable;
        let who = self.provider.label();
        let message = format!("the answers of {who} are longer than answers may be; try another model");
        let event = ErrorEvent { code, message, retryable: code.retryable() };
        self.sink.emit(self.turn_id, EventBody::Error(event)).await
    }

    async fn stop_work(&mut self) -> Result<(), SinkError> {
        self.letters.drop_hold();
        if let Some(streaming) = self.streaming.take() {
            self.keep_partial(streaming).await?;
        }
        if self.room.drop_compaction() {
            self.not_compacted("the work was stopped").await?;
        }
        self.withdraw_questions().await?;
        self.leave_gate().await?;
        let records = self.scheduler.stop().await;
        self.keep_after();
        self.record(records).await?;
        self.keep_results();
        self.admit_pictures().await
    }

    async fn finish(&mut self, reason: CompleteReason, code: Option<ErrorCode>) -> Result<Vec<Effect>, SinkError> {
        if reason == CompleteReason::Natural {
            let events = self.book.end_work();
            self.tell_all(events).await?;
        }
        self.settle(reason).await;
        let duration = self.clock.now().saturating_sub(self.began_at);
        let budget = self.budget.reached(&self.session_usage, self.worked());
        let complete = AgentComplete {
            reason,
            error_code: code,
            final_text: self.final_text.clone(),
            turns: self.machine.iteration(),
            usage: self.usage,
            session_usage: self.session_usage,
            duration_ms: millis(duration),
            waited_ms: millis(self.waited),
            budget,
        };
        self.worked += duration.saturating_sub(self.waited);
        self.began_at = self.clock.now();
        self.waited = Duration::ZERO;
        self.sink.commit(self.turn_id, EventBody::AgentComplete(complete)).await?;
        self.turn_id = None;
        self.letters.wakeable = matches!(reason, CompleteReason::Natural | CompleteReason::IterationLimit);
        match reason {
            CompleteReason::Natural | CompleteReason::IterationLimit => {
                let effects = self.begin_queued().await?;
                if effects.is_empty() {
                    self.compact_at_last().await?;
                }
                Ok(effects)
            }
            // Whoever stopped the work, or has no model, does not want it to start again by itself.
            CompleteReason::Cancelled
            | CompleteReason::Failed
            | CompleteReason::Budget
            | CompleteReason::Stopped
            | CompleteReason::LoopDetected => {
                if self.room.drop_compaction() {
                    self.not_compacted(&format!("the work ended ({reason})")).await?;
                }
                Ok(Vec::new())
            }
        }
    }

    /// What was said meanwhile is the next thing to do.
    async fn begin_queued(&mut self) -> Result<Vec<Effect>, SinkError> {
        let Some((_, message)) = self.queued.pop_front() else {
            if self.letters.wake() {
                self.start_over();
                return Ok(self.machine.on(Input::Begin));
            }
            return Ok(Vec::new());
        };
        if self.messages_are_gated() {
            self.queued.push_front((Admission::TurnBoundary, message));
        } else {
            self.admit_said(message).await?;
        }
        self.start_over();
        Ok(self.machine.on(Input::Begin))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn nudge_text(nudge: Nudge) -> &'static str {
    match nudge {
        Nudge::Empty => "Your last answer was empty. Go on with the task, or say in a sentence that it is done.",
        Nudge::CutOff => "Your last answer was cut off by the output limit. Go on exactly where it stopped.",
        Nudge::TooLong => {
            "Your last answer was cut off because it was longer than an answer may be. Do not repeat it. Say in a few \
             words what matters, and write what is long into files, in several calls."
        }
    }
}
