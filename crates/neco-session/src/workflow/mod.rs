//! Workflows: tasks that depend on each other, run as far apart as their order allows.
//!
//! Invariants: a workflow that begins is one whose every task can be reached, whose every input is
//! there and whose every template reads only what is finished before it; a task runs only when all it
//! needs is completed, and never twice at a time; what is recorded of a run is enough to go on with it;
//! every change is on the disk before anything is done about it; what is next follows from the graph and
//! the states alone.
//!
//! Reading order: [`definition`] (what is written), [`graph`] with [`checks`] (what it means), [`names`] (whether what it names exists), [`schedule`]
//! (what happens next), [`template`] with [`scope`] and [`limits`] (what a task is told), [`hands`] (what does tasks), [`runner`] (a
//! workflow at work), [`board`] (what the log says), [`places`] (where workflows are), [`desk`] (the workflows
//! of a session, and which runs there are), [`agents`] (tasks as agents of
//! the tree), [`tool`] (the model's way to them), [`error`].

mod agents;
mod board;
#[cfg(test)]
mod builtin_tests;
mod checks;
mod definition;
mod desk;
mod error;
mod graph;
mod hands;
mod limits;
mod names;
mod places;
mod runner;
mod schedule;
mod scope;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod tool;

pub(crate) use agents::OneCall;
pub(crate) use agents::TreeHands;
pub(crate) use board::{Board, cancelled};
pub use definition::{Failure, Form, Limits, Retry, TaskEntry, Work, WorkflowFile};
pub use desk::RunFiles;
pub(crate) use desk::{CheckNames, DeskSetup, MakeHands, WorkflowDesk};
pub use error::WorkflowError;
pub use graph::Graph;
pub use hands::{Begun, Hands, RealTime, Record, TaskCall, TaskError};
pub use names::KnownNames;
pub use places::{FoundWorkflow, WorkflowPlaces};
pub use runner::{RunnerSetup, run};
pub use schedule::{Happened, Moved, Schedule, Step};
pub use template::Values;
pub use tool::WorkflowTool;
