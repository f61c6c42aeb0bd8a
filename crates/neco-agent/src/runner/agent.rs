//! The agent's task.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use neco_model::{Delta, History, ModelError, Provider};
use neco_proto::event::{Admission, AgentState};
use neco_proto::{EventBody, Message, Mode, TurnId, Usage};
use neco_safety::Who;
use neco_toolkit::{Picture, Registry};
use tokio::sync::mpsc;

use super::compaction::Room;
use super::editor::Editor;
use super::folder_rules::Touched;
use super::gated::{AtGate, Passed};
use super::inputs::{AgentHandle, Mail};
use super::letters::Letters;
use super::questions::Posed;
use super::renewal::Renewal;
use super::setup::{AgentSetup, Budget, CallIds, Settings};
use super::stream::{Streaming, next_delta};
use crate::capability_level::CapabilityLevel;
use crate::context::Context;
use crate::gate::OpenGate;
use crate::guards::Guards;
use crate::machine::{Input, Machine, Stamp};
use crate::plan::PlanBook;
use crate::ports::{Checkpointer, Clock, EventSink, RuleBook, SinkError};
use crate::scheduler::{CutOff, Progress, Scheduler};

/// Inputs that may wait; a window that sends more waits itself.
const MAILBOX: usize = 64;

/// One agent. Lives as long as [`Agent::run`] does.
pub struct Agent {
    pub(super) machine: Machine,
    pub(super) scheduler: Scheduler,
    pub(super) rule_book: Option<Arc<dyn RuleBook>>,
    pub(super) checkpoints: Option<Arc<dyn Checkpointer>>,
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
    pub(super) temperature: Option<f64>,
    pub(super) streaming: Option<Streaming>,
    /// The turn whose calls the scheduler has.
    pub(super) stamp: Stamp,
    pub(super) turn_id: Option<TurnId>,
    /// Ids of calls that the session has seen: a result must reach its own call.
    pub(super) taken_ids: CallIds,
    /// What the policy knows it as.
    pub(super) role: Arc<str>,
    /// What other agents say to it.
    pub(super) letters: Letters,
    /// Since the agent last began.
    pub(super) began_at: Duration,
    pub(super) usage: Usage,
    pub(super) final_text: String,
    /// Whether the next answer goes on where the last one was cut off.
    pub(super) goes_on: bool,
    /// The calls that the last answer did not write to their end.
    pub(super) cut_off: Option<CutOff>,
    /// The mode in which the present turn's calls were asked for.
    pub(super) turn_mode: Mode,
    /// What waits for the gate.
    pub(super) gated: AtGate,
    /// Room for the conversation.
    pub(super) room: Room,
    /// What the person has open.
    pub(super) editor: Editor,
    /// Rules files of folders that it touched.
    pub(super) touched: Touched,
    /// The generation.
    pub(super) generation: CapabilityLevel,
    /// All tools, of whatever generation.
    pub(super) tools: Registry,
    /// Whether the next turn has other tools than this one.
    pub(super) tools_changed: bool,
    /// Its list, plan and findings.
    pub(super) book: PlanBook,
    /// What watches it.
    pub(super) guards: Guards,
    /// Pictures that follow the results of the present turn.
    pub(super) pictures: Vec<Picture>,
    /// Questions that wait for the person.
    pub(super) posed: Vec<Posed>,
    /// The mode that it left for plan mode by itself.
    pub(super) plans_from: Option<Mode>,
    /// How long the session worked before the present request.
    pub(super) worked: Duration,
    /// How long the person was waited for in the present request, and since when they are.
    pub(super) waited: Duration,
    pub(super) waits_since: Option<Duration>,
    /// What looks whether it is still made of what counts.
    pub(super) renewal: Option<Arc<dyn Renewal>>,
    resumed: bool,
    mailbox: mpsc::Receiver<Mail>,
}

/// What an agent waits for.
enum LoopEvent {
    Mail(Option<Mail>),
    TimeUp,
    Delta(Option<Result<Delta, ModelError>>),
    Progress(Progress),
    LiveOutput,
    Passed(Passed),
    Note(Option<Result<Delta, ModelError>>),
}

