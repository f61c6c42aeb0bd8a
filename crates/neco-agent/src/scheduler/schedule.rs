//! The scheduler: moves the calls of a turn from state to state.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use neco_proto::event::CallStatus;
use neco_proto::{CallId, Decision, EventBody, ToolCall, ToolResult};
use neco_safety::{Grant, Policy, Ruling, Touch, Who, World};
use neco_toolkit::{Plan, PreparedCall, Registry, Spill, ToolContext, ToolError};
use tokio_util::sync::CancellationToken;

use super::approve;
use super::call::{Call, Outcome, Phase};
use super::execute::{self, execute};
use super::live::Live;
use super::order::may_begin;
use super::validate::validate;
use crate::ports::Clock;

/// Limits of calls.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most reads at the same time.
    pub parallel_reads: usize,
    /// How long a call may take that does not say itself.
    pub timeout: Duration,
    /// Bytes of one result that the model gets.
    pub max_output: usize,
}

/// An event to be recorded before the scheduler goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// May reach the disk a little later.
    Emit(EventBody),
    /// Must be on the disk first.
    Commit(EventBody),
}

/// How the calls of the turn stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Wait for a person.
    pub waiting: usize,
    /// Run.
    pub running: usize,
    /// Have no result yet.
    pub open: usize,
}

/// What a call's work came to. Opaque: hand it to [`Scheduler::absorb`].
pub struct Progress(Work);

enum Work {
    Planned { index: usize, prepared: Box<dyn PreparedCall>, plan: Result<Plan, ToolError> },
    Ran { index: usize, outcome: Outcome },
}

/// The life of every tool call of one agent.
pub struct Scheduler {
    registry: Registry,
    policy: Policy,
    world: Arc<World>,
    spill: Arc<dyn Spill>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    live: Arc<Live>,
    calls: Vec<Call>,
    work: FuturesUnordered<BoxFuture<'static, Progress>>,
    cancel: CancellationToken,
}

