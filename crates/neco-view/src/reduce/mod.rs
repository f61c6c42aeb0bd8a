//! From events to what people see: a pure reducer, the same for every front end.
//!
//! Invariants: facts only, no sentence is made here; nothing here reads a clock, so the same events give the same view;
//! blocks stand in the order in which they began and keep their ids; an event that is not known changes nothing; what a
//! front end has let go of takes no memory.
//!
//! Reading order: [`block`] (what there is to see), [`view`] (the state, event by event) with [`writing`] (the model's
//! words and calls), [`said`] and [`asked`] (what a person says and is asked) and [`counting`] (what counts after going back), [`standing`] (how the session stands), [`agents`],
//! [`activity`] (what each of them does and did), [`workflows`], [`work`] (what the work adds up to) and [`idle`] (whether all is done); for whoever writes down a whole log, [`outline`] (what lies ahead in
//! it) and [`reader`] (its blocks, one by one).

pub mod activity;
pub mod agents;
mod asked;
pub mod block;
mod counting;
pub mod idle;
pub mod outline;
pub mod reader;
mod said;
pub mod standing;
pub mod view;
pub mod work;
pub mod workflows;
mod writing;

pub use activity::Lane;
pub use agents::Agents;
pub use block::{Block, BlockBody, BlockId};
pub use idle::IdleTracker;
pub use outline::Outline;
pub use reader::{Reader, Seen};
pub use standing::Standing;
pub use view::{Change, View};
pub use work::Work;
