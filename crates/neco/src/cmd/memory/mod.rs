//! `neco memory`: what is remembered, in a person's hands.
//!
//! Reading order: [`mod@run`], [`list`], [`add`], [`change`].

mod add;
mod change;
mod list;
mod run;

pub use add::{note, remember, value};
pub use run::{has_entries, run};
