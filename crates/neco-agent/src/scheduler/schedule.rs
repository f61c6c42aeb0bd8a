//! The scheduler: moves the calls of a turn from state to state.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::{CallStatus, HookEvent};
use neco_proto::{CallId, ErrorCode, EventBody, ToolCall, ToolResult};
use neco_safety::tools::{Effects, effects};
use neco_safety::{Policy, Ruling, SideEffect, Who, World};
use neco_toolkit::{AskModel, Plan, PreparedCall, Registry, Spill, ToolContext, ToolError};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::acting::told_of;
use super::approve::{self, CallError, Offer};
use super::asking::Asking;
use super::call::{Call, Outcome, Phase};
use super::execute::{self, Again};
use super::gated::{Question, ended_by_hook, is_persons_word, may_be_answered, must_be_asked, rule};
use super::kept::{Keeping, execute_kept};
use super::live::Live;
use super::order::may_begin;
use super::progress::{Counts, Progress, Record, Work};
use super::validate::{CutOff, unless_absent, validate, with_schema};
use crate::catalogue::ToolCatalogue;
use crate::gate::{Gate, HookContext, OpenGate};
use crate::ports::{Clock, RuleBook};

/// Limits of calls.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most reads at the same time.
    pub parallel_reads: usize,
    /// How long a call may take that does not say itself.
    pub timeout: Duration,
    /// Bytes of one result that the model gets.
    pub max_output: usize,
    /// How long a person has to answer a question about a call.
    pub approval: Option<Duration>,
}

/// The life of every tool call of one agent.
pub struct Scheduler {
    pub(super) registry: Registry,
    /// Those of them that the model was told of in a line only.
    catalogue: ToolCatalogue,
    pub(super) policy: Policy,
    rule_book: Option<Arc<dyn RuleBook>>,
    world: Arc<dyn World>,
    pub(super) spill: Arc<dyn Spill>,
    clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    live: Arc<Live>,
    asking: Arc<Asking>,
    model: Arc<dyn AskModel>,
    pub(super) gate: Arc<dyn Gate>,
    /// How the agent works in the present turn; nobody at the gate is asked without it.
    pub(super) scene: Option<HookContext>,
    /// Why the gate wants the work to end: no call of the turn begins any more.
    pub(super) stop: Option<String>,
    /// Whether that was said.
    pub(super) stop_is_told: bool,
    pub(super) calls: Vec<Call>,
    /// Tasks of their own: neither a slow disk nor a panic of one tool holds up the agent or another tool.
    work: JoinSet<Work>,
    indexes: HashMap<Id, usize>,
    pub(super) cancel: CancellationToken,
    /// The workspace as it was before this turn.
    pub(super) keeping: Keeping,
    /// The files and folders that calls touched which ran.
    pub(super) touched: BTreeSet<PathBuf>,
}

impl Scheduler {
    /// A scheduler with no calls.
    pub fn new(
        registry: Registry,
        world: Arc<dyn World>,
        spill: Arc<dyn Spill>,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> Self {
        Self {
            registry,
            catalogue: ToolCatalogue::default(),
            policy: Policy::default(),
            rule_book: None,
            world,
            live: Arc::new(Live::new(spill.redactor())),
            asking: Arc::default(),
            model: Arc::new(()),
            spill,
            clock,
            limits,
            gate: Arc::new(OpenGate),
            scene: None,
            stop: None,
            stop_is_told: false,
            calls: Vec::new(),
            work: JoinSet::new(),
            indexes: HashMap::new(),
            cancel: CancellationToken::new(),
            keeping: Keeping::default(),
            touched: BTreeSet::new(),
        }
    }

    /// Judges by these rules, and keeps in the book what a person allows for good.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy, rule_book: Option<Arc<dyn RuleBook>>) -> Self {
        self.policy = policy;
        self.rule_book = rule_book;
        self
    }

    /// Running calls may ask this model.
    #[must_use]
    pub fn with_model(mut self, model: Arc<dyn AskModel>) -> Self {
        self.model = model;
        self
    }

