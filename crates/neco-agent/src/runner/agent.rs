//! The agent's task: the loop that hears everybody, and what the machine wants done.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use neco_model::{Delta, FinishReason, ModelError};
use neco_proto::event::{
    AgentComplete, AgentState, CompactionCause, CompleteReason, ErrorEvent, HookEvent, StateChange, TurnEnd,
};
use neco_proto::{Actor, ErrorCode, EventBody, Layer, Message, Role, Subject};
use neco_safety::Who;
use tokio::sync::mpsc;

use super::accounts::Accounts;
use super::answering::Answering;
use super::briefing::Briefing;
use super::compaction::{Asked, Making, Room, Talk};
use super::conversation::{Conversation, Editor, Pieces, Touched};
use super::gated::{AtGate, GateScene, Passed};
use super::inbox::Inbox;
use super::inputs::{AgentHandle, Mail};
use super::kept_rules::KeptRules;
use super::kept_workspace::KeptWorkspace;
use super::model::{Counting, Ending, Model, Streaming, Wishes};
use super::nudges::{BROKEN_OFF, nudge_text};
use super::planning::Planning;
use super::questions::{Asker, Questions};
use super::renewal::Renewal;
use super::reports::Reports;
use super::setup::{AgentSetup, Unfinished};
use super::skilled::{Skilling, SkillsInUse};
use super::terms::{Terms, Toolset};
use super::watched::Watched;
use crate::context::{Assembled, Context, tokens_of_all};
use crate::gate::{Failure, HookContext, OpenGate};
use crate::guards::{Guards, Objection};
use crate::machine::{AnswerKind, Effect, End, Input, Machine, Stamp, State};
use crate::ports::SinkError;
use crate::scheduler::{Progress, Record, Scheduler};

/// Inputs that may wait; a window that sends more waits itself.
const MAILBOX: usize = 64;

/// One agent. Lives as long as [`Agent::run`] does.
pub struct Agent {
    pub(super) machine: Machine,
    pub(super) scheduler: Scheduler,
    /// The turn whose calls the scheduler has.
    calls_of: Stamp,
    pub(super) reports: Reports,
    pub(super) accounts: Accounts,
    pub(super) terms: Terms,
    pub(super) tools: Toolset,
    pub(super) context: Context,
    pub(super) model: Model,
    pub(super) conversation: Conversation,
    pub(super) room: Room,
    pub(super) inbox: Inbox,
    pub(super) gate: AtGate,
    pub(super) questions: Questions,
    pub(super) planning: Planning,
    pub(super) skills: SkillsInUse,
    watched: Watched,
    rules: KeptRules,
    workspace: KeptWorkspace,
    /// What looks whether it is still made of what counts.
    pub(super) renewal: Option<Arc<dyn Renewal>>,
    /// Whether what was edited was just taken up for the turn that begins.
    pub(super) renewed: bool,
    resumed: bool,
    /// What it goes on with as soon as it runs.
    unfinished: Option<Unfinished>,
    /// Whether another process goes on with it.
    pub(super) hands_over: bool,
    /// Who stopped the present work.
    pub(super) stopped_by: Option<Actor>,
    mailbox: mpsc::Receiver<Mail>,
}

/// What an agent waits for.
enum LoopEvent {
    Mail(Option<Mail>),
    TimeUp,
    Delta(Option<Result<Delta, ModelError>>),
    Note(Option<Result<Delta, ModelError>>),
    Progress(Progress),
    Passed(Passed),
    /// Running calls ask something.
    AskedByCall,
    LiveOutput,
}

