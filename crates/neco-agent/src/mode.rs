//! What a mode makes of the tools: which of them exist for the model.

use neco_proto::Mode;
use neco_toolkit::{DynTool, SideEffect};

use crate::plan::{ENTER_PLAN_MODE, EXIT_PLAN_MODE};

/// Whether a tool exists for the model in `mode`. What a mode forbids the policy refuses as well: a
/// tool that is not declared but called all the same comes to nothing.
pub fn declares(mode: Mode, tool: &dyn DynTool) -> bool {
    match tool.name() {
        ENTER_PLAN_MODE => matches!(mode, Mode::Agent | Mode::Debug),
        EXIT_PLAN_MODE => mode == Mode::Plan,
        _ => match mode {
            Mode::Agent | Mode::Debug => true,
            // Some commands only look; the policy tells them apart.
            Mode::Plan => tool.most_touch() != SideEffect::Writes,
            Mode::Ask => tool.most_touch().changes_nothing(),
        },
    }
}
