//! Search engines: what each is asked, and how its answer reads.
//!
//! Whatever one answers, a result is a web address with a title and an extract, both
//! plain text on one line.
//!
//! Reading order: [`hit`], [`ask`], [`json`], [`duckduckgo`].

mod ask;
mod duckduckgo;
mod hit;
mod json;

pub(super) use ask::{Engine, Refusal};
pub(super) use hit::Hit;
pub use json::SEARCH_KEY;
