//! The one list of tools by which a model plans.

use std::sync::Arc;

use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;

use super::ask_user::AskUser;
use super::plan_mode::{EnterPlanMode, ExitPlanMode};
use super::todo_write::TodoWrite;

/// The tools by which a model plans.
pub fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![erase(TodoWrite), erase(AskUser), erase(EnterPlanMode), erase(ExitPlanMode)]
}