impl Agent {
    /// An agent that waits for something to do, and the way to it.
    pub fn new(setup: AgentSetup) -> (Self, AgentHandle) {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let tools = Toolset::new(setup.generation, setup.generation_is_chosen, setup.registry);
        let terms = Terms::new(setup.settings, setup.role);
        let scheduler =
            Scheduler::new(tools.registry(), setup.world, setup.spill, Arc::clone(&setup.clock), setup.limits)
                .with_model(setup.model)
                .with_gate(Arc::clone(&setup.gate))
                .with_policy(setup.policy, setup.rule_book.clone())
                .with_checkpoints(setup.checkpoints.clone());
        let guards = Guards::new(&setup.guards);
        let wishes = Wishes { temperature: setup.temperature, max_output: setup.max_output };
        let agent = Self {
            machine: Machine::new(setup.max_turns),
            calls_of: Stamp::default(),
            reports: Reports::new(setup.sink),
            accounts: Accounts::new(setup.clock, setup.budget, setup.used, setup.worked),
            watched: Watched::new(guards, &setup.history, scheduler.registry(), &terms),
            scheduler,
            tools,
            context: Context::new(setup.prompts, setup.sources).with_skills(setup.skills.as_ref()),
            model: Model::new(setup.provider, setup.call_ids, setup.cache_key, wishes, &terms.role),
            terms,
            room: Room::new(setup.context, setup.just_compacted.then(|| setup.history.len()), setup.counted),
            conversation: Conversation::new(
                setup.history,
                Editor::new(setup.ide_told),
                Touched::new(setup.folder_rules, setup.rules_told),
                Pieces { files: setup.request_files, given: setup.given },
            ),
            inbox: Inbox::new(setup.queued),
            skills: SkillsInUse::new(
                setup.skills,
                setup.skill_models,
                Arc::clone(&setup.gate),
                (setup.skills_given, setup.skills_used),
            ),
            gate: AtGate::new(setup.gate),
            questions: Questions::default(),
            stopped_by: None,
            planning: Planning { book: setup.book, left: setup.plans_from },
            rules: KeptRules(setup.rule_book),
            workspace: KeptWorkspace(setup.checkpoints),
            renewal: setup.renewal,
            renewed: false,
            resumed: setup.resumed,
            unfinished: setup.unfinished,
            hands_over: false,
            mailbox,
        };
        let in_use = agent.skills.in_use.clone();
        (agent, AgentHandle { mailbox: sender, in_use })
    }

    /// Works until every handle is gone. What still runs then is stopped.
    /// Fails when its events can't be recorded any more: the work is stopped, nothing else is done.
    pub async fn run(mut self) -> Result<(), SinkError> {
        let result = self.work().await;
        if let Err(SinkError { code, message }) = &result {
            // Nothing can be recorded, so the effects that are left are to stop the work.
            drop(self.model.stop());
            self.room.drop_compaction();
            let _ = self.scheduler.stop().await;
            let scene = self.scene();
            self.gate.tell_of_failure(Failure::of_session(*code, message.clone()), &scene);
            let _ = self.gate.hear_told().await;
            self.gate = AtGate::new(Arc::new(OpenGate));
        }
        result
    }

    async fn work(&mut self) -> Result<(), SinkError> {
        self.reports.keep_failures(self.gate.attends(HookEvent::Error));
        let scene = self.scene();
        self.gate.open(self.resumed, scene);
        if let Some(unfinished) = self.unfinished.take() {
            self.take_up(unfinished).await?;
        }
        loop {
            match self.next().await {
                LoopEvent::Mail(Some(mail)) => self.take_mail(mail).await?,
                LoopEvent::Mail(None) => return self.close().await,
                LoopEvent::TimeUp => self.on(Input::TimeUp).await?,
                LoopEvent::Delta(delta) => self.take_deltas(delta).await?,
                LoopEvent::Progress(progress) => self.take_progress(progress).await?,
                LoopEvent::Passed(passed) => self.take_passed(passed).await?,
                LoopEvent::Note(note) => self.take_note(note).await?,
                LoopEvent::AskedByCall => self.take_asked().await?,
                LoopEvent::LiveOutput => {
                    for chunk in self.scheduler.live().take() {
                        self.reports.emit(EventBody::ToolOutputChunk(chunk)).await?;
                    }
                }
            }
            self.count_wait();
            self.tell_of_failures();
        }
    }

    /// Whether the person is waited for: by the work as a whole, or by every call that runs.
    fn count_wait(&mut self) {
        let asking = self.questions.running_calls();
        let all_ask = asking > 0 && asking >= self.scheduler.counts().running;
        let is_asked = self.machine.state().shown() == AgentState::AwaitingApproval;
        self.accounts.wait_for_person(is_asked || all_ask);
    }

    /// Tells the gate of what failed.
    fn tell_of_failures(&mut self) {
        for failure in self.reports.take_failures() {
            let scene = self.scene();
            self.gate.tell_of_failure(failure, &scene);
        }
    }

