//! A first model: what is found is offered in the window itself, tried with one call, and written to the settings.
//!
//! The window sees a session like any other: questions, answers, notes. No log is kept of it, and no key ever goes
//! through it: keys are typed at the bare terminal, unseen. What there is, what answers and what is kept is asked of the
//! program.
//!
//! Reading order: [`offers`] (what there is to choose from), [`list`] (how that is shown), [`stand_in`] (the session that
//! the window sees), [`talk`] (what is asked and tried), [`window`].

pub(crate) mod list;
mod offers;
mod stand_in;
mod talk;
mod window;

pub use talk::Talked;
pub use window::run;
