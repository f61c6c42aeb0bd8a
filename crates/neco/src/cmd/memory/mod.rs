//! `neco memory`: what is remembered, in a person's hands.
//!
//! Reading order: [`mod@run`], [`add`], [`change`].

mod add;
mod change;
mod run;

pub use add::{note, value};
pub use run::run;
