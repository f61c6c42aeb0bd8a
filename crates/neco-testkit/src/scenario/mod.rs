//! Scenarios: conversations that must play exactly so.
//!
//! Reading order: [`parse`] (the file format), [`script`] (what the model will answer), [`mod@play`]
//! (the performance), [`expect`] (what must have happened), [`mod@record`] (its log for other tests).

mod expect;
mod parse;
mod play;
mod record;
mod script;

pub use parse::{Cue, Scenario, Setup};
pub use play::{play, play_by};
pub use record::recorded;
