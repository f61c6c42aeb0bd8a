//! Sentences for people, each worded once.
//!
//! Reading order: [`told`] (a line and how it is meant), [`notices`] (what is told in a line), [`calls`] (why a call failed), [`rewind`] (what going back would change), [`ending`] (how the work ended), [`prompts`] (what commands after a slash say to the agent).

pub mod calls;
pub mod ending;
pub mod notices;
pub mod prompts;
pub mod rewind;
pub mod told;

pub use told::Told;
