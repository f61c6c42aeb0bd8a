//! A list to choose from, below the field: sessions, messages to go back to, models, rules, agents.
//!
//! Reading order: [`entry`] (what a list is made of), [`choosing`] (what is chosen in it), [`rows`] (how it is drawn),
//! [`lists`] (those of sessions and models).

mod choosing;
mod entry;
pub(crate) mod lists;
mod rows;

pub use choosing::Picker;
use entry::{Column, Mark};
pub use entry::{Entry, Letters, Picked, Reach};
