//! The agent's own moments at the gate: the session begins and ends, the person says something, the
//! model wants to be done, a call waits.
//!
//! What the gate does runs beside the agent, never in its way: a cancel is heard at any time and ends it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use neco_proto::event::{Admission, CompactionCause, HookEvent, PermissionRequest};
use neco_proto::{EventBody, Message};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use crate::gate::{Gate, GateRuling, HookContext, HookDecision, HookPoint};
use crate::machine::{AnswerKind, End, Input, Stamp};
use crate::ports::SinkError;

/// How often in a row the end of the work may be objected to.
const MOST_HELD: u32 = 8;

/// How long what was told to stop may take to say so.
const GRACE: Duration = Duration::from_millis(500);

/// What is at the gate.
pub(super) struct AtGate {
    gate: Arc<dyn Gate>,
    work: JoinSet<Passed>,
    cancel: CancellationToken,
    /// Whether the session's beginning is still at the gate.
    opening: bool,
    /// Whether the session's beginning was objected to.
    closed: bool,
    /// Whether the work ends because of something the person said.
    ended: bool,
    /// The question to the model that waits for the gate.
    ask: Option<(Stamp, u32)>,
    /// What was said and is being looked at.
    messages: Vec<Message>,
    /// How often in a row the end of the work was objected to.
    held: u32,
}

/// What has passed the gate.
pub(super) enum Passed {
    Opening(HookDecision),
    Prompts(Vec<(Message, HookDecision)>),
    End(Stamp, HookDecision),
    Waiting(HookDecision),
    /// It was stopped.
    Dropped,
}

impl AtGate {
    pub(super) fn new(gate: Arc<dyn Gate>) -> Self {
        Self {
            gate,
            work: JoinSet::new(),
            cancel: CancellationToken::new(),
            opening: false,
            closed: false,
            ended: false,
            ask: None,
            messages: Vec::new(),
            held: 0,
        }
    }

    /// Whatever comes from now on is taken to this gate.
    pub(super) fn set_gate(&mut self, gate: Arc<dyn Gate>) {
        self.gate = gate;
    }

    pub(super) fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The next thing that has passed. Waits for ever when nothing is there.
    pub(super) async fn next(&mut self) -> Passed {
        match self.work.join_next().await {
            Some(passed) => passed.unwrap_or(Passed::Dropped),
            None => std::future::pending().await,
        }
    }

    /// A new piece of work begins.
    pub(super) fn start_over(&mut self) {
        self.held = 0;
        self.ended = false;
    }

    fn attends(&self, event: HookEvent) -> bool {
        self.gate.attends(event, None)
    }

    /// Whether what the person says has to wait for the gate.
    fn holds_messages(&self) -> bool {
        self.opening || self.closed || self.attends(HookEvent::UserPromptSubmit)
    }
}

impl Agent {
    /// The session begins.
    pub(super) fn open_session(&mut self, resumed: bool) {
        if !self.gated.attends(HookEvent::SessionStart) {
            return;
        }
        self.gated.opening = true;
        let asked = self.ask_gate(HookPoint::SessionStart { resumed });
        self.gated.work.spawn(async move { Passed::Opening(asked.await) });
    }

    /// The session ends; nothing can be said against that.
    pub(super) async fn close_session(&mut self) -> Result<(), SinkError> {
        if !self.gated.attends(HookEvent::SessionEnd) {
            return Ok(());
        }
        self.gated.cancel = CancellationToken::new();
        let word = self.ask_gate(HookPoint::SessionEnd).await;
        self.tell_runs(word).await?;
        Ok(())
    }

    /// Whether what the person says goes to the gate before it enters the conversation.
    pub(super) fn messages_are_gated(&self) -> bool {
        self.gated.holds_messages()
    }

    /// Takes what waits to be said to the model to the gate, with the question it belongs to. False
    /// when nothing stands in the way of asking.
    pub(super) fn hold_question(&mut self, stamp: Stamp, iteration: u32, messages: Vec<Message>) -> bool {
        self.gated.ask = Some((stamp, iteration));
        self.gated.messages = messages;
        // What the beginning of the session adds comes before what the person said.
        if self.gated.opening || self.look_at_messages() {
            return true;
        }
        self.gated.ask = None;
        false
    }

