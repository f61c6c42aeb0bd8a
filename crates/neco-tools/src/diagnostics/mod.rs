//! What the project's own checkers say.
//!
//! Invariants: a checker runs what the project brings along (build scripts, plug-ins), so it is judged
//! and boxed as any command; without a person's word it runs only in the sandbox; what it printed is
//! data; its processes are gone before a call ends.
//!
//! Reading order: [`problem`], [`checker`] (the list), [`find`], [`run`], [`parse`], [`report`], [`tool`];
//! then [`mod@after_edits`].

mod after_edits;
mod checker;
mod find;
mod parse;
mod problem;
mod report;
mod run;
mod tool;

use std::sync::Arc;

use neco_config::section::ToolsSection;
use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;

use checker::Checkers;
use tool::Diagnostics;

/// The tool that runs checkers.
pub fn tools(settings: &ToolsSection) -> Vec<Arc<dyn DynTool>> {
    vec![erase(Diagnostics::new(Arc::new(Checkers::new(settings))))]
}

/// The same tools, but those that change files say afterwards which problems are new, if the user wants that.
pub fn after_edits(tools: Vec<Arc<dyn DynTool>>, settings: &ToolsSection) -> Vec<Arc<dyn DynTool>> {
    if !settings.diagnostics.after_edits {
        return tools;
    }
    after_edits::wrap(tools, Arc::new(Checkers::new(settings)))
}
