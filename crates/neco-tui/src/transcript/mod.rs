//! What happened, as rows: what is over leaves for the terminal's scrollback in order, the rest is alive.
//!
//! Invariants: the facts and sentences are the view's, here is only how they are drawn; blocks leave in the order in which
//! they are seen, so a finished call waits for one before it that still runs; what has left takes no memory any more; all
//! text of models, tools and files has passed [`neco_proto::clean`] before it is drawn.
//!
//! Reading order: [`ledger`] (columns), [`start`] (the first rows), [`block`] (words and lines), [`tail`] (the end of an output), [`card`] (a call),
//! [`looks`] (calls that only look), [`done`] (the end of work), [`entry`] (a block in its place), [`scroll`] (what is alive,
//! and what leaves), [`remembered`] (of which more can be shown).

pub(crate) mod block;
pub(crate) mod card;
mod done;
mod entry;
pub(crate) mod ledger;
mod looks;
mod remembered;
mod scroll;
pub(crate) mod start;
pub(crate) mod tail;

pub(crate) use scroll::Transcript;
