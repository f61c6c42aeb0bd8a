//! `git`: the daily commands of git with results that are short and always in the same form.
//!
//! Invariants: the real git runs, where and as commands do; what only looks starts no program of the
//! repository's own (pager, external diff, text conversion, filter, file watcher), takes no lock and shows
//! nothing that does not lie below the workspace; nothing here pushes, fetches or rewrites history: that is
//! a command, which the policy judges as one.
//!
//! Reading order: [`tool`], [`order`], [`run`], [`answer`], [`status`], [`report`], [`diffs`].

mod answer;
mod diffs;
mod order;
mod report;
mod run;
mod status;
mod tool;

use std::sync::Arc;

use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;

/// The git tool.
pub fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![erase(tool::Git)]
}
