//! The life of every tool call of one agent.
//!
//! Invariants: every call of a turn ends with exactly one result, whatever happens to it; reads of
//! one turn run together, a call that writes or runs something runs alone, in the model's order,
//! after everything before it; nothing that writes or runs starts before the mark that it is about
//! to is on the disk; a stopped call's processes are dead before its result is given.
//!
//! Reading order: [`call`] (the states), [`validate`], [`order`], [`gated`], [`approve`] and [`waiting`] (a person's answer),
//! [`ahead`] (what will be asked next),
//! [`kept`] (the workspace before it), [`execute`], [`wished`] (what a call wants of the agent), [`acting`] (what the person is
//! told of files that act later), [`live`], [`asking`] (what calls ask the person while they run), [`progress`] (what comes of
//! calls), and [`schedule`], which moves calls from one to the next.

mod acting;
mod ahead;
mod approve;
mod asking;
mod call;
mod changes;
mod execute;
mod gated;
mod kept;
mod live;
mod order;
mod progress;
mod schedule;
#[cfg(test)]
mod stand_ins;
mod validate;
mod waiting;
mod wished;

pub use approve::{CallError, action};
pub use asking::{AskedByCall, Asking};
pub use call::Outcome;
pub use live::Live;
pub use progress::{Counts, Progress, Record};
pub use schedule::{Limits, Scheduler};
pub use validate::CutOff;
pub use wished::Fulfilled;
