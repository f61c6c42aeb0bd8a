//! Skills: guides for a kind of task, of which a model is told the name and what for, and which it, the person or the
//! words of a request bring in.
//!
//! Invariants: what a skill says enters the conversation as it was when it was opened, once; while it is in use it can
//! only narrow what may be called, until the request ends; what it brought in is told again when the conversation is
//! made shorter.
//!
//! Reading order: [`shelf`] (where they come from), [`mod@lines`] (what a model is told of them beforehand), [`guard`]
//! (the hooks of one that an agent was started for), [`in_use`] (what those in use mean for whoever is started). What is
//! in use is the runner's.

mod guard;
mod in_use;
mod lines;
mod shelf;

pub use guard::SkillGuard;
pub use in_use::{InUse, SkillLimit};
pub(crate) use lines::{all_lines, lines};
pub use shelf::{OpenedSkill, SkillLine, SkillModels, SkillShelf, SkillWish, SkillsUsed};

/// What stands for all skills where one is looked up by its name.
pub(crate) const ALL_SKILLS: &str = "skills";

/// The tool that brings in a skill.
pub const SKILL: &str = "skill";
