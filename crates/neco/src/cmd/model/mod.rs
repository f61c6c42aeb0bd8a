//! `neco model`: which models there are, what is known of one, and whether it works.
//!
//! Invariants: nothing but `test` sends anything to a vendor; no key is ever shown.
//!
//! Reading order: [`mod@run`], [`list`], [`show`], [`mod@test`].

mod list;
mod run;
mod show;
mod test;

pub use run::run;
