//! The state of the window: what happened, what is asked, what is being written, how the session stands.
//!
//! Invariants: nothing here waits, reads a clock or touches the terminal; the same events and keys give the
//! same state.
//!
//! Reading order: [`standing`] (how the session stands), [`agents`] (the tree and the workflows), [`watched`] (one of
//! the agents, opened), [`shell`] (command lines of the person), [`person`] (who is at the keys), [`picker`] (lists to
//! choose from), [`facing`] (who the keys are for while something is asked), [`state`] (all of it together).

pub mod agents;
pub mod facing;
pub mod person;
pub mod picker;
pub mod shell;
pub mod standing;
pub mod state;
pub mod watched;

pub use agents::Agents;
pub use facing::{Facing, Place};
pub use person::Person;
pub use picker::{Picked, Picker};
pub use shell::Shell;
pub use standing::Standing;
pub use state::{Purpose, WindowState};
pub use watched::Watched;