    /// From now on calls are judged, held up and run by these; a call that runs goes on with what it has.
    pub(crate) fn renew(&mut self, policy: Policy, world: Arc<dyn World>, gate: Arc<dyn Gate>, limits: Limits) {
        (self.policy, self.world, self.gate, self.limits) = (policy, world, gate, limits);
    }

    /// The rules in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The same, to be changed.
    pub(crate) fn policy_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// The tools that exist.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The model was told of these tools in a line only.
    pub fn set_catalogue(&mut self, catalogue: ToolCatalogue) {
        self.catalogue = catalogue;
    }

    /// What running tools print.
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// What running tools ask the person.
    pub fn asking(&self) -> &Arc<Asking> {
        &self.asking
    }

    /// Takes the calls of a turn and checks them. `cut_off` are those that are not whole.
    pub fn begin(&mut self, asked: &[ToolCall], cut_off: Option<&CutOff>) -> Vec<Record> {
        self.cancel = CancellationToken::new();
        self.forget_stop();
        self.keeping.start_over();
        self.calls.clear();
        self.live.begin_turn();
        // What was pulled out since the model was told of it can't be called.
        self.registry.refresh();
        let mut records = Vec::new();
        for asked in asked {
            let (mut call, failed) = validate(&self.registry, asked, cut_off);
            let mode = self.scene.as_ref().map(|scene| scene.mode);
            let failed = failed.map(|outcome| unless_absent(&self.registry, mode, &call.tool, outcome));
            let failed = failed.map(|outcome| with_schema(&self.catalogue, &call.tool, outcome));
            call.redactor = self.spill.redactor();
            records.push(Record::Emit(call.update(CallStatus::Validating)));
            match failed {
                Some(outcome) => records.push(Record::Emit(call.finish(outcome))),
                None => records.push(Record::Emit(call.update(CallStatus::Scheduled))),
            }
            self.calls.push(call);
        }
        self.plan_next();
        records
    }

    /// The results, in the model's order. Ask when no call is open; the turn's calls are then forgotten.
    pub fn take_results(&mut self) -> Vec<ToolResult> {
        self.calls.drain(..).filter_map(|call| call.result()).collect()
    }

    /// Whether something of the calls will come to an end by itself: work that is under way, or the time to answer.
    pub fn has_work(&self) -> bool {
        !self.work.is_empty() || self.first_to_expire().is_some()
    }

