//! `neco memory`: what is remembered, in a person's hands.
//!
//! Reading order: [`mod@run`], [`list`], [`add`], [`change`].

mod add;
mod change;
pub mod list;
mod run;

pub use add::{note, said, value};
pub use run::{has_entries, run};
