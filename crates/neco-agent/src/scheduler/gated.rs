//! Calls at the gate: before they are judged, before a person is asked, and after they ran.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use neco_proto::event::{CallStatus, HookEvent};
use neco_proto::{ErrorCode, EventBody};
use neco_safety::policy::Source;
use neco_safety::secrets::Redactor;
use neco_safety::{Action, Policy, Ruling, Verdict, Who};
use neco_toolkit::{PreparedCall, ToolError};
use serde_json::Value;

use super::call::{Call, Outcome, Phase, Standing};
use super::changes::changes;
use super::progress::{Record, Work};
use super::schedule::Scheduler;
use crate::gate::{Gate, GateRuling, GatedCall, HookContext, HookDecision, HookPoint};

/// The question that a person is about to be asked.
pub(super) struct Question {
    /// The call, as it waits for the answer.
    pub waits: Phase,
    /// The events that ask.
    pub records: Vec<Record>,
    /// Whether somebody else may say yes.
    pub answerable: bool,
    /// Why the call is refused when the gate says nothing, where no person is there to be asked.
    pub refusal: Option<ToolError>,
}

impl Scheduler {
    /// Puts a gate before and behind every call.
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// Whatever comes from now on is taken to this gate.
    pub(crate) fn set_gate(&mut self, gate: Arc<dyn Gate>) {
        self.gate = gate;
    }

    /// Takes secrets out of what is kept and sent.
    pub fn redactor(&self) -> Redactor {
        self.spill.redactor()
    }

    /// How the agent works in the turn whose calls begin.
    pub fn set_scene(&mut self, scene: HookContext) {
        self.scene = Some(scene);
    }

    /// Why the gate wants the agent's work to end, if it does; said once.
    pub fn take_stop(&mut self) -> Option<String> {
        let told = std::mem::replace(&mut self.stop_is_told, self.stop.is_some());
        self.stop.clone().filter(|_| !told)
    }

    pub(super) fn forget_stop(&mut self) {
        self.stop = None;
        self.stop_is_told = false;
    }

    /// When the gate has ended the work, what has not begun does not begin.
    pub(super) fn end_unstarted(&mut self) -> Vec<Record> {
        let Some(reason) = self.stop.clone() else { return Vec::new() };
        let waits = |call: &Call| matches!(call.phase.standing(), Standing::Scheduled | Standing::Waits);
        let unstarted: Vec<usize> =
            (0..self.calls.len()).filter(|index| self.calls.get(*index).is_some_and(waits)).collect();
        unstarted.into_iter().flat_map(|index| self.finish(index, ended_by_hook(&reason))).collect()
    }

    /// Asks before a call is planned; gives it back where nobody wants to be asked.
    pub(super) fn ask_gate(
        &mut self,
        index: usize,
        prepared: Box<dyn PreparedCall>,
        approved: bool,
    ) -> Option<Box<dyn PreparedCall>> {
        let Some(call) = self.calls.get_mut(index).filter(|_| self.scene.is_some()) else { return Some(prepared) };
        if !self.gate.attends(HookEvent::PreToolUse, Some(&call.tool)) {
            return Some(prepared);
        }
        call.phase = Phase::AtGate { touch: prepared.touch() };
        let moment = HookPoint::BeforeCall(gated(call, prepared.arguments().clone()));
        let asked = self.asked(moment);
        self.spawn(index, async move { Work::Gated { index, prepared, approved, word: asked.await } });
        None
    }