    /// People first: a flood of deltas or output can't keep them waiting.
    async fn next(&mut self) -> LoopEvent {
        let is_shown_streaming = self.machine.state().shown() == AgentState::Streaming;
        let time_left = self.accounts.time_left().filter(|_| is_shown_streaming);
        let Self { mailbox, model, scheduler, gate, room, .. } = self;
        let working = scheduler.has_work();
        let at_gate = gate.has_work();
        let (live, asking) = (Arc::clone(scheduler.live()), Arc::clone(scheduler.asking()));
        tokio::select! {
            biased;
            mail = mailbox.recv() => LoopEvent::Mail(mail),
            () = tokio::time::sleep(time_left.unwrap_or_default()), if time_left.is_some() => LoopEvent::TimeUp,
            delta = model.next() => LoopEvent::Delta(delta),
            note = room.next() => LoopEvent::Note(note),
            progress = scheduler.progress(), if working => LoopEvent::Progress(progress),
            passed = gate.next(), if at_gate => LoopEvent::Passed(passed),
            () = asking.asked(), if working => LoopEvent::AskedByCall,
            () = live.collected(), if working => LoopEvent::LiveOutput,
        }
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        if self.hands_over {
            self.leave_as_it_is().await?;
        } else {
            self.on(Input::Cancel).await?;
        }
        self.leave_gate().await?;
        self.workspace.settled().await;
        self.tell_of_failures();
        for decision in self.gate.hear_told().await {
            self.reports.hook_runs(decision).await?;
        }
        let scene = self.scene();
        let decision = self.gate.close(scene).await;
        self.reports.hook_runs(decision).await.map(drop)
    }

    /// Drops what is under way without a word of how it ended: whoever goes on with the log knows what to do about it.
    async fn leave_as_it_is(&mut self) -> Result<(), SinkError> {
        if let Some(streaming) = self.model.stop() {
            self.answering().keep_partial(streaming).await?;
        }
        self.room.drop_compaction();
        drop(self.scheduler.stop().await);
        Ok(())
    }

    /// Goes on with work that another process handed over.
    async fn take_up(&mut self, Unfinished { turn, results }: Unfinished) -> Result<(), SinkError> {
        let has_calls = self.conversation.take_up(results);
        if !has_calls {
            let breaks_off = |message: &Message| message.role == Role::Assistant && message.tool_calls().count() == 0;
            if self.conversation.history.last().is_some_and(breaks_off) {
                self.admit_neco(BROKEN_OFF).await?;
            }
            return self.begin().await;
        }
        self.reports.go_on_in(turn);
        self.skilling().recall().await?;
        self.start_over();
        self.check_budget();
        self.on(Input::TakeUp).await
    }

    /// Whether nothing would be cut short if another process went on with it now.
    pub(super) fn is_at_boundary(&self) -> bool {
        match self.machine.state() {
            State::Held | State::AskingPerson => true,
            State::AwaitingApproval => self.scheduler.is_waiting(),
            State::Idle | State::Complete | State::Failed | State::Cancelled => true,
            State::AtGate
            | State::Compacting
            | State::Streaming
            | State::EndAtGate
            | State::ToolPending
            | State::ToolExecuting => false,
        }
    }

    /// Tells the machine what happened and does what it wants.
    pub(super) async fn on(&mut self, input: Input) -> Result<(), SinkError> {
        let mut effects: VecDeque<Effect> = self.machine.on(input).into();
        while let Some(effect) = effects.pop_front() {
            let happened = match effect {
                Effect::Change(change) => self.changed(change).await.map(|()| None),
                Effect::TakeInSaid { stamp } => self.take_in_said(stamp).await,
                Effect::BeginTurn { stamp, iteration } => self.begin_turn(stamp, iteration).await,
                Effect::AskModel { stamp } => self.ask_model(stamp).await,
                Effect::RunCalls { stamp } => self.run_calls(stamp).await.map(Some),
                Effect::EndTurn { iteration } => self.end_turn(iteration).await.map(|()| None),
                Effect::Nudge(nudge) => self.admit_neco(nudge_text(nudge)).await.map(|()| None),
                Effect::TellBrokenOff => self.admit_neco(BROKEN_OFF).await.map(|()| None),
                Effect::StopWork => self.stop_work().await.map(|()| None),
                Effect::NoAnswer { times } => self.reports.no_answer(self.model.label(), times).await.map(|()| None),
                Effect::NoEnd => self.reports.no_end(self.model.label()).await.map(|()| None),
                Effect::Finish { reason, code } => self.finish(reason, code).await,
            }?;
            effects.extend(happened.into_iter().flat_map(|input| self.machine.on(input)));
        }
        Ok(())
    }

