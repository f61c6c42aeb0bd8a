//! `neco demo`: a whole task, offline: a scripted model, everything else real.
//!
//! Invariants: nothing of the person's is touched: project, settings and sessions live in a temporary
//! folder; it succeeds only if the test of the sample project passes when the demo itself runs it; it
//! never passes the script off as a model.
//!
//! Reading order: [`project`] (the sample), [`script`] (what the model says), [`show`].

mod project;
mod script;
mod show;

pub use show::run;
