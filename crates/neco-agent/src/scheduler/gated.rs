//! Calls at the gate: before they are judged, before a person is asked, and after they ran.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::{CallStatus, HookEvent};
use neco_proto::{ErrorCode, EventBody};
use neco_safety::policy::Source;
use neco_safety::{Action, Policy, Ruling, Verdict, Who};
use neco_toolkit::{PreparedCall, ToolError};

use super::call::{Call, Outcome, Phase};
use super::schedule::{Record, Scheduler, Work};
use crate::gate::{Gate, GateRuling, GatedCall, Moment, Scene, Word};

/// The question that a person is about to be asked.
pub(super) struct Question {
    /// The call, as it waits for the answer.
    pub waits: Phase,
    /// The events that ask.
    pub records: Vec<Record>,
    /// Whether somebody else may say yes: never to what is critical.
    pub answerable: bool,
}

impl Scheduler {
    /// Puts a gate before and behind every call.
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = gate;
        self
    }

    /// How the agent works in the turn whose calls begin.
    pub fn set_scene(&mut self, scene: Scene) {
        self.scene = Some(scene);
    }

    /// Why the gate wants the agent's work to end, if it does; said once.
    pub fn take_stop(&mut self) -> Option<String> {
        self.stop.take()
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
        let moment = Moment::BeforeCall(gated(call, prepared.as_ref()));
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
        word: Word,
    ) -> Vec<Record> {
        let (mut records, word) = self.heard(index, word);
        let blocked = match &word.ruling {
            Some(GateRuling::Block(reason)) => Some(blocked(reason)),
            Some(GateRuling::Allow | GateRuling::Ask(_)) | None => None,
        };
        let error = blocked.or_else(|| word.stop.as_deref().map(blocked_by_stop));
        let prepared = match (error, word.arguments) {
            (Some(error), _) => Err(error),
            (None, Some(arguments)) if arguments != *prepared.arguments() => self.changed(index, arguments),
            (None, _) => Ok(prepared),
        };
        match prepared {
            Ok(prepared) => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.ruling = word.ruling;
                    // It may do something else now, so it takes its place in the order anew.
                    call.phase = Phase::Scheduled { prepared, approved, gated: true };
                }
            }
            Err(error) => records.extend(self.finish(index, Outcome::error(&error, Duration::ZERO))),
        }
        records
    }

    fn changed(&mut self, index: usize, arguments: serde_json::Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let Some(call) = self.calls.get_mut(index) else {
            return Err(ToolError::failed("the call is gone"));
        };
        let tool = self.registry.find(&call.tool)?;
        let prepared = Arc::clone(tool).prepare(arguments).map_err(|error| {
            let words = format!("a hook changed the arguments to what does not fit: {}", error.message);
            ToolError::new(ErrorCode::BlockedByPolicy, words)
        })?;
        call.summary = prepared.summary();
        call.notes.push(format!("a hook changed the arguments; the call is now {}", prepared.arguments()));
        Ok(prepared)
    }

    /// Puts a question to the gate first, and to the person where nobody attends.
    pub(super) fn question(&mut self, index: usize, question: Question) -> Vec<Record> {
        let Some(call) = self.calls.get_mut(index) else { return Vec::new() };
        let attended = self.scene.is_some() && self.gate.attends(HookEvent::PermissionRequest, Some(&call.tool));
        let (Some(prepared), true) = (question.waits.prepared(), attended) else {
            call.phase = question.waits;
            return question.records;
        };
        call.phase = Phase::AtGate { touch: prepared.touch() };
        let moment = Moment::Permission(gated(call, prepared));
        let asked = self.asked(moment);
        self.spawn(index, async move { Work::Asked { index, question: Box::new(question), word: asked.await } });
        Vec::new()
    }

    /// Takes in what the gate says instead of a person, or asks the person.
    pub(super) fn answered(&mut self, index: usize, question: Question, word: Word) -> Vec<Record> {
        let (mut records, word) = self.heard(index, word);
        match word.ruling {
            Some(GateRuling::Block(reason)) => {
                records.extend(self.finish(index, Outcome::error(&blocked(&reason), Duration::ZERO)));
            }
            Some(GateRuling::Allow) if question.answerable && word.arguments.is_none() => {
                if let (Some(call), Some(prepared)) = (self.calls.get_mut(index), question.waits.into_prepared()) {
                    call.phase = Phase::Cleared(prepared);
                    records.extend(self.announce(index));
                }
            }
            // What a hook would change, the person is asked about as it is.
            Some(GateRuling::Allow | GateRuling::Ask(_)) | None => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.phase = question.waits;
                }
                records.extend(question.records);
            }
        }
        records
    }

    /// A call has run: the gate hears of it before the model does.
    pub(super) fn ran(&mut self, index: usize, outcome: Outcome) -> Vec<Record> {
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
        let moment = Moment::AfterCall {
            call: GatedCall { id: call.id.clone(), tool: call.tool.clone(), arguments },
            output: outcome.output.clone(),
            succeeded,
        };
        call.phase = Phase::Finishing { touch: *touch, outcome: Box::new(outcome) };
        let asked = self.asked(moment);
        self.spawn(index, async move { Work::Finished { index, word: asked.await } });
        self.last_words()
    }

    /// Takes in what the gate says after a call.
    pub(super) fn finished(&mut self, index: usize, word: Word) -> Vec<Record> {
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
    fn heard(&mut self, index: usize, mut word: Word) -> (Vec<Record>, Word) {
        let records = word.runs.drain(..).map(|run| Record::Emit(EventBody::HookRun(run))).collect();
        if let Some(call) = self.calls.get_mut(index) {
            call.notes.extend(word.context.drain(..).map(|context| format!("from a hook: {context}")));
        }
        if let Some(reason) = &word.stop {
            self.stop.get_or_insert_with(|| reason.clone());
        }
        (records, word)
    }

    fn asked(&self, moment: Moment) -> futures::future::BoxFuture<'static, Word> {
        match &self.scene {
            Some(scene) => self.gate.ask(moment, scene.clone(), self.cancel.child_token()),
            None => Box::pin(std::future::ready(Word::default())),
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
        (Some(GateRuling::Allow), Ruling::Ask | Ruling::Deny) => {
            let open = policy.judge(action, &Who { person_present: true, ..*who });
            let by_itself = open.rule.source == Source::BuiltIn;
            if open.ruling == Ruling::Ask && by_itself && may_be_answered(&open) {
                return Verdict { ruling: Ruling::Allow, reason: "allowed by a hook".to_owned(), ..open };
            }
            verdict
        }
        (Some(_), _) | (None, _) => verdict,
    }
}

/// Whether somebody else than a person may say yes.
pub(super) fn may_be_answered(verdict: &Verdict) -> bool {
    verdict.risk < neco_proto::Risk::Critical
}

fn gated(call: &Call, prepared: &dyn PreparedCall) -> GatedCall {
    GatedCall { id: call.id.clone(), tool: call.tool.clone(), arguments: prepared.arguments().clone() }
}

fn blocked(reason: &str) -> ToolError {
    ToolError::new(ErrorCode::BlockedByPolicy, format!("a hook blocked this call: {reason}"))
}

fn blocked_by_stop(reason: &str) -> ToolError {
    ToolError::new(ErrorCode::BlockedByPolicy, format!("a hook ended the work: {reason}"))
}

fn asked_by_hook(verdict: Verdict, reason: &str, person_present: bool) -> Verdict {
    if person_present {
        return Verdict { ruling: Ruling::Ask, reason: format!("a hook asks: {reason}"), ..verdict };
    }
    let reason = format!("a hook wants a person to decide ({reason}), and nobody can be asked in this run");
    Verdict { ruling: Ruling::Deny, reason, ..verdict }
}
