//! What happened, as blocks: the finished ones leave for the terminal's scrollback in order, the rest is alive.
//!
//! Invariants: blocks leave in the order they came, so a finished call waits for one before it that
//! still runs; what has left takes no memory any more; all text of models, tools and files has passed
//! [`neco_proto::clean`] before it is drawn.
//!
//! Reading order: [`block`] (what there is), [`tail`] (the end of an output), [`card`] (a call), [`counting`] (what of it counts), [`notices`] (what is told in a line), [`entry`] (a block in its place), [`folding`] (events into blocks).

pub mod block;
pub mod card;
mod counting;
mod entry;
mod folding;
mod notices;
pub mod tail;

pub use block::Block;
pub use card::Card;
pub use folding::Transcript;
pub(crate) use notices::warning_of;
