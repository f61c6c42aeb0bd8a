//! `neco model`: which models there are, what is known of one, and whether it works.
//!
//! Invariants: nothing but `test` sends anything to a vendor; no key is ever shown.
//!
//! Reading order: [`mod@run`], [`facts`] (what is known, in words), [`list`], [`show`], [`mod@test`].

mod facts;
mod list;
mod run;
mod show;
mod test;

pub use list::as_lines;
pub use run::run;