    /// Begins to work on what was admitted.
    pub(super) async fn begin(&mut self) -> Result<(), SinkError> {
        self.skilling().recall().await?;
        self.start_over();
        self.check_budget();
        self.on(Input::Begin).await
    }

    /// Tells the machine when the session has used what it may use.
    pub(super) fn check_budget(&mut self) {
        if self.accounts.reached().is_some() {
            // It only takes note of that.
            let _ = self.machine.on(Input::BudgetUsedUp);
        }
    }

    pub(super) fn start_over(&mut self) {
        self.accounts.start_over();
        self.model.start_over();
        self.gate.start_over();
    }

    async fn changed(&mut self, change: StateChange) -> Result<(), SinkError> {
        self.accounts.wait_for_person(change.to == AgentState::AwaitingApproval);
        self.reports.emit(EventBody::StateChange(change)).await
    }

    /// Takes in what was said meanwhile, or takes it to the gate.
    async fn take_in_said(&mut self, stamp: Stamp) -> Result<Option<Input>, SinkError> {
        if !std::mem::take(&mut self.renewed) {
            self.renew().await?;
        }
        self.admit_letters().await?;
        let said = self.inbox.take_at_boundary();
        if self.gate.holds_messages() {
            let scene = self.scene();
            if self.gate.hold_question(stamp, said, &scene) {
                return Ok(None);
            }
        } else {
            for message in said {
                self.admit_said(message).await?;
            }
        }
        Ok(Some(Input::Passed { stamp, something: true }))
    }

    /// Asks the model with all that was said, as soon as there is room for the question.
    async fn begin_turn(&mut self, stamp: Stamp, iteration: u32) -> Result<Option<Input>, SinkError> {
        let tools = self.scheduler.registry();
        if let Some(reason) = self.watched.hear(&mut self.conversation, tools, &self.terms, &self.reports).await? {
            return self.stop_loop(stamp, reason).await.map(Some);
        }
        self.name_turn(iteration).await?;
        self.fit_to_window().await?;
        self.room.begin_turn();
        let (room, mut talk) = self.talk();
        let making = room.make(&mut talk).await?;
        self.after_making(stamp, making).await
    }

    /// A turn begins, with the tools and terms that hold now.
    pub(super) async fn name_turn(&mut self, iteration: u32) -> Result<(), SinkError> {
        self.reports.begin_turn(iteration, self.model.label()).await?;
        self.terms.begin_turn();
        if let Some(registry) = self.tools.begin_turn() {
            self.context.forget();
            self.scheduler.set_registry(registry);
        }
        Ok(())
    }

    /// Takes the highest level whose prompt and tools leave room to work in the model's window, and says so where that is
    /// another one than before.
    pub(super) async fn fit_to_window(&mut self) -> Result<(), SinkError> {
        self.model.provider.ready().await;
        let told = self.briefing().fit_level();
        // The person is told of the agent they talk to; those that work for it tell nothing new.
        match told.filter(|_| *self.terms.role == *Who::ROOT) {
            Some(told) => self.reports.notify(told).await,
            None => Ok(()),
        }
    }

    /// The model repeats itself: the person decides what comes of it, if one is there.
    async fn stop_loop(&mut self, stamp: Stamp, reason: String) -> Result<Input, SinkError> {
        if !self.terms.settings.person_present {
            self.reports.looped(&reason).await?;
            return Ok(Input::Blocked { stamp, end: End::LOOP });
        }
        self.questions.pose(Asker::Turn(stamp), Subject::Loop { text: reason }, &self.reports).await?;
        Ok(Input::Waits { stamp })
    }

    /// What comes of a turn that wanted room.
    async fn after_making(&mut self, stamp: Stamp, making: Making) -> Result<Option<Input>, SinkError> {
        match making {
            Making::Compacting => Ok(Some(Input::Compacts { stamp })),
            Making::Made if self.accounts.reached().is_some() => Ok(Some(Input::Blocked { stamp, end: End::BUDGET })),
            Making::Made | Making::Ready => self.ask_model(stamp).await,
            Making::NoRoom(words) => self.no_room(stamp, words).await.map(Some),
        }
    }

