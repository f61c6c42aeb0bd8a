//! The agent's task.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use neco_model::{Delta, History, ModelError, Provider};
use neco_proto::event::Admission;
use neco_proto::{CallId, EventBody, Message, Mode, TurnId, Usage};
use neco_safety::Who;
use tokio::sync::mpsc;

use super::gated::{AtGate, Passed};
use super::inputs::{AgentHandle, Mail};
use super::setup::{AgentSetup, Budget, Settings};
use super::stream::{Streaming, next_delta};
use crate::context::Context;
use crate::gate::OpenGate;
use crate::machine::{Input, Machine, Stamp};
use crate::ports::{Clock, EventSink, RuleBook, SinkError};
use crate::scheduler::{Progress, Scheduler};

/// Inputs that may wait; a window that sends more waits itself.
const MAILBOX: usize = 64;

/// One agent. Lives as long as [`Agent::run`] does.
pub struct Agent {
    pub(super) machine: Machine,
    pub(super) scheduler: Scheduler,
    pub(super) rule_book: Option<Arc<dyn RuleBook>>,
    pub(super) context: Context,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) sink: Arc<dyn EventSink>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) budget: Budget,
    /// Since the session began.
    pub(super) session_usage: Usage,
    pub(super) settings: Settings,
    pub(super) history: History,
    pub(super) queued: VecDeque<(Admission, Message)>,
    pub(super) cache_key: String,
    pub(super) streaming: Option<Streaming>,
    /// The turn whose calls the scheduler has.
    pub(super) stamp: Stamp,
    pub(super) turn_id: Option<TurnId>,
    /// Ids of calls that the session has seen: a result must reach its own call.
    pub(super) taken_ids: HashSet<CallId>,
    /// Since the agent last began.
    pub(super) began_at: Duration,
    pub(super) usage: Usage,
    pub(super) final_text: String,
    /// Whether the next answer goes on where the last one was cut off.
    pub(super) goes_on: bool,
    /// The call in whose middle the last answer ended.
    pub(super) cut_off: Option<CallId>,
    /// The mode in which the present turn's calls were asked for.
    pub(super) turn_mode: Mode,
    /// What waits for the gate.
    pub(super) gated: AtGate,
    resumed: bool,
    mailbox: mpsc::Receiver<Mail>,
}

/// What an agent waits for.
enum Happening {
    Mail(Option<Mail>),
    Delta(Option<Result<Delta, ModelError>>),
    Progress(Progress),
    LiveOutput,
    Passed(Passed),
}

impl Agent {
    /// An agent, and the way to it.
    #[must_use]
    pub fn new(setup: AgentSetup) -> (Self, AgentHandle) {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let taken_ids =
            setup.history.iter().flat_map(|entry| entry.message().tool_calls()).map(|call| call.id.clone()).collect();
        let agent = Self {
            machine: Machine::new(setup.max_turns),
            scheduler: Scheduler::new(setup.registry, setup.world, setup.spill, Arc::clone(&setup.clock), setup.limits)
                .with_gate(Arc::clone(&setup.gate))
                .with_policy(setup.policy, setup.rule_book.clone()),
            rule_book: setup.rule_book,
            context: Context::new(setup.sources),
            provider: setup.provider,
            sink: setup.sink,
            clock: setup.clock,
            budget: setup.budget,
            session_usage: setup.used,
            settings: setup.settings,
            history: setup.history,
            queued: setup.queued.into(),
            cache_key: setup.cache_key,
            streaming: None,
            stamp: Stamp::default(),
            turn_id: None,
            taken_ids,
            began_at: Duration::ZERO,
            usage: Usage::default(),
            final_text: String::new(),
            goes_on: false,
            cut_off: None,
            turn_mode: setup.settings.mode,
            gated: AtGate::new(setup.gate),
            resumed: setup.resumed,
            mailbox,
        };
        (agent, AgentHandle { mailbox: sender })
    }

    /// Works until every handle is gone. What still runs then is stopped.
    ///
    /// # Errors
    /// When its events can't be recorded any more: the work is stopped, nothing else is done.
    pub async fn run(mut self) -> Result<(), SinkError> {
        let result = self.work().await;
        if result.is_err() {
            // Nothing can be recorded, so the effects that are left are to stop the work.
            self.streaming = None;
            let _ = self.scheduler.stop().await;
            self.gated = AtGate::new(Arc::new(OpenGate));
        }
        result
    }

    async fn work(&mut self) -> Result<(), SinkError> {
        self.open_session(self.resumed);
        loop {
            match self.next().await {
                Happening::Mail(Some(mail)) => self.take_mail(mail).await?,
                Happening::Mail(None) => {
                    self.on(Input::Cancel).await?;
                    self.leave_gate().await?;
                    return self.close_session().await;
                }
                Happening::Delta(delta) => self.take_deltas(delta).await?,
                Happening::Progress(progress) => {
                    let who = self.who();
                    let records = self.scheduler.absorb(progress, &who);
                    self.record(records).await?;
                    self.check_stop().await?;
                    self.calls_moved().await?;
                }
                Happening::Passed(passed) => self.take_passed(passed).await?,
                Happening::LiveOutput => {
                    for chunk in self.scheduler.live().take() {
                        self.sink.emit(self.turn_id, EventBody::ToolOutputChunk(chunk)).await?;
                    }
                }
            }
        }
    }

    /// On whose behalf the present turn's calls are made: another mode holds from the next turn on,
    /// another approval mode at once.
    pub(super) fn who(&self) -> Who<'static> {
        Who {
            mode: self.turn_mode,
            approval: self.settings.approval,
            person_present: self.settings.person_present,
            role: Who::ROOT,
            confinement: self.settings.confinement,
            network: self.settings.network,
        }
    }

    /// People first: a flood of deltas or output can't keep them waiting.
    async fn next(&mut self) -> Happening {
        let Self { mailbox, streaming, scheduler, gated, .. } = self;
        let working = scheduler.has_work();
        let at_gate = gated.has_work();
        let live = Arc::clone(scheduler.live());
        tokio::select! {
            biased;
            mail = mailbox.recv() => Happening::Mail(mail),
            delta = next_delta(streaming.as_mut()) => Happening::Delta(delta),
            progress = scheduler.progress(), if working => Happening::Progress(progress),
            passed = gated.next(), if at_gate => Happening::Passed(passed),
            () = live.collected(), if working => Happening::LiveOutput,
        }
    }
}