impl Agent {
    /// An agent, and the way to it.
    #[must_use]
    pub fn new(setup: AgentSetup) -> (Self, AgentHandle) {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let registry = setup.generation.narrow(&setup.registry);
        let mut agent = Self {
            machine: Machine::new(setup.max_turns),
            scheduler: Scheduler::new(registry, setup.world, setup.spill, Arc::clone(&setup.clock), setup.limits)
                .with_gate(Arc::clone(&setup.gate))
                .with_policy(setup.policy, setup.rule_book.clone())
                .with_checkpoints(setup.checkpoints.clone()),
            checkpoints: setup.checkpoints,
            rule_book: setup.rule_book,
            context: Context::new(setup.prompts, setup.sources),
            room: Room::new(setup.context, setup.just_compacted.then(|| setup.history.len()), setup.counted),
            editor: Editor::new(setup.ide_told),
            touched: Touched::new(setup.folder_rules, setup.rules_told),
            provider: setup.provider,
            sink: setup.sink,
            clock: setup.clock,
            budget: setup.budget,
            session_usage: setup.used,
            settings: setup.settings,
            history: setup.history,
            queued: setup.queued.into(),
            cache_key: setup.cache_key,
            temperature: setup.temperature,
            streaming: None,
            stamp: Stamp::default(),
            turn_id: None,
            taken_ids: setup.call_ids,
            role: setup.role,
            letters: Letters::new(),
            began_at: Duration::ZERO,
            usage: Usage::default(),
            final_text: String::new(),
            goes_on: false,
            cut_off: None,
            turn_mode: setup.settings.mode,
            gated: AtGate::new(setup.gate),
            generation: setup.generation,
            tools: setup.registry,
            tools_changed: false,
            book: setup.book,
            guards: Guards::new(&setup.guards),
            pictures: Vec::new(),
            posed: Vec::new(),
            plans_from: setup.plans_from,
            worked: setup.worked,
            waited: Duration::ZERO,
            waits_since: None,
            renewal: setup.renewal,
            resumed: setup.resumed,
            mailbox,
        };
        agent.recall();
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
            self.room.drop_compaction();
            let _ = self.scheduler.stop().await;
            self.gated = AtGate::new(Arc::new(OpenGate));
        }
        result
    }

    async fn work(&mut self) -> Result<(), SinkError> {
        self.open_session(self.resumed);
        loop {
            match self.next().await {
                LoopEvent::Mail(Some(mail)) => self.take_mail(mail).await?,
                LoopEvent::Mail(None) => {
                    self.on(Input::Cancel).await?;
                    self.leave_gate().await?;
                    if let Some(checkpoints) = &self.checkpoints {
                        checkpoints.settled().await;
                    }
                    return self.close_session().await;
                }
                LoopEvent::TimeUp => self.on(Input::TimeUp).await?,
                LoopEvent::Delta(delta) => self.take_deltas(delta).await?,
                LoopEvent::Progress(mut progress) => {
                    self.fulfil(&mut progress).await?;
                    let role = Arc::clone(&self.role);
                    let who = self.who(&role);
                    let records = self.scheduler.absorb(progress, &who);
                    self.record(records).await?;
                    self.check_stop().await?;
                    self.calls_moved().await?;
                }
                LoopEvent::Passed(passed) => self.take_passed(passed).await?,
                LoopEvent::Note(note) => self.take_note(note).await?,
                LoopEvent::LiveOutput => {
                    for chunk in self.scheduler.live().take() {
                        self.sink.emit(self.turn_id, EventBody::ToolOutputChunk(chunk)).await?;
                    }
                }
            }
        }
    }

    /// On whose behalf the present turn's calls are made: another mode holds from the next turn on,
    /// another approval mode at once.
    pub(super) fn who<'r>(&self, role: &'r str) -> Who<'r> {
        Who {
            mode: self.turn_mode,
            approval: self.settings.approval,
            person_present: self.settings.person_present,
            role,
            confinement: self.settings.confinement,
            network: self.settings.network,
        }
    }

    /// How long the model may still answer, where the time of work is limited.
    fn time_left(&self) -> Option<Duration> {
        let limit = self.budget.time.filter(|_| self.machine.state() == AgentState::Streaming)?;
        Some(limit.saturating_sub(self.worked()))
    }

    /// People first: a flood of deltas or output can't keep them waiting.
    async fn next(&mut self) -> LoopEvent {
        let time_left = self.time_left();
        let Self { mailbox, streaming, scheduler, gated, room, .. } = self;
        let working = scheduler.has_work();
        let at_gate = gated.has_work();
        let live = Arc::clone(scheduler.live());
        tokio::select! {
            biased;
            mail = mailbox.recv() => LoopEvent::Mail(mail),
            () = tokio::time::sleep(time_left.unwrap_or_default()), if time_left.is_some() => LoopEvent::TimeUp,
            delta = next_delta(streaming.as_mut()) => LoopEvent::Delta(delta),
            note = room.next() => LoopEvent::Note(note),
            progress = scheduler.progress(), if working => LoopEvent::Progress(progress),
            passed = gated.next(), if at_gate => LoopEvent::Passed(passed),
            () = live.collected(), if working => LoopEvent::LiveOutput,
        }
    }
}
