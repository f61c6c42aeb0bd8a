//! The agent's own moments at the gate: the session begins and ends, the person says something, the
//! model wants to be done, a call waits.
//!
//! What the gate does runs beside the agent, never in its way: a cancel is heard at any time and ends it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::Message;
use neco_proto::event::{CompactionCause, HookEvent, PermissionRequest};
use neco_safety::secrets::{Redactor, Scope};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::gate::{FailedPart, Failure, Gate, GateRuling, HookContext, HookDecision, HookPoint};
use crate::machine::Stamp;

/// How often in a row the end of the work may be objected to.
pub(super) const MOST_HELD: u32 = 8;

/// How long what was told to stop may take to say so.
const GRACE: Duration = Duration::from_millis(500);

/// Of how many failures is told at the same time; the others wait for their turn.
const MOST_TOLD: usize = 4;

/// How long those who are told of failures may go on when the session ends.
const GRACE_AT_THE_END: Duration = Duration::from_secs(5);

/// How the agent works when the gate is asked, and what hides secrets in its answer.
pub(super) struct GateScene {
    pub(super) context: HookContext,
    pub(super) redactor: Redactor,
}

pub(super) struct AtGate {
    gate: Arc<dyn Gate>,
    work: JoinSet<Passed>,
    /// Those who are told of failures: what failed ends the work, which must not end them.
    told: JoinSet<HookDecision>,
    /// Their turns, so that not all of them run at once.
    telling: Arc<Semaphore>,
    cancel: CancellationToken,
    /// Whether the session's beginning is still at the gate.
    opening: bool,
    /// Whether the session's beginning was objected to.
    closed: bool,
    /// Whether the work ends because of something the person said.
    ended: bool,
    /// The turn that what was said is to begin.
    then: Stamp,
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

/// What the gate makes of the end of the work.
pub(super) enum EndRuling {
    /// The work ends.
    Ends,
    /// It was objected to too often.
    EndsAllTheSame,
    /// The work goes on, for a reason.
    GoesOn(String),
}

impl AtGate {
    pub(super) fn new(gate: Arc<dyn Gate>) -> Self {
        Self {
            gate,
            work: JoinSet::new(),
            told: JoinSet::new(),
            telling: Arc::new(Semaphore::new(MOST_TOLD)),
            cancel: CancellationToken::new(),
            opening: false,
            closed: false,
            ended: false,
            then: Stamp::default(),
            messages: Vec::new(),
            held: 0,
        }
    }

    /// Whatever comes from now on is taken to this gate.
    pub(super) fn set_gate(&mut self, gate: Arc<dyn Gate>) {
        self.gate = gate;
    }

    pub(super) fn has_work(&self) -> bool {
        !self.work.is_empty() || !self.told.is_empty()
    }

    /// The next thing that has passed. Waits for ever when nothing is there.
    pub(super) async fn next(&mut self) -> Passed {
        tokio::select! {
            Some(passed) = self.work.join_next() => passed.unwrap_or(Passed::Dropped),
            Some(told) = self.told.join_next() => told.map_or(Passed::Dropped, Passed::Waiting),
            else => std::future::pending().await,
        }
    }

    /// A new piece of work begins.
    pub(super) fn start_over(&mut self) {
        self.held = 0;
        self.ended = false;
    }

    /// The session begins.
    pub(super) fn open(&mut self, resumed: bool, scene: GateScene) {
        if self.attends(HookEvent::SessionStart) {
            self.opening = true;
            let asked = self.ask(HookPoint::SessionStart { resumed }, &scene);
            self.work.spawn(async move { Passed::Opening(asked.await) });
        }
    }

    /// What the gate says of the session's beginning.
    pub(super) fn opened(&mut self, decision: &HookDecision) {
        self.opening = false;
        self.closed = decision.stop.is_some();
    }

    /// The session ends; nothing can be said against that.
    pub(super) async fn close(&mut self, scene: GateScene) -> HookDecision {
        if !self.attends(HookEvent::SessionEnd) {
            return HookDecision::default();
        }
        self.cancel = CancellationToken::new();
        self.ask(HookPoint::SessionEnd, &scene).await
    }

    /// Whether what the person says has to wait for the gate before it enters the conversation.
    pub(super) fn holds_messages(&self) -> bool {
        self.opening || self.closed || self.attends(HookEvent::UserPromptSubmit)
    }

    /// Takes what waits to be said to the model to the gate, with the turn that it is to begin. False
    /// when nothing stands in the way of that.
    pub(super) fn hold_question(&mut self, stamp: Stamp, messages: Vec<Message>, scene: &GateScene) -> bool {
        self.then = stamp;
        self.messages = messages;
        // What the beginning of the session adds comes before what the person said.
        self.opening || self.look_at_messages(scene)
    }

    /// Takes what the person said to the gate, one after the other. False when they said nothing, and
    /// the turn may begin.
    pub(super) fn look_at_messages(&mut self, scene: &GateScene) -> bool {
        let ask = |message: &Message| (message.clone(), self.ask_about(message, scene));
        let asked: Vec<_> = self.messages.iter().map(ask).collect();
        if asked.is_empty() && !self.closed {
            return false;
        }
        self.work.spawn(async move {
            let mut passed = Vec::new();
            for (message, asked) in asked {
                passed.push((message, asked.await));
            }
            Passed::Prompts(passed)
        });
        true
    }

    /// What was said was looked at; `ended` when the work ends because of it.
    pub(super) fn looked_at(&mut self, ended: bool) {
        self.messages.clear();
        self.ended |= ended;
    }

    /// The turn that waited for the gate, and whether it may begin.
    pub(super) fn waiting_turn(&mut self) -> (Stamp, bool) {
        let ended = std::mem::take(&mut self.ended);
        (self.then, !self.closed && !ended)
    }

