//! The state of the window: what happened, what is asked, what is being written, how the session stands.
//!
//! Invariants: nothing here waits, reads a clock or touches the terminal; the same events and keys give the
//! same state.
//!
//! Reading order: [`watched`] (one of the agents, opened), [`shell`] (command lines of the person), [`person`] (who is at
//! the keys), [`picker`] (lists to choose from), [`facing`] (who the keys are for while something is asked), [`purpose`]
//! (whose the field is), [`detaching`] (a session on its way into the background), [`secret`] (a key that is being typed), [`diff_screen`] (what was changed), [`state`] (all of it
//! together, with the view of the session in its transcript), [`past`] (what happened before the window opened).

mod background;
mod detaching;
mod diff_screen;
pub(crate) mod facing;
mod past;
mod person;
pub(crate) mod picker;
mod purpose;
mod secret;
mod shell;
pub(crate) mod state;
mod watched;

pub use background::Background;
pub use detaching::Detaching;
pub use diff_screen::DiffScreen;
pub(crate) use facing::Place;
pub(crate) use person::Person;
pub use picker::Reach;
pub(crate) use picker::{Picked, Picker};
pub use purpose::Purpose;
pub(crate) use purpose::settle_field;
pub use secret::SecretEntry;
pub(crate) use secret::{dots, looks_like_key};
pub use state::{RewindWanted, WindowState};
pub(crate) use watched::Watched;
