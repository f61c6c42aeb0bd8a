//! The first check: the call is whole, the tool exists, the arguments can be read and fit its schema.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use neco_proto::{CallId, ErrorCode, Mode, ToolCall};
use neco_toolkit::repair::read_arguments;
use neco_toolkit::{PreparedCall, Registry, ToolError};

use super::call::{Call, Outcome, Phase};
use crate::catalogue::ToolCatalogue;
use crate::mode::declares;

/// Calls that the model did not write to their end: their arguments may read like whole ones and still lack what was
/// to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// The calls.
    pub calls: Vec<CallId>,
    /// Why, and what the model should do.
    pub words: String,
}

/// The call, ready to be scheduled; or the error it ends with, also when it was cut off.
pub(super) fn validate(registry: &Registry, asked: &ToolCall, cut_off: Option<&CutOff>) -> (Call, Option<Outcome>) {
    let mut call = Call::new(asked.id.clone(), asked.name.clone(), Phase::Done(Box::new(Outcome::cancelled(false))));
    if let Some(cut_off) = cut_off.filter(|cut_off| cut_off.calls.contains(&asked.id)) {
        let incomplete = ToolError::new(ErrorCode::InvalidArguments, cut_off.words.clone());
        return (call, Some(Outcome::error(&incomplete, Duration::ZERO)));
    }
    // What a tool does with arguments must not be able to end its agent.
    match catch_unwind(AssertUnwindSafe(|| prepare(registry, asked, &mut call))) {
        Ok(Ok(prepared)) => {
            call.phase = Phase::Scheduled { prepared, approved: false, gated: false };
            (call, None)
        }
        Ok(Err(error)) => (call, Some(Outcome::error(&error, Duration::ZERO))),
        Err(_) => (call, Some(Outcome::crashed())),
    }
}

/// Whoever calls a tool that does not exist in the mode is told that, and not what is wrong with the
/// arguments.
pub(super) fn unless_absent(registry: &Registry, mode: Option<Mode>, tool: &str, outcome: Outcome) -> Outcome {
    let Some(mode) = mode.filter(|_| outcome.error_code == Some(ErrorCode::InvalidArguments)) else { return outcome };
    if registry.find(tool).is_ok_and(|tool| declares(mode, tool.as_ref())) {
        return outcome;
    }
    let words = format!("there is no {tool} in {mode} mode");
    Outcome::error(&ToolError::new(ErrorCode::BlockedByPolicy, words), outcome.duration)
}

/// Whoever calls a tool in a wrong way that it was told of in a line only is told the rest.
pub(super) fn with_schema(catalogue: &ToolCatalogue, tool: &str, mut outcome: Outcome) -> Outcome {
    let wrong = outcome.error_code == Some(ErrorCode::InvalidArguments);
    if let Some(told) = catalogue.told(tool).filter(|_| wrong) {
        outcome.output = format!("{}\n{told}", outcome.output);
    }
    outcome
}

fn prepare(registry: &Registry, asked: &ToolCall, call: &mut Call) -> Result<Box<dyn PreparedCall>, ToolError> {
    let tool = registry.find(&asked.name)?;
    tool.name().clone_into(&mut call.tool);
    tool.name().clone_into(&mut call.summary);
    tool.origin().clone_into(&mut call.origin);
    let arguments = read_arguments(&asked.arguments)?;
    call.notes.extend(arguments.note.map(str::to_owned));
    let prepared = Arc::clone(tool).prepare(arguments.value)?;
    call.notes.extend(prepared.notes().iter().cloned());
    call.summary = prepared.summary();
    Ok(prepared)
}
