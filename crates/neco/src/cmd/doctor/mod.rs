//! `neco doctor`: what is there, what is missing, and how to put it right.
//!
//! Reading order: [`mod@run`], [`report`].

mod report;
mod run;

pub use report::{as_lines, end};
pub use run::run;
