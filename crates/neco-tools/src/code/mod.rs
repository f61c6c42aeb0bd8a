//! Tools on the index of the workspace's code: ranked search, definitions, references, outlines, the map.
//!
//! Invariants: the index is brought up to date before every answer, so that it never tells of what is
//! no longer so; lines are shown as they stand in the files now; nothing is built before it is asked for.
//!
//! Reading order: [`page`], [`search`], [`index`], [`outline`].

mod index;
mod outline;
mod page;
mod search;

use std::sync::Arc;

use neco_toolkit::DynTool;
pub use neco_workspace::index::Indexes;

use crate::files::call::Shared;

/// The tools on the index of one agent; the indexes are shared with all others of the process.
pub fn tools(indexes: &Arc<Indexes>) -> Vec<Arc<dyn DynTool>> {
    let shared = Shared::default();
    vec![shared.tool(index::CodeIndex(Arc::clone(indexes))), shared.tool(search::CodeSearch(Arc::clone(indexes)))]
}
