//! Calls that want something of the agent: what they want is taken out before they end, and their result
//! says what came of it, at once or when a person has answered.

use std::time::Duration;

use neco_proto::CallId;
use neco_proto::event::CallStatus;
use neco_safety::secrets::Scope;
use neco_safety::untrusted;
use neco_toolkit::{Intent, Registry, ToolError};

use super::call::{Outcome, Phase};
use super::progress::{Progress, Record, Work};
use super::schedule::Scheduler;

/// What came of what a call wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fulfilled {
    /// It is done; the model is told this.
    Done(String),
    /// It can't be done.
    Failed(ToolError),
    /// A person is asked; the answer comes later.
    Waits,
}

impl Progress {
    /// Lets the call's result say what came of what it wants.
    pub fn settle(&mut self, fulfilled: Fulfilled) {
        let Work::Ran { outcome, .. } = &mut self.0 else { return };
        match fulfilled {
            Fulfilled::Done(text) => add(outcome, &text),
            Fulfilled::Failed(error) => *outcome = Outcome::error(&error, outcome.duration),
            Fulfilled::Waits => outcome.waits = true,
        }
    }
}

impl Scheduler {
    /// What a call wants that has just run, and which call; taken out.
    pub fn intents(&self, progress: &mut Progress) -> Option<(CallId, Vec<Intent>)> {
        let Work::Ran { index, outcome } = &mut progress.0 else { return None };
        let intents = std::mem::take(&mut outcome.intents);
        let call = self.calls.get(*index)?;
        (!intents.is_empty() && outcome.status == CallStatus::Success).then(|| (call.id.clone(), intents))
    }

    /// The call waits for a person's answer.
    pub(super) fn wait_for_answer(&mut self, index: usize, outcome: Outcome) -> Vec<Record> {
        let Some(call) = self.calls.get_mut(index) else { return Vec::new() };
        let runs = std::mem::replace(&mut call.phase, Phase::Done(Box::new(Outcome::cancelled(false))));
        call.phase = match runs {
            Phase::Executing { touch, arguments } => {
                Phase::AwaitingAnswer { touch, arguments, outcome: Box::new(outcome) }
            }
            other => other,
        };
        Vec::new()
    }

    /// Gives a call that waits for a person's answer its result. Record what it returns.
    pub fn answer(&mut self, call_id: &CallId, fulfilled: Fulfilled) -> Vec<Record> {
        let found = self.calls.iter().position(|call| call.id == *call_id);
        let Some((index, call)) = found.and_then(|index| Some((index, self.calls.get_mut(index)?))) else {
            return Vec::new();
        };
        let waits = std::mem::replace(&mut call.phase, Phase::Done(Box::new(Outcome::cancelled(false))));
        let Phase::AwaitingAnswer { touch, arguments, outcome } = waits else {
            call.phase = waits;
            return Vec::new();
        };
        call.phase = Phase::Executing { touch, arguments };
        let mut outcome = *outcome;
        // What a person typed may quote what a file said.
        let redacted = |text: &str| self.redactor().redact(text, Scope::Outside).into_owned();
        match fulfilled {
            Fulfilled::Done(text) => add(&mut outcome, &untrusted::neutral(&redacted(&text))),
            Fulfilled::Failed(error) => {
                let error = ToolError { message: redacted(&error.message), ..error };
                outcome = Outcome::error(&error, Duration::ZERO);
            }
            Fulfilled::Waits => {}
        }
        let records = self.ran(index, outcome);
        self.plan_next();
        records
    }

    /// The most bytes that a result may have.
    pub fn max_output(&self) -> usize {
        self.limits.max_output
    }

    /// Other tools exist from now on.
    pub fn set_registry(&mut self, registry: Registry) {
        self.registry = registry;
    }
}

fn add(outcome: &mut Outcome, text: &str) {
    if !outcome.output.is_empty() {
        outcome.output.push('\n');
    }
    outcome.output.push_str(text);
}

#[cfg(test)]
mod tests {
    use neco_proto::EventBody;
    use neco_safety::SideEffect;

    use super::super::call::Call;
    use super::super::stand_ins::idle;
    use super::*;

    #[test]
    fn what_the_model_is_advised_is_told_apart_after_an_answer_too() {
        let (mut scheduler, id) = (idle(), CallId::generate());
        let waits = Box::new(Outcome::new(CallStatus::Success, String::new()));
        scheduler.calls.push(Call::new(
            id.clone(),
            "exit_plan_mode".to_owned(),
            Phase::AwaitingAnswer { touch: SideEffect::Reads, arguments: None, outcome: waits },
        ));
        let error = ToolError::failed("there is no plan").advising("write one");
        let records = scheduler.answer(&id, Fulfilled::Failed(error));
        let ended = records.iter().find_map(|record| match record {
            Record::Emit(EventBody::ToolCallEnd(end)) => Some(end),
            _ => None,
        });
        let ended = ended.unwrap();
        assert!(ended.output.contains("there is no plan; write one"), "{}", ended.output);
        assert_eq!(ended.advice.as_deref(), Some("write one"));
    }
}