    /// Takes the end of the work to the gate. False when nobody wants to be asked.
    pub(super) fn hold_end(&mut self, stamp: Stamp, last_words: &str, scene: &GateScene) -> bool {
        if !self.attends(HookEvent::Stop) {
            return false;
        }
        let moment = HookPoint::Stop { last_words: last_words.to_owned(), held: self.held > 0 };
        let asked = self.ask(moment, scene);
        self.work.spawn(async move { Passed::End(stamp, asked.await) });
        true
    }

    /// What the gate says of the end of the work.
    pub(super) fn rule_on_end(&mut self, decision: HookDecision) -> EndRuling {
        match decision.ruling {
            Some(GateRuling::Block(_)) if decision.stop.is_none() && self.held == MOST_HELD => {
                EndRuling::EndsAllTheSame
            }
            Some(GateRuling::Block(reason)) if decision.stop.is_none() => {
                self.held += 1;
                EndRuling::GoesOn(reason)
            }
            Some(_) | None => EndRuling::Ends,
        }
    }

    /// A call waits for the person.
    pub(super) fn tell_of_waiting(&mut self, request: &PermissionRequest, scene: &GateScene) {
        self.tell(HookPoint::Waiting { tool: request.tool.clone(), summary: request.summary.clone() }, scene);
    }

    /// The conversation is about to be made shorter, or was.
    pub(super) fn tell_of_compaction(&mut self, done: bool, cause: CompactionCause, scene: &GateScene) {
        self.tell(HookPoint::Compaction { done, asked: cause == CompactionCause::Asked }, scene);
    }

    /// Something failed.
    pub(super) fn tell_of_failure(&mut self, mut failure: Failure, scene: &GateScene) {
        if self.attends(HookEvent::Error) {
            scene.redactor.redact_in(&mut failure.message, Scope::Outside);
            if let FailedPart::Call { summary, .. } = &mut failure.what {
                scene.redactor.redact_in(summary, Scope::Outside);
            }
            let asked = self.gate.ask(HookPoint::Failure(failure), scene.context.clone(), CancellationToken::new());
            let (asked, turns) = (presentable(asked, scene), Arc::clone(&self.telling));
            self.told.spawn(async move {
                // Nobody closes it, so there is always a turn to come.
                let _turn = turns.acquire().await;
                asked.await
            });
        }
    }

    /// What those say who were told of failures; whoever takes too long is stopped.
    pub(super) async fn hear_told(&mut self) -> Vec<HookDecision> {
        let mut decisions = Vec::new();
        let all = async {
            while let Some(told) = self.told.join_next().await {
                decisions.extend(told);
            }
        };
        // Whoever is late is dropped with the set, and with it what it ran.
        let _ = tokio::time::timeout(GRACE_AT_THE_END, all).await;
        self.told.shutdown().await;
        decisions
    }

    /// Ends what is at the gate. What it said until then, and what the person said that it did not let pass.
    pub(super) async fn leave(&mut self) -> (Vec<HookDecision>, Vec<Message>) {
        self.cancel.cancel();
        let deadline = tokio::time::sleep(GRACE);
        tokio::pin!(deadline);
        let mut decisions = Vec::new();
        while !self.work.is_empty() {
            let passed = tokio::select! {
                Some(passed) = self.work.join_next() => passed.unwrap_or(Passed::Dropped),
                () = &mut deadline => break,
            };
            if let Passed::Opening(decision) = &passed {
                self.closed = decision.stop.is_some();
            }
            match passed {
                Passed::Opening(decision) | Passed::End(_, decision) | Passed::Waiting(decision) => {
                    decisions.push(decision);
                }
                Passed::Prompts(messages) => decisions.extend(messages.into_iter().map(|(_, decision)| decision)),
                Passed::Dropped => {}
            }
        }
        // What was said is kept, so nothing may say that it was taken out.
        let runs = decisions.iter_mut().flat_map(|decision| &mut decision.runs);
        runs.for_each(|run| run.message_id = None);
        // Ready when every task is dropped, and with it what it ran.
        self.work.shutdown().await;
        self.cancel = CancellationToken::new();
        self.opening = false;
        (decisions, std::mem::take(&mut self.messages))
    }

    /// Whether anybody wants to be asked at such a moment.
    pub(super) fn attends(&self, event: HookEvent) -> bool {
        self.gate.attends(event, None)
    }

    fn ask_about(&self, message: &Message, scene: &GateScene) -> BoxFuture<'static, HookDecision> {
        // What is said to a closed session is kept, and comes to nothing.
        if self.closed || !self.attends(HookEvent::UserPromptSubmit) {
            return Box::pin(std::future::ready(HookDecision::default()));
        }
        self.ask(HookPoint::Prompt { message_id: message.id, text: message.text() }, scene)
    }

    /// Tells the gate of something that it can't say anything against.
    fn tell(&mut self, moment: HookPoint, scene: &GateScene) {
        if self.attends(moment.event()) {
            let asked = self.ask(moment, scene);
            self.work.spawn(async move { Passed::Waiting(asked.await) });
        }
    }

    fn ask(&self, moment: HookPoint, scene: &GateScene) -> BoxFuture<'static, HookDecision> {
        presentable(self.gate.ask(moment, scene.context.clone(), self.cancel.child_token()), scene)
    }
}

fn presentable(asked: BoxFuture<'static, HookDecision>, scene: &GateScene) -> BoxFuture<'static, HookDecision> {
    // A defect of the gate must not keep the agent waiting for ever.
    let decision = AssertUnwindSafe(asked).catch_unwind().map(Result::unwrap_or_default);
    let redactor = scene.redactor.clone();
    Box::pin(decision.map(move |decision| decision.presentable(&redactor)))
}