    /// The next thing that comes to an end. Waits for ever when nothing is under way.
    pub async fn progress(&mut self) -> Progress {
        let expiring = self.first_to_expire();
        let expired = async {
            match expiring {
                Some((index, until)) => {
                    tokio::time::sleep_until(until).await;
                    index
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(ended) = self.work.join_next_with_id() => self.progress_of(ended),
            index = expired => Progress(Work::Unanswered { index }),
        }
    }

    fn progress_of(&mut self, ended: Result<(Id, Work), JoinError>) -> Progress {
        match ended {
            Ok((id, work)) => {
                self.indexes.remove(&id);
                Progress(work)
            }
            Err(error) => {
                let index = self.indexes.remove(&error.id()).unwrap_or(usize::MAX);
                Progress(Work::Crashed { index })
            }
        }
    }

    pub(super) fn spawn(&mut self, index: usize, work: impl Future<Output = Work> + Send + 'static) {
        let id = self.work.spawn(work).id();
        self.indexes.insert(id, index);
    }

    /// Takes in what came to an end. Record what it returns, then call [`Scheduler::launch`].
    pub fn absorb(&mut self, Progress(work): Progress, who: &Who<'_>) -> Vec<Record> {
        let records = match work {
            Work::Planned { index, prepared, plan } => match &self.stop {
                Some(reason) => self.finish(index, ended_by_hook(reason)),
                None => self.judge(index, prepared, plan, who),
            },
            Work::Gated { index, prepared, approved, word } => self.gated(index, prepared, approved, word),
            Work::Ahead { index, question, behind } => self.looked_ahead(index, *question, &behind, who),
            Work::Asked { index, question, word } => self.answered(index, *question, word),
            Work::Ran { index, outcome } if outcome.waits => self.wait_for_answer(index, outcome),
            Work::Ran { index, outcome } => self.ran(index, outcome),
            Work::Finished { index, word } => self.finished(index, word),
            Work::Unanswered { index } => self.unanswered(index),
            Work::Crashed { index } => self.crashed(index),
        };
        let ended = self.end_unstarted();
        self.plan_next();
        [records, ended].concat()
    }

    /// Lets what a call runs go on in the background.
    /// Fails when that call does not run or can't go there.
    pub fn background(&self, call_id: &CallId) -> Result<(), CallError> {
        let runs = |call: &&Call| matches!(call.phase, Phase::Executing { .. });
        let found = self.calls.iter().filter(runs).find(|call| call.id == *call_id);
        let call = found.ok_or(CallError::NothingRuns)?;
        call.background.send().map_err(|why| CallError::StaysHere { tool: call.tool.clone(), why })
    }

    /// Starts the calls whose marks are recorded.
    pub fn launch(&mut self) {
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get_mut(index) else { continue };
            let Phase::Cleared(prepared) = &call.phase else { continue };
            let touch = prepared.touch();
            let after = [HookEvent::PostToolUse, HookEvent::PostToolUseFailure];
            let attended = after.iter().any(|event| self.gate.attends(*event, Some(&call.tool)));
            let arguments = attended.then(|| prepared.arguments().clone());
            // What waits for agents or for a person changes nothing either, but is no reading.
            let reads = touch == SideEffect::Network || effects(&call.tool).overlap(Effects::READS);
            let tool = self.registry.find(&call.tool).ok().filter(|_| reads && touch.changes_nothing());
            let again = tool.map(|tool| Again { tool: Arc::clone(tool), arguments: prepared.arguments().clone() });
            let runs = Phase::Executing { touch, arguments };
            let Phase::Cleared(prepared) = std::mem::replace(&mut call.phase, runs) else {
                continue;
            };
            call.notes.extend(call.changed.take());
            let ctx = self.context(index);
            let limit = prepared.timeout().unwrap_or(self.limits.timeout);
            let clock = Arc::clone(&self.clock);
            let before = self.keeping.take_before();
            let run = execute_kept(before, prepared, again, ctx, limit, clock);
            self.spawn(index, async move { Work::Ran { index, outcome: run.await } });
        }
    }

    /// Stops everything: what runs is told to stop and, after a moment, dropped, which kills its
    /// processes. Finished results are kept; every other call gets a cancelled one.
    pub async fn stop(&mut self) -> Vec<Record> {
        self.cancel.cancel();
        let mut records = Vec::new();
        let deadline = tokio::time::sleep(execute::GRACE);
        tokio::pin!(deadline);
        while !self.work.is_empty() {
            tokio::select! {
                Some(ended) = self.work.join_next_with_id() => {
                    let Progress(work) = self.progress_of(ended);
                    records.extend(self.stopped(work));
                }
                () = &mut deadline => break,
            }
        }
        // Ready when every task is dropped, and with it what it ran.
        self.work.shutdown().await;
        self.indexes.clear();
        self.calls.iter().for_each(|call| self.live.end(&call.id));
        records.extend(self.last_words());
        for call in &mut self.calls {
            let outcome = match &call.phase {
                Phase::Done(_) => continue,
                Phase::Finishing { outcome, .. } => outcome.as_ref().clone(),
                phase => Outcome::cancelled(matches!(phase, Phase::Executing { .. })),
            };
            records.push(Record::Emit(call.finish(outcome)));
        }
        // Whoever stopped the work has ended it; what a hook wanted besides is void.
        self.forget_stop();
        records
    }

    /// What had come to its end just before it was stopped is what it is; what was cut short is cancelled.
    fn stopped(&mut self, work: Work) -> Vec<Record> {
        match work {
            // What it wanted of the agent is not done any more, so it is no success.
            Work::Ran { index, outcome } if !outcome.intents.is_empty() => {
                self.finish(index, Outcome::cancelled(false))
            }
            Work::Ran { index, outcome } if outcome.status == CallStatus::Success => self.finish(index, outcome),
            Work::Ran { index, outcome } => {
                self.finish(index, Outcome { status: CallStatus::Cancelled, error_code: None, ..outcome })
            }
            Work::Finished { index, word } => self.finished(index, word),
            Work::Gated { word, .. } | Work::Asked { word, .. } => {
                word.runs.into_iter().map(|run| Record::Emit(EventBody::HookRun(run))).collect()
            }
            Work::Crashed { index } => self.crashed(index),
            Work::Planned { .. } | Work::Ahead { .. } | Work::Unanswered { .. } => Vec::new(),
        }
    }

    /// What a call came to stands, even if whoever looked at it afterwards crashed.
    fn crashed(&mut self, index: usize) -> Vec<Record> {
        let outcome = match self.calls.get(index).map(|call| &call.phase) {
            Some(Phase::Finishing { outcome, .. }) => outcome.as_ref().clone(),
            Some(_) | None => Outcome::crashed(),
        };
        self.finish(index, outcome)
    }

    pub(super) fn plan_next(&mut self) {
        for index in may_begin(&self.calls, self.limits.parallel_reads) {
            let Some(call) = self.calls.get_mut(index) else { continue };
            let looked_at = Phase::Planning { touch: SideEffect::Reads, approved: false };
            match std::mem::replace(&mut call.phase, looked_at) {
                Phase::Scheduled { prepared, approved, gated } => {
                    let unseen = if gated { Some(prepared) } else { self.ask_gate(index, prepared, approved) };
                    if let Some(prepared) = unseen {
                        self.plan(index, prepared, approved);
                    }
                }
                other => call.phase = other,
            }
        }
    }

    fn plan(&mut self, index: usize, prepared: Box<dyn PreparedCall>, approved: bool) {
        let ctx = self.context(index);
        if let Some(call) = self.calls.get_mut(index) {
            call.phase = Phase::Planning { touch: prepared.touch(), approved };
        }
        let limit = self.limits.timeout;
        self.spawn(index, async move {
            let plan = tokio::time::timeout(limit, prepared.plan(&ctx)).await.unwrap_or_else(|_| {
                ctx.cancel.cancel();
                let words = format!("looking at what it would do took longer than {} s", limit.as_secs_f32());
                Err(ToolError::new(ErrorCode::ToolTimedOut, words))
            });
            Work::Planned { index, prepared, plan }
        });
    }

    /// The policy's word on a call whose effects are known.
    fn judge(
        &mut self,
        index: usize,
        prepared: Box<dyn PreparedCall>,
        plan: Result<Plan, ToolError>,
        who: &Who<'_>,
    ) -> Vec<Record> {
        let Some(call) = self.calls.get_mut(index) else { return Vec::new() };
        let Phase::Planning { approved, .. } = call.phase else { return Vec::new() };
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return self.was_not_planned(index, prepared.as_ref(), &error),
        };
        call.touches = plan.paths.iter().chain(&plan.folder).cloned().collect();
        let action = approve::action((&call.tool, &call.origin), prepared.as_ref(), &plan);
        let verdict = rule(&self.policy, call.ruling.as_ref(), &action, who);
        let verdict = match plan.must_ask.as_deref() {
            Some(why) => must_be_asked(verdict, why, who.person_present),
            None => verdict,
        };
        let answerable = plan.must_ask.is_none() && may_be_answered(&verdict, call.ruling.as_ref());
        match verdict.ruling {
            Ruling::Ask if !approved || !call.was_told(&verdict) => {
                let offer = Offer {
                    grant: self.policy.offer(&action, who).map(Box::new),
                    file: self.rule_book.as_ref().map(|book| book.file()),
                };
                let request = approve::request(call, prepared.as_ref(), &plan, &offer, verdict);
                let records = vec![
                    Record::Emit(call.update(CallStatus::AwaitingApproval)),
                    Record::Commit(EventBody::PermissionRequest(request)),
                ];
                let waits = Phase::AwaitingApproval { prepared, offer, until: None };
                self.ask(index, Question { waits, records, answerable, refusal: None })
            }
            Ruling::Allow | Ruling::Ask => {
                call.approved = verdict.ruling == Ruling::Ask || is_persons_word(&verdict);
                call.phase = Phase::Cleared(prepared);
                self.announce(index)
            }
            Ruling::Deny => {
                let error = ToolError::new(verdict.code, verdict.reason);
                if !verdict.unasked {
                    return self.finish(index, Outcome::error(&error, Duration::ZERO));
                }
                // A person would be asked, if one were there: the gate may answer in their place.
                let waits = Phase::Scheduled { prepared, approved, gated: true };
                self.question(index, Question { waits, records: Vec::new(), answerable, refusal: Some(error) })
            }
        }
    }

