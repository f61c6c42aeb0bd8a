//! Sentences for people, each worded once.
//!
//! Reading order: [`told`] (a line and how it is meant), [`notices`] (what is told in a line), [`lines`] (the same where
//! there is less room), [`calls`] (why a call failed), [`agents`] (what an agent does), [`answers`] (what a person
//! decided), [`background`], [`rewind`] (what going back would change), [`place`] (what is to be known of a session's folder), [`ending`]
//! (how the work ended), [`layers`] (the parts of a prompt), [`prompts`] (what commands after a slash say to the agent), [`worktrees`].

pub mod agents;
pub mod answers;
pub mod background;
pub mod calls;
pub mod ending;
pub mod layers;
pub mod lines;
pub mod notices;
pub mod place;
pub mod prompts;
pub mod rewind;
pub mod told;
pub mod worktrees;

pub use lines::Tone;
pub use told::Told;
