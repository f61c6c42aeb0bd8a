//! Blocks as lines of text.
//!
//! Reading order: [`notice`] (what is told in a line), [`card`] (a call) with [`diff`] and [`tail`], [`plan`], [`agents`], [`workflow`], [`end`] (the last lines of the work), [`conversation`] (a session that is read).

pub mod agents;
pub mod card;
pub mod conversation;
pub mod diff;
pub mod end;
pub mod notice;
pub mod plan;
pub mod tail;
pub mod workflow;
