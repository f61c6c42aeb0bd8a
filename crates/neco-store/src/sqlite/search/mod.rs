//! The search index of the store: a database of its own beside it.
//!
//! Invariants: the log is the truth; the index is made from it, lags behind it, and is brought up to date
//! before anything is searched. So it costs an append nothing, a full disk or a damaged index harms no
//! session, and what a killed process left undone is done by the next search. Sessions of older versions
//! are taken in the same way.
//!
//! Where a hit stands in time is its number in the index: the newest hits come first without sorting, and a
//! span of time is a span of numbers. The folder of a session is a word of its texts.
//!
//! Reading order: `index` (the face), `catch_up` (from the log), `entry` (one text), `find`.

mod catch_up;
mod entry;
mod find;
mod index;

pub(super) use index::SearchIndex;
