//! `neco eval`: tasks with a check, given to models, and how they did.
//!
//! Invariants: what is run was named by the person; results are on the disk before the next run begins; stdout has the
//! table or the JSON alone, progress goes to stderr.
//!
//! Reading order: [`arguments`], [`show`] (from the tasks to the exit code), [`table`].

mod arguments;
mod show;
mod table;

pub use arguments::{EVAL, EvalArgs};
pub use show::run;
