//! Search engines: what each is asked, and how its answer reads.
//!
//! Whatever one answers, a result is a web address with a title and an extract, both
//! plain text on one line.
//!
//! Reading order: [`ask`], [`json`], [`duckduckgo`].

mod ask;
mod duckduckgo;
mod json;

pub(super) use ask::Hit;
pub(super) use ask::{Engine, Refusal};
pub use json::SEARCH_KEY;