    async fn ask_model(&mut self, stamp: Stamp) -> Result<Option<Input>, SinkError> {
        let (room, mut talk) = self.talk();
        if let Some(words) = room.fit(&mut talk).await? {
            return self.no_room(stamp, words).await.map(Some);
        }
        talk.model.ask(stamp, &talk.assembled, &talk.conversation.history);
        Ok(None)
    }

    async fn no_room(&mut self, stamp: Stamp, message: String) -> Result<Input, SinkError> {
        let code = ErrorCode::ContextTooLong;
        self.reports.error(code, message).await?;
        Ok(Input::ProviderFailed { stamp, code })
    }

    /// What the next question would be made of, and what makes room for it.
    pub(super) fn talk(&mut self) -> (&mut Room, Talk<'_>) {
        let (assembled, scene) = (self.assembled(), self.scene());
        let space = self.room.space(&self.model);
        let standing = [self.planning.book.text(), self.skills.standing(space.window())];
        let standing: Vec<String> = standing.into_iter().flatten().collect();
        let standing = (!standing.is_empty()).then(|| standing.join("\n\n"));
        let talk = Talk {
            assembled,
            space,
            standing,
            prompts: self.context.prompts(),
            model: &mut self.model,
            conversation: &mut self.conversation,
            reports: &self.reports,
            gate: &mut self.gate,
            scene,
        };
        (&mut self.room, talk)
    }

