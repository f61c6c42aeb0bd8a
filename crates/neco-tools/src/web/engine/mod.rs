//! Search engines: what each is asked, and how its answer reads.
//!
//! One file an engine. Whatever one answers, a result is a web address with a title and an extract, both
//! plain text on one line.
//!
//! Reading order: [`hit`], [`ask`], then the engines.

mod ask;
mod brave;
mod duckduckgo;
mod exa;
mod hit;
mod searxng;
mod tavily;

pub(super) use ask::Engine;
pub(super) use ask::Refusal;
pub use ask::SEARCH_KEY;
pub(super) use hit::Hit;