impl Scheduler {
    /// A scheduler with no calls.
    #[must_use]
    pub fn new(
        registry: Registry,
        world: Arc<World>,
        spill: Arc<dyn Spill>,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> Self {
        Self {
            registry,
            policy: Policy::default(),
            world,
            spill,
            clock,
            limits,
            live: Arc::default(),
            calls: Vec::new(),
            work: FuturesUnordered::new(),
            cancel: CancellationToken::new(),
        }
    }

    /// The tools that exist.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What running tools print.
    #[must_use]
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Takes the calls of a turn and checks them.
    pub fn begin(&mut self, asked: &[ToolCall]) -> Vec<Record> {
        self.cancel = CancellationToken::new();
        self.calls.clear();
        let mut records = Vec::new();
        for asked in asked {
            let (mut call, failed) = validate(&self.registry, asked);
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

    /// How the calls stand.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for call in &self.calls {
            match call.phase {
                Phase::AwaitingApproval { .. } => counts.waiting += 1,
                Phase::Cleared(_) | Phase::Executing { .. } => counts.running += 1,
                Phase::Scheduled(_) | Phase::Planning { .. } => {}
                Phase::Done(_) => continue,
            }
            counts.open += 1;
        }
        counts
    }

    /// The results, in the model's order. Ask when no call is open; the turn's calls are then forgotten.
    #[must_use]
    pub fn take_results(&mut self) -> Vec<ToolResult> {
        self.calls.drain(..).filter_map(|call| call.result()).collect()
    }

    /// Whether some call's work is under way.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The next thing that comes to an end. Waits for ever when nothing is under way.
    pub async fn progress(&mut self) -> Progress {
        match self.work.next().await {
            Some(progress) => progress,
            None => futures::future::pending().await,
        }
    }

    /// Takes in what came to an end. Record what it returns, then call [`Scheduler::launch`].
    pub fn absorb(&mut self, Progress(work): Progress, who: &Who) -> Vec<Record> {
        let records = match work {
            Work::Planned { index, prepared, plan } => self.judge(index, prepared, plan, who),
            Work::Ran { index, outcome } => self.finish(index, outcome),
        };
        self.plan_next();
        records
    }

    /// Applies a person's decision. Record what it returns, then call [`Scheduler::launch`].
    ///
    /// # Errors
    /// In words for the person, when nothing waits under that id or new arguments do not fit.
    pub fn decide(&mut self, call_id: &CallId, decision: Decision) -> Result<Vec<Record>, String> {
        let found = self.calls.iter_mut().enumerate().find(|(_, call)| call.id == *call_id);
        let Some((index, call)) = found else {
            return Err(format!("call {call_id} does not wait for an approval"));
        };
        let decided = approve::decide(call, &self.registry, decision)?;
        let mut records: Vec<Record> = decided.events.into_iter().map(Record::Commit).collect();
        if let Some(grant) = decided.grant {
            self.policy.grant(grant);
        }
        match decided.changed {
            Some(prepared) => self.plan(index, prepared, true),
            None => records.extend(self.announce(index)),
        }
        self.plan_next();
        Ok(records)
    }

    /// Starts the calls whose marks are recorded.
    pub fn launch(&mut self) {
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get_mut(index) else { continue };
            let Phase::Cleared(prepared) = &call.phase else { continue };
            let touch = prepared.touch();
            let Phase::Cleared(prepared) = std::mem::replace(&mut call.phase, Phase::Executing { touch }) else {
                continue;
            };
            let ctx = self.context(index);
            let limit = prepared.timeout().unwrap_or(self.limits.timeout);
            let clock = Arc::clone(&self.clock);
            self.work.push(Box::pin(async move {
                Progress(Work::Ran { index, outcome: execute(prepared, ctx, limit, clock).await })
            }));
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
                Some(Progress(work)) = self.work.next() => {
                    if let Work::Ran { index, outcome } = work {
                        let outcome = Outcome { status: CallStatus::Cancelled, error_code: None, ..outcome };
                        records.extend(self.finish(index, outcome));
                    }
                }
                () = &mut deadline => break,
            }
        }
        self.work = FuturesUnordered::new();
        for call in &mut self.calls {
            let ran = match call.phase {
                Phase::Done(_) => continue,
                Phase::Executing { .. } => true,
                Phase::Scheduled(_) | Phase::Planning { .. } | Phase::AwaitingApproval { .. } | Phase::Cleared(_) => {
                    false
                }
            };
            records.push(Record::Emit(call.finish(Outcome::cancelled(ran))));
        }
        records
    }

    fn plan_next(&mut self) {
        for index in may_begin(&self.calls, self.limits.parallel_reads) {
            let Some(call) = self.calls.get_mut(index) else { continue };
            let phase = std::mem::replace(&mut call.phase, Phase::Planning { touch: Touch::Reads, approved: false });
            match phase {
                Phase::Scheduled(prepared) => self.plan(index, prepared, false),
                other @ (Phase::Planning { .. }
                | Phase::AwaitingApproval { .. }
                | Phase::Cleared(_)
                | Phase::Executing { .. }
                | Phase::Done(_)) => call.phase = other,
            }
        }
    }

    fn plan(&mut self, index: usize, prepared: Box<dyn PreparedCall>, approved: bool) {
        let ctx = self.context(index);
        if let Some(call) = self.calls.get_mut(index) {
            call.phase = Phase::Planning { touch: prepared.touch(), approved };
        }
        self.work.push(Box::pin(async move {
            let plan = prepared.plan(&ctx).await;
            Progress(Work::Planned { index, prepared, plan })
        }));
    }

    /// The policy's word on a call whose effects are known.
    fn judge(
        &mut self,
        index: usize,
        prepared: Box<dyn PreparedCall>,
        plan: Result<Plan, ToolError>,
        who: &Who,
    ) -> Vec<Record> {
        let Some(call) = self.calls.get_mut(index) else { return Vec::new() };
        let Phase::Planning { approved, .. } = call.phase else { return Vec::new() };
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return self.finish(index, Outcome::error(&error, Duration::ZERO)),
        };
        let action = approve::action(&call.tool, prepared.as_ref(), &plan);
        let verdict = self.policy.judge(&action, who);
        match verdict.ruling {
            Ruling::Ask if !approved => {
                let grant = Grant::like(&action);
                let request = approve::request(call, prepared.as_ref(), &plan, &grant, verdict.reason);
                call.phase = Phase::AwaitingApproval { prepared, grant };
                vec![
                    Record::Emit(call.update(CallStatus::AwaitingApproval)),
                    Record::Commit(EventBody::PermissionRequest(request)),
                ]
            }
            Ruling::Allow | Ruling::Ask => {
                call.phase = Phase::Cleared(prepared);
                self.announce(index)
            }
            Ruling::Deny => {
                let error = ToolError::new(verdict.code, verdict.reason);
                self.finish(index, Outcome::error(&error, Duration::ZERO))
            }
        }
    }

    /// The mark that a call is about to run: on the disk first if it does more than read.
    fn announce(&self, index: usize) -> Vec<Record> {
        let Some(call) = self.calls.get(index) else { return Vec::new() };
        let Phase::Cleared(prepared) = &call.phase else { return Vec::new() };
        let update = call.update(CallStatus::Executing);
        match prepared.touch() {
            Touch::Reads => vec![Record::Emit(update)],
            Touch::Writes | Touch::Runs => vec![Record::Commit(update)],
        }
    }

    /// The last words of a call come before its end.
    fn finish(&mut self, index: usize, outcome: Outcome) -> Vec<Record> {
        let mut records: Vec<Record> =
            self.live.take().into_iter().map(|chunk| Record::Emit(EventBody::ToolOutputChunk(chunk))).collect();
        if let Some(call) = self.calls.get_mut(index) {
            records.push(Record::Emit(call.finish(outcome)));
        }
        records
    }

    fn context(&self, index: usize) -> ToolContext {
        let call_id = self.calls.get(index).map_or_else(CallId::generate, |call| call.id.clone());
        ToolContext {
            live: self.live.of(call_id.clone()),
            call_id,
            world: Arc::clone(&self.world),
            cancel: self.cancel.child_token(),
            spill: Arc::clone(&self.spill),
            max_output: self.limits.max_output,
        }
    }
}
