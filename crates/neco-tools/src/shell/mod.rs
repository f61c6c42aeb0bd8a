//! Tools that run commands.
//!
//! Invariants: a command runs in a process group that is killed with everything in it when the
//! command ends, times out, is cancelled, or its agent's tools are dropped; what a model or a
//! window gets to see commands no terminal; a command that ends with a code other than zero is a
//! result, not an error: only what kept it from running or ending is one.
//!
//! Reading order: [`bash`], [`interpreter`], [`folder`], [`follow`], [`box_words`],
//! [`process`], [`background`], [`plain_text`], [`wording`].

mod background;
pub(crate) mod bash;
pub(crate) mod box_words;
mod folder;
mod follow;
pub(crate) mod interpreter;
pub mod plain_text;
mod process;
pub(crate) mod wording;

use std::sync::Arc;

use neco_config::section::ToolsSection;
use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;

use background::Processes;
use bash::Bash;
use process::Process;

/// The shell tools of one agent. Its background processes end when the last of them is dropped.
pub fn tools(settings: &ToolsSection) -> Vec<Arc<dyn DynTool>> {
    let processes = Arc::new(Processes::default());
    vec![erase(Bash::new(settings, Arc::clone(&processes))), erase(Process::new(processes))]
}