    /// Takes in what the gate says before a call is judged.
    pub(super) fn gated(
        &mut self,
        index: usize,
        prepared: Box<dyn PreparedCall>,
        approved: bool,
        word: HookDecision,
    ) -> Vec<Record> {
        let (mut records, word) = self.heard(index, word);
        let blocked = match &word.ruling {
            Some(GateRuling::Block(reason)) => Some(blocked(reason)),
            Some(GateRuling::Allow | GateRuling::Ask(_)) | None => None,
        };
        let error = blocked.or_else(|| self.stop.as_deref().map(blocked_by_stop));
        let prepared = match (error, word.arguments) {
            (Some(error), _) => Err(error),
            // What a person approved is not this any more.
            (None, Some(arguments)) if arguments != *prepared.arguments() => {
                self.changed(index, prepared.as_ref(), arguments).map(|changed| (changed, false))
            }
            (None, _) => Ok((prepared, approved)),
        };
        match prepared {
            Ok((prepared, approved)) => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.ruling = word.ruling.or(call.ruling.take());
                    // It may do something else now, so it takes its place in the order anew.
                    call.phase = Phase::Scheduled { prepared, approved, gated: true };
                }
            }
            Err(error) => records.extend(self.finish(index, Outcome::error(&error, Duration::ZERO))),
        }
        records
    }

    fn changed(
        &mut self,
        index: usize,
        before: &dyn PreparedCall,
        arguments: Value,
    ) -> Result<Box<dyn PreparedCall>, ToolError> {
        let Some(call) = self.calls.get_mut(index) else {
            return Err(ToolError::failed("the call is gone"));
        };
        let tool = self.registry.find(&call.tool)?;
        let prepared = Arc::clone(tool).prepare(arguments).map_err(|error| {
            let words = format!("a hook changed the arguments to what does not fit: {}", error.message);
            ToolError::new(ErrorCode::BlockedByPolicy, words)
        })?;
        call.summary = prepared.summary();
        // What the person changed before that comes first.
        call.notes.extend(call.changed.take());
        let changes = changes(before.arguments(), prepared.arguments());
        call.notes.push(format!("a hook changed the arguments: {changes}"));
        Ok(prepared)
    }

    /// Puts a question to the gate first, and to the person where nobody attends.
    pub(super) fn question(&mut self, index: usize, question: Question) -> Vec<Record> {
        let Some(call) = self.calls.get_mut(index) else { return Vec::new() };
        let attends = || self.gate.attends(HookEvent::PermissionRequest, Some(&call.tool));
        // Who has made another call of it is not asked about that again and again.
        let attended = self.scene.is_some() && !call.answered && attends();
        let (Some(prepared), true) = (question.waits.prepared(), attended) else {
            return self.ask_person(index, question);
        };
        call.phase = Phase::AtGate { touch: prepared.touch() };
        let moment = HookPoint::Permission(gated(call, prepared.arguments().clone()));
        let asked = self.asked(moment);
        self.spawn(index, async move { Work::Asked { index, question: Box::new(question), word: asked.await } });
        Vec::new()
    }

    /// Asks the person; where nobody is there, the call is refused.
    fn ask_person(&mut self, index: usize, question: Question) -> Vec<Record> {
        if let Some(error) = &question.refusal {
            return self.finish(index, Outcome::error(error, Duration::ZERO));
        }
        if let Some(call) = self.calls.get_mut(index) {
            call.phase = question.waits.asked(self.limits.approval);
        }
        question.records
    }

    /// Takes in what the gate says instead of a person, or asks the person.
    pub(super) fn answered(&mut self, index: usize, question: Question, word: HookDecision) -> Vec<Record> {
        let (mut records, word) = self.heard(index, word);
        if let Some(reason) = &self.stop {
            records.extend(self.finish(index, ended_by_hook(reason)));
            return records;
        }
        match (word.ruling, word.arguments) {
            (Some(GateRuling::Block(reason)), _) => {
                records.extend(self.finish(index, Outcome::error(&blocked(&reason), Duration::ZERO)));
            }
            (Some(GateRuling::Allow), Some(arguments)) => {
                records.extend(self.answered_with(index, question, arguments))
            }
            (Some(GateRuling::Allow), None) if question.answerable => {
                if let (Some(call), Some(prepared)) = (self.calls.get_mut(index), question.waits.into_prepared()) {
                    call.phase = Phase::Cleared(prepared);
                    records.extend(self.announce(index));
                }
            }
            // What a hook would change without a yes to it, the person is asked about as it is.
            (Some(GateRuling::Allow | GateRuling::Ask(_)) | None, _) => {
                records.extend(self.ask_person(index, question));
            }
        }
        records
    }

    /// The gate says yes to a call with other arguments. That is another call, so it is looked at from the
    /// beginning, by those who guard calls too; the yes counts for no more there than a yes before it is judged.
    fn answered_with(&mut self, index: usize, question: Question, arguments: Value) -> Vec<Record> {
        let Some(before) = question.waits.into_prepared() else { return Vec::new() };
        match self.changed(index, before.as_ref(), arguments) {
            Ok(prepared) => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.answered = true;
                    // Where another wants a person, a person decides.
                    call.ruling = match call.ruling.take() {
                        asks @ Some(GateRuling::Ask(_)) => asks,
                        Some(GateRuling::Allow | GateRuling::Block(_)) | None => Some(GateRuling::Allow),
                    };
                    call.phase = Phase::Scheduled { prepared, approved: false, gated: false };
                }
                Vec::new()
            }
            Err(error) => self.finish(index, Outcome::error(&error, Duration::ZERO)),
        }
    }

    /// A call that its tool can't plan has failed, for the gate as for the model: there is no such file.
    pub(super) fn was_not_planned(
        &mut self,
        index: usize,
        prepared: &dyn PreparedCall,
        error: &ToolError,
    ) -> Vec<Record> {
        if let Some(call) = self.calls.get_mut(index) {
            let arguments = Some(prepared.arguments().clone());
            call.phase = Phase::Executing { touch: prepared.touch(), arguments };
        }
        self.ran(index, Outcome::error(error, Duration::ZERO))
    }

    /// A call has run: the gate hears of it before the model does.
    pub(super) fn ran(&mut self, index: usize, outcome: Outcome) -> Vec<Record> {
        self.note_touched(index, &outcome);
        let succeeded = outcome.status == CallStatus::Success;
        let event = if succeeded { HookEvent::PostToolUse } else { HookEvent::PostToolUseFailure };
        let Some(call) = self.calls.get_mut(index).filter(|_| self.scene.is_some()) else {
            return self.finish(index, outcome);
        };
        if outcome.status == CallStatus::Cancelled || !self.gate.attends(event, Some(&call.tool)) {
            return self.finish(index, outcome);
        }
        let Phase::Executing { touch, arguments } = &call.phase else { return self.finish(index, outcome) };
        let arguments = arguments.clone().unwrap_or_default();
        let moment = HookPoint::AfterCall { call: gated(call, arguments), output: outcome.output.clone(), succeeded };
        // Its end waits for the gate, which may take long: whoever is killed meanwhile knows that it ran.
        let (id, ended) = (call.id.clone(), call.update(outcome.status));
        call.phase = Phase::Finishing { touch: *touch, outcome: Box::new(outcome) };
        let asked = self.asked(moment);
        self.spawn(index, async move { Work::Finished { index, word: asked.await } });
        self.live().end(&id);
        self.last_words().into_iter().chain([Record::Commit(ended)]).collect()
    }

    /// Takes in what the gate says after a call.
    pub(super) fn finished(&mut self, index: usize, word: HookDecision) -> Vec<Record> {
        let (mut records, word) = self.heard(index, word);
        let Some(call) = self.calls.get_mut(index) else { return records };
        if let Some(GateRuling::Block(reason)) = word.ruling {
            call.notes.push(format!("a hook objects to what this call did: {reason}"));
        }
        if let Phase::Finishing { outcome, .. } = &call.phase {
            let outcome = outcome.as_ref().clone();
            records.extend(self.finish(index, outcome));
        }
        records
    }

    /// What every word means: what ran is told, what the model should know goes with the result.
    fn heard(&mut self, index: usize, mut word: HookDecision) -> (Vec<Record>, HookDecision) {
        let records = word.runs.drain(..).map(|run| Record::Emit(EventBody::HookRun(run))).collect();
        if let Some(call) = self.calls.get_mut(index) {
            call.notes.extend(word.context.drain(..).map(|context| format!("from a hook: {context}")));
        }
        if let Some(reason) = &word.stop {
            self.stop.get_or_insert_with(|| reason.clone());
        }
        (records, word)
    }

    fn asked(&self, moment: HookPoint) -> futures::future::BoxFuture<'static, HookDecision> {
        match &self.scene {
            Some(scene) => {
                let (asked, redactor) =
                    (self.gate.ask(moment, scene.clone(), self.cancel.child_token()), self.redactor());
                Box::pin(asked.map(move |word| word.presentable(&redactor)))
            }
            None => Box::pin(std::future::ready(HookDecision::default())),
        }
    }
}