    /// Takes what the person said to the gate, one after the other. False when they said nothing, and
    /// the model may be asked.
    fn look_at_messages(&mut self) -> bool {
        let messages = &self.gated.messages;
        let asked: Vec<_> = messages.iter().map(|message| (message.clone(), self.ask_about(message))).collect();
        if asked.is_empty() && !self.gated.closed {
            return false;
        }
        self.gated.work.spawn(async move {
            let mut passed = Vec::new();
            for (message, asked) in asked {
                passed.push((message, asked.await));
            }
            Passed::Prompts(passed)
        });
        true
    }

    fn ask_about(&self, message: &Message) -> futures::future::BoxFuture<'static, HookDecision> {
        // What is said to a closed session is kept, and comes to nothing.
        if self.gated.closed || !self.gated.attends(HookEvent::UserPromptSubmit) {
            return Box::pin(std::future::ready(HookDecision::default()));
        }
        self.ask_gate(HookPoint::Prompt { message_id: message.id, text: message.text() })
    }

    /// Takes the end of the work to the gate. False when nobody wants to be asked.
    pub(super) fn hold_end(&mut self, stamp: Stamp) -> bool {
        if !self.gated.attends(HookEvent::Stop) {
            return false;
        }
        let held = self.gated.held > 0;
        let asked = self.ask_gate(HookPoint::Stop { last_words: self.final_text.clone(), held });
        self.gated.work.spawn(async move { Passed::End(stamp, asked.await) });
        true
    }

    /// A call waits for the person.
    pub(super) fn tell_of_waiting(&mut self, request: &PermissionRequest) {
        if !self.gated.attends(HookEvent::Notification) {
            return;
        }
        let moment = HookPoint::Waiting { tool: request.tool.clone(), summary: request.summary.clone() };
        let asked = self.ask_gate(moment);
        self.gated.work.spawn(async move { Passed::Waiting(asked.await) });
    }

    /// The conversation is about to be made shorter, or was.
    pub(super) fn tell_of_compaction(&mut self, done: bool, cause: CompactionCause) {
        let moment = HookPoint::Compaction { done, asked: cause == CompactionCause::Asked };
        if !self.gated.attends(moment.event()) {
            return;
        }
        let asked = self.ask_gate(moment);
        self.gated.work.spawn(async move { Passed::Waiting(asked.await) });
    }

    /// Takes in what has passed.
    pub(super) async fn take_passed(&mut self, passed: Passed) -> Result<(), SinkError> {
        match passed {
            Passed::Opening(word) => {
                self.gated.opening = false;
                self.gated.closed = word.stop.is_some();
                let word = self.tell_runs(word).await?;
                self.add_context(HookEvent::SessionStart, word.context).await?;
                if self.look_at_messages() { Ok(()) } else { self.go_on(true).await }
            }
            Passed::Prompts(messages) => {
                self.gated.messages.clear();
                let (admitted, ended) = self.take_messages(messages).await?;
                self.gated.ended |= ended;
                self.go_on(admitted).await
            }
            Passed::End(stamp, word) => self.take_end(stamp, word).await,
            Passed::Waiting(word) => self.tell_runs(word).await.map(drop),
            Passed::Dropped => Ok(()),
        }
    }

    /// What was not blocked enters the conversation; says whether anything did, and whether the work ends.
    async fn take_messages(&mut self, messages: Vec<(Message, HookDecision)>) -> Result<(bool, bool), SinkError> {
        let (mut admitted, mut ended) = (false, false);
        for (message, word) in messages {
            let word = self.tell_runs(word).await?;
            ended |= word.stop.is_some();
            if matches!(word.ruling, Some(GateRuling::Block(_))) || word.stop.is_some() {
                continue;
            }
            self.admit_said(message).await?;
            self.add_context(HookEvent::UserPromptSubmit, word.context).await?;
            admitted = true;
        }
        Ok((admitted, ended))
    }

    /// Asks the model what waited for the gate, unless nothing is left to ask.
    async fn go_on(&mut self, something_is_asked: bool) -> Result<(), SinkError> {
        let Some((stamp, iteration)) = self.gated.ask.take() else { return Ok(()) };
        let ended = std::mem::take(&mut self.gated.ended);
        if self.gated.closed || ended || (!something_is_asked && iteration == 1) {
            return self.on(Input::Blocked { stamp, end: End::STOPPED }).await;
        }
        self.begin_turn(stamp, iteration).await
    }

    async fn take_end(&mut self, stamp: Stamp, word: HookDecision) -> Result<(), SinkError> {
        let word = self.tell_runs(word).await?;
        let objection = match word.ruling {
            Some(GateRuling::Block(reason)) if word.stop.is_none() => Some(reason),
            Some(_) | None => None,
        };
        let Some(reason) = objection else {
            return self.on(Input::Answered { stamp, kind: AnswerKind::Text }).await;
        };
        if self.gated.held == MOST_HELD {
            self.warn(&format!("the work ends although a hook objects: it did so {MOST_HELD} times in a row")).await?;
            return self.on(Input::Answered { stamp, kind: AnswerKind::Text }).await;
        }
        self.gated.held += 1;
        self.admit(Message::hook(format!("[Stop hook: the work is not done yet]\n{reason}"))).await?;
        self.on(Input::Answered { stamp, kind: AnswerKind::Held }).await
    }

    /// Ends what is at the gate. What the person said is kept for the next time.
    pub(super) async fn leave_gate(&mut self) -> Result<(), SinkError> {
        self.gated.cancel.cancel();
        let deadline = tokio::time::sleep(GRACE);
        tokio::pin!(deadline);
        while self.gated.has_work() {
            let passed = tokio::select! {
                passed = self.gated.next() => passed,
                () = &mut deadline => break,
            };
            if let Passed::Opening(word) = &passed {
                self.gated.closed = word.stop.is_some();
            }
            let words = match passed {
                Passed::Opening(word) | Passed::End(_, word) | Passed::Waiting(word) => vec![word],
                Passed::Prompts(messages) => messages.into_iter().map(|(_, word)| word).collect(),
                Passed::Dropped => Vec::new(),
            };
            for mut word in words {
                // It is kept, so nothing may say that it was taken out.
                word.runs.iter_mut().for_each(|run| run.message_id = None);
                self.tell_runs(word).await?;
            }
        }
        // Ready when every task is dropped, and with it what it ran.
        self.gated.work.shutdown().await;
        self.gated.cancel = CancellationToken::new();
        self.gated.opening = false;
        self.gated.ask = None;
        for message in std::mem::take(&mut self.gated.messages).into_iter().rev() {
            self.queued.push_front((Admission::TurnBoundary, message));
        }
        Ok(())
    }

    async fn tell_runs(&mut self, mut word: HookDecision) -> Result<HookDecision, SinkError> {
        for run in word.runs.drain(..) {
            self.sink.commit(self.turn_id, EventBody::HookRun(run)).await?;
        }
        Ok(word)
    }

    async fn add_context(&mut self, event: HookEvent, context: Vec<String>) -> Result<(), SinkError> {
        for text in context {
            self.admit(Message::hook(format!("[{event} hook]\n{text}"))).await?;
        }
        Ok(())
    }

    fn ask_gate(&self, moment: HookPoint) -> futures::future::BoxFuture<'static, HookDecision> {
        let asked = self.gated.gate.ask(moment, self.scene(), self.gated.cancel.child_token());
        // A defect of the gate must not keep the agent waiting for ever.
        let word = AssertUnwindSafe(asked).catch_unwind().map(Result::unwrap_or_default);
        let redactor = self.scheduler.redactor();
        Box::pin(word.map(move |word| word.presentable(&redactor)))
    }

    /// How the agent works now.
    pub(super) fn scene(&self) -> HookContext {
        HookContext {
            mode: self.settings.mode,
            approval: self.settings.approval,
            person_present: self.settings.person_present,
            model: self.provider.label().to_owned(),
            turn: self.turn_id,
            agent: None,
        }
    }
}
