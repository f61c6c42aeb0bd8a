//! Searching what was said: questions, hits, and the parts of an event that are searched.
//!
//! Every backend finds the same: all words of a question stand in one message, tool result or title,
//! the newest first. A word matches its inflected forms, a word between quotes only with its
//! neighbours, `word*` every word that begins so. Scripts without spaces are found by any two
//! characters that stand together.
//!
//! Reading order: `query` (what is asked and found), `terms` (a question cut up), `text` (what of an event is
//! searched), `snippet` (the words around a hit).

mod query;
pub(crate) mod snippet;
pub(crate) mod terms;
pub(crate) mod text;

pub use query::{SearchCursor, SearchHit, SearchQuery, Snippet};