    /// What the model is told, and what that is made of.
    pub(super) fn briefing(&mut self) -> Briefing<'_> {
        let Self { context, tools, scheduler, room, model, terms, conversation, .. } = self;
        Briefing { context, tools, scheduler, room, model, terms, conversation }
    }

    /// What skills have to do with.
    pub(super) fn skilling(&mut self) -> Skilling<'_> {
        let Self { skills, scheduler, gate, model, conversation, reports, .. } = self;
        Skilling { skills, scheduler, gate, model, conversation, reports }
    }

    pub(super) fn assembled(&mut self) -> Arc<Assembled> {
        self.briefing().assembled()
    }

    /// Takes in a piece of a summary.
    async fn take_note(&mut self, note: Option<Result<Delta, ModelError>>) -> Result<(), SinkError> {
        let Some(written) = self.room.take_note(note, &self.reports).await? else { return Ok(()) };
        let answer = &written.0.answer;
        if let Some(usage) = answer.usage {
            let used = self.accounts.spend(&*self.model.provider, &answer.model, usage);
            self.reports.emit(EventBody::Usage(used)).await?;
            self.check_budget();
        }
        let (room, mut talk) = self.talk();
        let making = room.finish(written, &mut talk).await?;
        if self.machine.state() != State::Compacting {
            return Ok(());
        }
        let stamp = self.machine.stamp();
        let input = match making {
            // What the summary cost may have been the last of it.
            _ if self.accounts.reached().is_some() => Input::Blocked { stamp, end: End::BUDGET },
            Making::NoRoom(words) => self.no_room(stamp, words).await?,
            Making::Ready | Making::Compacting | Making::Made => Input::Compacted { stamp },
        };
        self.on(input).await
    }

    /// What the model's answer goes through.
    fn answering(&mut self) -> Answering<'_> {
        let Self { model, scheduler, room, accounts, conversation, reports, .. } = self;
        let counting = Counting { registry: scheduler.registry(), meter: &mut room.meter, accounts };
        Answering { model, counting, conversation, reports }
    }

    /// Takes a piece of the answer and everything that is there already behind it.
    async fn take_deltas(&mut self, first: Option<Result<Delta, ModelError>>) -> Result<(), SinkError> {
        match self.answering().take(first).await? {
            Ending::NotYet => Ok(()),
            Ending::Whole(streaming, reason) => self.answered(streaming, reason).await,
            Ending::Broken(streaming, error) => self.provider_failed(streaming, error).await,
        }
    }

    async fn answered(&mut self, streaming: Streaming, reason: FinishReason) -> Result<(), SinkError> {
        let asked = streaming.is_uncounted(reason).then(|| {
            let said = tokens_of_all(&self.conversation.history, self.model.family());
            self.assembled().tokens().saturating_add(said)
        });
        let (stamp, kind) = self.answering().finish(streaming, reason, asked).await?;
        self.check_budget();
        let input = if kind == AnswerKind::Text { self.at_end(stamp).await? } else { Input::Answered { stamp, kind } };
        self.on(input).await
    }

    /// The model wants to be done: guards and the gate may object.
    async fn at_end(&mut self, stamp: Stamp) -> Result<Input, SinkError> {
        let (book, history) = (&self.planning.book, &self.conversation.history);
        match self.watched.objection(book, history, self.scheduler.registry(), &self.terms) {
            Some(Objection::Hold { text, notice }) => {
                self.admit_neco(&text).await?;
                self.reports.inform(notice).await?;
                return Ok(Input::Answered { stamp, kind: AnswerKind::Held });
            }
            Some(Objection::Stop(reason)) => {
                self.reports.looped(&reason).await?;
                return Ok(Input::Blocked { stamp, end: End::LOOP });
            }
            Some(Objection::Note(notice)) => self.reports.inform(notice).await?,
            None => {}
        }
        let scene = self.scene();
        let is_held = self.gate.hold_end(stamp, &self.model.final_text, &scene);
        Ok(if is_held { Input::EndAtGate { stamp } } else { Input::Answered { stamp, kind: AnswerKind::Text } })
    }

    async fn provider_failed(&mut self, streaming: Streaming, error: ModelError) -> Result<(), SinkError> {
        let stamp = self.answering().keep_partial(streaming).await?;
        let code = error.code();
        if code == ErrorCode::ContextTooLong && self.room.refuse() {
            // The question was too long: the model is asked once more, about less.
            let input = if self.accounts.reached().is_some() {
                Some(Input::Blocked { stamp, end: End::BUDGET })
            } else {
                let (room, mut talk) = self.talk();
                let refusal = Some(error.to_string());
                let making = room.compact(CompactionCause::TooLong, Asked::default(), refusal, &mut talk).await?;
                self.after_making(stamp, making).await?
            };
            let Some(input) = input else { return Ok(()) };
            return self.on(input).await;
        }
        let event = ErrorEvent { code, message: error.to_string(), retryable: error.retryable() };
        self.reports.emit(EventBody::Error(event)).await?;
        self.on(Input::ProviderFailed { stamp, code }).await
    }

    async fn run_calls(&mut self, stamp: Stamp) -> Result<Input, SinkError> {
        self.calls_of = stamp;
        let cut_off = self.model.cut_off.take();
        self.scheduler.set_scene(self.hook_context());
        let catalogue = self.assembled().catalogue.clone();
        self.scheduler.set_catalogue(catalogue);
        if self.workspace.0.is_some() {
            self.scheduler.set_asked(&self.conversation.asked());
        }
        let records = self.scheduler.begin(&self.conversation.calls(), cut_off.as_ref());
        self.record(records).await?;
        Ok(self.calls_input())
    }

    async fn take_progress(&mut self, mut progress: Progress) -> Result<(), SinkError> {
        self.fulfil(&mut progress).await?;
        let records = self.scheduler.absorb(progress, &self.terms.who());
        self.record(records).await?;
        self.questions.withdraw_unwanted(&self.reports).await?;
        if self.scheduler.take_stop().is_some() {
            // Calls that waited for an answer have ended with it.
            self.questions.withdraw(&self.reports).await?;
            self.on(Input::Halt(End::STOPPED)).await?;
        }
        self.calls_moved().await
    }

    /// Records what the scheduler did and starts what it announced.
    pub(super) async fn record(&mut self, records: Vec<Record>) -> Result<(), SinkError> {
        for record in records {
            match record {
                Record::Emit(body) => {
                    self.conversation.pieces.hear(&body);
                    self.reports.emit(body).await?;
                }
                Record::Commit(body) => {
                    self.conversation.pieces.hear(&body);
                    if let EventBody::PermissionRequest(request) = &body {
                        let scene = self.scene();
                        self.gate.tell_of_waiting(request, &scene);
                    }
                    self.reports.commit(body).await?;
                }
                Record::Keep(grant) => self.rules.keep(&grant, self.scheduler.policy_mut(), &self.reports).await?,
            }
        }
        self.scheduler.launch();
        Ok(())
    }

    pub(super) async fn calls_moved(&mut self) -> Result<(), SinkError> {
        self.check_budget();
        let input = self.calls_input();
        self.on(input).await
    }

    fn calls_input(&self) -> Input {
        let counts = self.scheduler.counts();
        Input::CallsMoved { stamp: self.calls_of, waiting: counts.waiting, running: counts.running, open: counts.open }
    }

    /// The results enter the conversation; with the end of the turn they are on the disk.
    async fn end_turn(&mut self, iteration: u32) -> Result<(), SinkError> {
        self.keep_after();
        self.conversation.keep_results(self.scheduler.take_results());
        self.conversation.admit_pictures(&self.reports).await?;
        self.tell_folder_rules().await?;
        self.reports.commit(EventBody::TurnEnd(TurnEnd { iteration })).await
    }

    /// What the turn changed is kept beside the next question to the model.
    fn keep_after(&mut self) {
        if self.scheduler.take_kept() {
            self.workspace.after(self.reports.turn());
        }
    }

    /// Rules files of folders that the turn touched for the first time enter the conversation.
    async fn tell_folder_rules(&mut self) -> Result<(), SinkError> {
        // As much as the rules of the workspace may take.
        let room = self.room.space(&self.model).rooms().of(Layer::Rules);
        let paths = self.scheduler.take_touched();
        self.conversation.tell_folder_rules(paths, room, &self.reports).await
    }

    async fn stop_work(&mut self) -> Result<(), SinkError> {
        if let Some(streaming) = self.model.stop() {
            self.answering().keep_partial(streaming).await?;
        }
        if self.room.drop_compaction() {
            self.reports.not_compacted("the work was stopped").await?;
        }
        self.questions.withdraw(&self.reports).await?;
        self.leave_gate().await?;
        let records = self.scheduler.stop().await;
        self.keep_after();
        self.record(records).await?;
        self.conversation.keep_results(self.scheduler.take_results());
        self.conversation.admit_pictures(&self.reports).await
    }

    async fn finish(&mut self, reason: CompleteReason, code: Option<ErrorCode>) -> Result<Option<Input>, SinkError> {
        if reason == CompleteReason::Natural {
            self.reports.commit_all(self.planning.book.end_work()).await?;
        }
        self.workspace.settle(reason).await;
        let budget = self.accounts.reached();
        let (usage, session_usage) = (self.accounts.usage, self.accounts.session_usage);
        let (duration, waited) = self.accounts.close();
        let complete = AgentComplete {
            reason,
            error_code: code,
            final_text: self.model.final_text.clone(),
            turns: self.machine.iteration(),
            usage,
            session_usage,
            duration_ms: millis(duration),
            waited_ms: millis(waited),
            budget,
            by: self.stopped_by.take(),
        };
        self.reports.commit(EventBody::AgentComplete(complete)).await?;
        self.reports.leave_turn();
        match reason {
            CompleteReason::Natural => self.skilling().end(),
            _ => self.skilling().stop(),
        }
        self.scheduler.policy_mut().take_back();
        self.inbox.wakeable = matches!(reason, CompleteReason::Natural | CompleteReason::IterationLimit);
        // Whoever stopped the work, or has no model, does not want it to start again by itself.
        if !self.inbox.wakeable {
            if self.room.drop_compaction() {
                self.reports.not_compacted(&format!("the work ended ({reason})")).await?;
            }
            return Ok(None);
        }
        if self.admit_queued().await? {
            self.start_over();
            return Ok(Some(Input::Begin));
        }
        self.compact_at_last().await.map(|()| None)
    }

    /// What the person asked to be compacted while the agent worked, when it has nothing more to do.
    async fn compact_at_last(&mut self) -> Result<(), SinkError> {
        let Some(asked) = self.room.take_asked() else { return Ok(()) };
        if self.accounts.reached().is_some() {
            return self.reports.not_compacted("the budget is used up").await;
        }
        let (room, mut talk) = self.talk();
        room.compact(CompactionCause::Asked, asked, None, &mut talk).await.map(drop)
    }

    /// How the agent works now.
    fn hook_context(&self) -> HookContext {
        let settings = self.terms.settings;
        HookContext {
            mode: settings.mode,
            approval: settings.approval,
            person_present: settings.person_present,
            model: self.model.label().to_owned(),
            turn: self.reports.turn(),
            agent: None,
        }
    }

    pub(super) fn scene(&self) -> GateScene {
        GateScene { context: self.hook_context(), redactor: self.scheduler.redactor() }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
