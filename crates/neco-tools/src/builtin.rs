//! The one list of built-in tools.

use std::sync::Arc;

use neco_config::section::ToolsSection;
use neco_toolkit::{DynTool, Registry};

use crate::code::{self, Indexes};
use crate::{diagnostics, files, git, shell, web};

/// The built-in tools of one agent, with state of their own: a file that one agent has read is
/// unread for another; only indexes of code are shared. Processes in the background end when the
/// last of these tools is dropped.
pub fn registry(settings: &ToolsSection, indexes: &Arc<Indexes>) -> Registry {
    let files = diagnostics::after_edits(files::tools(), settings);
    let checks = diagnostics::tools(settings);
    let rooms = [files, shell::tools(settings), git::tools(), code::tools(indexes), checks, web::tools(settings)];
    let tools: Vec<Arc<dyn DynTool>> = rooms.into_iter().flatten().collect();
    Registry::new(tools)
}