/// The policy's verdict together with what the gate said: a gate can ask where the policy allows,
/// and allow where it would ask by itself; what is denied, critical or asked about by a rule that
/// somebody wrote it can't open.
pub(super) fn rule(policy: &Policy, gate: Option<&GateRuling>, action: &Action<'_>, who: &Who<'_>) -> Verdict {
    let verdict = policy.judge(action, who);
    match (gate, verdict.ruling) {
        (Some(GateRuling::Ask(reason)), Ruling::Allow) => asked_by_hook(verdict, reason, who.person_present),
        (Some(GateRuling::Allow), Ruling::Ask | Ruling::Deny) if may_be_answered(&verdict, gate) => {
            Verdict { ruling: Ruling::Allow, unasked: false, reason: "allowed by a hook".to_owned(), ..verdict }
        }
        (Some(_), _) | (None, _) => verdict,
    }
}

/// Whether somebody else than a person may say yes: only to what a person is asked about, or would be if one were
/// there; not to what is critical, not where a rule asks that somebody wrote, and not where a hook wants a person.
pub(super) fn may_be_answered(verdict: &Verdict, gate: Option<&GateRuling>) -> bool {
    let asks = verdict.ruling == Ruling::Ask || verdict.unasked;
    let by_itself = verdict.rule.source == Source::BuiltIn;
    let hook_asks = matches!(gate, Some(GateRuling::Ask(_)));
    asks && by_itself && !hook_asks && verdict.risk < neco_proto::Risk::Critical
}

