//! Evaluation: tasks with a check, given to models at several tool levels, and how each of them did.
//!
//! Invariants: every run has a fresh folder and a session of its own, and nobody is asked; commands of a task run as a
//! person's own do, in the box; a result is on the disk before the next run begins, so that what was interrupted goes
//! on where it was; what could not be run counts neither for nor against a model.
//!
//! Reading order: [`task`] (what is asked) with [`builtin`], [`plan`] (which runs there are), [`place`] (where one
//! happens), [`attempt`] (one run), [`verify`] (are the tasks themselves sound), [`results`] (what is kept),
//! [`summary`] (what it adds up to).

pub mod attempt;
mod builtin;
mod place;
pub mod plan;
pub mod results;
pub mod summary;
pub mod task;
pub mod verify;

pub use attempt::{Bench, Progress};
pub(crate) use place::is_called_so;
pub use plan::{Grid, RunKey};
pub use results::{Outcome, Results, RunResult};
pub use summary::Summary;
pub use task::{Limits, Task, TaskFile};

/// Settings of every run, which those that a person gives outrank: no model is asked beside the task, nothing of earlier
/// sessions is known, and nothing is kept of folders that are gone in a moment.
pub const SETTINGS: [&str; 3] = ["sessions.model_title=false", "memory.enabled=false", "checkpoints.enabled=false"];
