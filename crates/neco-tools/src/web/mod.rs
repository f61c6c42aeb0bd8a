//! Tools that read the web.
//!
//! Invariants: everything goes through [`neco_safety::world::Net`]; what a page or a search engine says is
//! data, marked as such; nothing that a page holds, however it is nested or encoded, costs more than its
//! size; what a person would not see on a page the model does not read either.
//!
//! Reading order: [`fetch`], [`page`], [`readable`], [`dom`], [`search`], [`engine`].

mod dom;
mod engine;
mod fetch;
mod page;
mod readable;
mod search;

use std::sync::Arc;

use neco_config::section::ToolsSection;
use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;

use fetch::WebFetch;
use search::WebSearch;

pub use engine::SEARCH_KEY;

/// The web tools of one agent, with a cache of their own.
pub fn tools(settings: &ToolsSection) -> Vec<Arc<dyn DynTool>> {
    vec![erase(WebFetch::new(&settings.web_fetch)), erase(WebSearch::new(&settings.web_search))]
}