/// Whether it is allowed by a person's yes that was given before: to this for the session, or by a rule for
/// what is critical.
pub(super) fn is_persons_word(verdict: &Verdict) -> bool {
    let by_person = match verdict.rule.source {
        // What is kept for good opens no network, which they were told.
        Source::Session => !verdict.rule.kept,
        Source::User | Source::CommandLine => verdict.risk == neco_proto::Risk::Critical,
        Source::BuiltIn | Source::Project => false,
    };
    by_person && verdict.ruling == Ruling::Allow
}

/// The outcome of a call that a hook kept from beginning by ending the work.
pub(super) fn ended_by_hook(reason: &str) -> Outcome {
    Outcome::error(&blocked_by_stop(reason), Duration::ZERO)
}

fn gated(call: &Call, arguments: Value) -> GatedCall {
    GatedCall { id: call.id.clone(), tool: call.tool.clone(), origin: call.origin.clone(), arguments }
}

fn blocked(reason: &str) -> ToolError {
    ToolError::new(ErrorCode::BlockedByPolicy, format!("a hook blocked this call: {reason}"))
}

fn blocked_by_stop(reason: &str) -> ToolError {
    ToolError::new(ErrorCode::BlockedByPolicy, format!("a hook ended the work: {reason}"))
}

/// What is allowed and must be asked about all the same, for this reason.
pub(super) fn must_be_asked(verdict: Verdict, why: &str, person_present: bool) -> Verdict {
    match verdict.ruling {
        Ruling::Allow if person_present => asked(verdict, why.to_owned()),
        Ruling::Allow => {
            let why = why.lines().next().unwrap_or_default();
            unasked(verdict, &format!("a person must decide, in `neco` or `neco repl` ({why})"))
        }
        Ruling::Ask | Ruling::Deny => verdict,
    }
}

fn asked_by_hook(verdict: Verdict, reason: &str, person_present: bool) -> Verdict {
    match person_present {
        true => asked(verdict, format!("a hook asks: {reason}")),
        false => unasked(verdict, &format!("a hook wants a person to decide ({reason})")),
    }
}

fn asked(verdict: Verdict, why: String) -> Verdict {
    let reason = std::iter::once(why).chain(verdict.opens.iter().cloned()).collect::<Vec<_>>().join("\n");
    Verdict { ruling: Ruling::Ask, reason, ..verdict }
}

fn unasked(verdict: Verdict, why: &str) -> Verdict {
    let reason = format!("{why}, and nobody can be asked in this run");
    Verdict { ruling: Ruling::Deny, unasked: true, reason, ..verdict }
}

#[cfg(test)]
mod tests {