    /// The mark that a call is about to run: on the disk first if it does more than read.
    pub(super) fn announce(&mut self, index: usize) -> Vec<Record> {
        self.keep_before(index);
        let Some(call) = self.calls.get(index) else { return Vec::new() };
        let Phase::Cleared(prepared) = &call.phase else { return Vec::new() };
        let update = call.update(CallStatus::Executing);
        match prepared.touch() {
            SideEffect::Reads | SideEffect::Network => vec![Record::Emit(update)],
            SideEffect::Writes | SideEffect::Runs => vec![Record::Commit(update)],
        }
    }

    /// The last words of a call come before its end.
    pub(super) fn finish(&mut self, index: usize, outcome: Outcome) -> Vec<Record> {
        if let Some(call) = self.calls.get(index) {
            self.live.end(&call.id);
        }
        let mut records = self.last_words();
        let way_back = self.keeping.way_back();
        if let Some(call) = self.calls.get_mut(index) {
            let told = told_of(call, &outcome.acting, way_back.as_ref());
            records.push(Record::Emit(call.finish(outcome)));
            records.extend(told.into_iter().map(Record::Emit));
        }
        records
    }

    pub(super) fn last_words(&self) -> Vec<Record> {
        self.live.take().into_iter().map(|chunk| Record::Emit(EventBody::ToolOutputChunk(chunk))).collect()
    }

