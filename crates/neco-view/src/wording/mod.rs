//! Sentences for people, each worded once.
//!
//! Reading order: [`notices`] (what is told in a line), [`calls`] (why a call failed), [`ending`] (how the work ended).

pub mod calls;
pub mod ending;
pub mod notices;
