//! The first check: the tool exists, the arguments can be read and fit its schema.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::ToolCall;
use neco_toolkit::repair::read_arguments;
use neco_toolkit::{PreparedCall, Registry, ToolError};

use super::call::{Call, Outcome, Phase};

/// The call, ready to be scheduled; or the error it ends with.
pub(super) fn validate(registry: &Registry, asked: &ToolCall) -> (Call, Option<Outcome>) {
    let mut call = Call {
        id: asked.id.clone(),
        tool: asked.name.clone(),
        summary: asked.name.clone(),
        notes: Vec::new(),
        phase: Phase::Done(Outcome::cancelled(false)),
    };
    match prepare(registry, asked, &mut call) {
        Ok(prepared) => {
            call.summary = prepared.summary();
            call.phase = Phase::Scheduled(prepared);
            (call, None)
        }
        Err(error) => (call, Some(Outcome::error(&error, Duration::ZERO))),
    }
}

fn prepare(registry: &Registry, asked: &ToolCall, call: &mut Call) -> Result<Box<dyn PreparedCall>, ToolError> {
    let tool = registry.find(&asked.name)?;
    tool.name().clone_into(&mut call.tool);
    tool.name().clone_into(&mut call.summary);
    let arguments = read_arguments(&asked.arguments)?;
    call.notes.extend(arguments.note.map(str::to_owned));
    Arc::clone(tool).prepare(arguments.value)
}