    pub(super) fn context(&self, index: usize) -> ToolContext {
        let call_id = self.calls.get(index).map_or_else(CallId::generate, |call| call.id.clone());
        let cancel = self.cancel.child_token();
        ToolContext {
            live: self.live.of(call_id.clone()),
            person: self.asking.of(call_id.clone()),
            model: Arc::clone(&self.model),
            world: self.world.for_call(&call_id, &cancel).unwrap_or_else(|| Arc::clone(&self.world)),
            call_id,
            cancel,
            background: self.calls.get(index).map(|call| call.background.clone()).unwrap_or_default(),
            spill: Arc::clone(&self.spill),
            max_output: self.limits.max_output,
            more_writes: self.more_writes(index),
            approved: self.calls.get(index).is_some_and(|call| call.approved),
        }
    }

    /// Whether nothing is under way: what has no result waits for a person, or behind what does.
    pub fn is_waiting(&self) -> bool {
        self.work.is_empty() && self.counts().waiting > 0
    }

    /// How the calls stand.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for call in &self.calls {
            match call.phase {
                Phase::AwaitingApproval { .. } | Phase::AwaitingAnswer { .. } => counts.waiting += 1,
                Phase::Cleared(_) | Phase::Executing { .. } | Phase::Finishing { .. } => counts.running += 1,
                Phase::Scheduled { .. } | Phase::AtGate { .. } | Phase::Planning { .. } => {}
                Phase::Done(_) => continue,
            }
            counts.open += 1;
        }
        counts
    }

    /// The files and folders that were touched since this was last asked.
    pub fn take_touched(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.touched)
    }

    /// Notes what a call touched that has run.
    pub(super) fn note_touched(&mut self, index: usize, outcome: &Outcome) {
        if let Some(call) = self.calls.get_mut(index) {
            self.touched.extend(call.touches.drain(..).chain(outcome.touched.iter().cloned()));
        }
    }
}