    use futures::future::BoxFuture;
    use neco_proto::{ApprovalMode, CallId, Mode};
    use neco_safety::{Confinement, SideEffect};
    use neco_toolkit::Intent;
    use tokio_util::sync::CancellationToken;

    use super::super::stand_ins::idle;
    use super::*;

    /// A gate with a defect: it crashes, or never says anything, even when it is told to stop.
    enum Broken {
        Crashes,
        Hangs,
    }

    impl Gate for Broken {
        fn attends(&self, _: HookEvent, _: Option<&str>) -> bool {
            true
        }

        fn ask(&self, _: HookPoint, _: HookContext, _: CancellationToken) -> BoxFuture<'static, HookDecision> {
            match self {
                Self::Crashes => Box::pin(async { panic!("a defect of the gate") }),
                Self::Hangs => Box::pin(std::future::pending()),
            }
        }
    }

    /// A scheduler with one call, which has just run and is at the gate.
    fn finishing(gate: Broken) -> Scheduler {
        let mut scheduler = idle().with_gate(Arc::new(gate));
        scheduler.set_scene(HookContext {
            mode: Mode::Agent,
            approval: ApprovalMode::Auto,
            person_present: false,
            model: String::new(),
            turn: None,
            agent: None,
        });
        scheduler.calls.push(Call::new(
            CallId::generate(),
            "bash".to_owned(),
            Phase::Executing { touch: SideEffect::Runs, arguments: None },
        ));
        let ran = Outcome { status: CallStatus::Success, output: "it is done".to_owned(), ..Outcome::crashed() };
        scheduler.ran(0, Outcome { error_code: None, ..ran });
        scheduler
    }

    fn result(scheduler: &mut Scheduler) -> (String, Option<ErrorCode>) {
        let result = scheduler.take_results().remove(0);
        (result.output, result.error_code)
    }

    #[tokio::test]
    async fn a_call_whose_wish_is_not_done_any_more_is_no_success() {
        let mut scheduler = finishing(Broken::Hangs);
        scheduler.stop().await;
        let touch = SideEffect::Reads;
        if let Some(call) = scheduler.calls.first_mut() {
            call.phase = Phase::Executing { touch, arguments: None };
        }
        let wish = Intent::NoteFindings(vec!["it is so".to_owned()]);
        let ran = Outcome { status: CallStatus::Success, error_code: None, intents: vec![wish], ..Outcome::crashed() };
        scheduler.spawn(0, async move { Work::Ran { index: 0, outcome: ran } });
        let records = scheduler.stop().await;
        let ended = |record: &Record| matches!(record, Record::Emit(EventBody::ToolCallEnd(end)) if end.status == CallStatus::Cancelled);
        assert!(records.iter().any(ended), "a list that was not written is not told as written");
    }

    #[tokio::test]
    async fn what_a_call_did_stands_whatever_becomes_of_the_gate() {
        let expected = ("it is done".to_owned(), None);
        let mut scheduler = finishing(Broken::Crashes);
        let progress = scheduler.progress().await;
        let who = Who {
            mode: Mode::Agent,
            approval: ApprovalMode::Auto,
            person_present: false,
            role: "root",
            confinement: Confinement::ChosenNone,
            network: false,
        };
        scheduler.absorb(progress, &who);
        assert_eq!(result(&mut scheduler), expected);
        let mut scheduler = finishing(Broken::Hangs);
        scheduler.stop().await;
        assert_eq!(result(&mut scheduler), expected);
    }

    #[tokio::test]
    async fn what_a_hook_wanted_is_void_when_the_work_is_stopped_or_begins_anew() {
        let mut scheduler = finishing(Broken::Hangs);
        let word = || HookDecision { stop: Some("enough".to_owned()), ..HookDecision::default() };
        scheduler.finished(0, word());
        scheduler.stop().await;
        assert_eq!(scheduler.take_stop(), None);
        scheduler.finished(0, word());
        assert_eq!(scheduler.take_stop().as_deref(), Some("enough"));
        assert_eq!(scheduler.take_stop(), None, "it is said once");
        scheduler.finished(0, word());
        scheduler.begin(&[], None);
        assert_eq!(scheduler.take_stop(), None);
    }
}
