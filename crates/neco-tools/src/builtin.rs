//! The one list of built-in tools.

use std::sync::Arc;

use neco_config::section::ToolsSection;
use neco_toolkit::{DynTool, Registry};

use crate::{files, shell};

/// The built-in tools of one agent, with state of their own: a file that one agent has read is
/// unread for another. Processes in the background end when the last of these tools is dropped.
#[must_use]
pub fn registry(settings: &ToolsSection) -> Registry {
    let tools: Vec<Arc<dyn DynTool>> = files::tools().into_iter().chain(shell::tools(settings)).collect();
    Registry::new(tools)
}
