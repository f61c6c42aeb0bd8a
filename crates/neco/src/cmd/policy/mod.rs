//! `neco policy`: which rules are in force, what they come to, and whether they say what is meant.
//!
//! Reading order: [`mod@run`], [`explain`], [`mod@test`], [`remove`].

mod explain;
mod remove;
mod run;
mod test;

pub use run::run;
