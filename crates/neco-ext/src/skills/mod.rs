//! Skills: folders with a `SKILL.md`, whose name and description a model is told and whose text is read when it is used.
//!
//! Invariants: a start reads no more of a skill than its head, and nothing of one whose file is as it was; nothing
//! outside a skill's folder is read for it, whatever links it has; a skill of a repository is on no list and is not read
//! to anybody unless it is, to the byte, what a person trusted; a skill never lets an agent do more than its rules do.
//!
//! Reading order: [`head`] (what the top of the file says), [`mod@find`] (where skills are) with [`kept`] (what is known of
//! their files) and [`crate::folder_files`] (what lies beside it), [`triggers`], [`body`] (what the model is told), [`shelf`] (the
//! skills of a session) with [`skill_hooks`], [`mod@check`] and [`mod@write`] (for whoever writes one), [`added`] (where
//! those come from that were added).

mod added;
mod body;
mod check;
mod find;
mod head;
mod kept;
mod shelf;
mod skill_hooks;
mod triggers;
mod write;

use crate::folder_files::Limits;

pub use added::{AddedSkill, AddedSkills};
pub use check::{SkillProblem, check};
pub use find::{
    Chosen, FoundSkills, Skill, SkillNotice, SkillOrigin, SkillPlace, find, guard, hooks_brought, look, places,
    read_as_found, read_one, whole,
};
pub use head::{Head, HeadError, LONGEST_DESCRIPTION, LONGEST_NAME, argument_names, is_name, tools};
pub use shelf::{MakeHooks, Skills};
pub use skill_hooks::{SkillHooksError, of_text as hooks_of, text_of};
pub use write::{SkillWriteError, copy_to, new_in, replace};

/// The file of a skill in its folder.
pub const FILE: &str = "SKILL.md";

/// The most that the folder of a project's skill may hold: trust is in all of it, as all of it can be run.
pub const TRUSTED: Limits = Limits { files: 2000, depth: 12, bytes: 32 * 1024 * 1024, left_out: &[] };

/// The most of a skill that is shown, named or copied: without what programs and version control keep there.
pub const LIMITS: Limits =
    Limits { files: 500, depth: 6, left_out: &[".git", "node_modules", "__pycache__", ".venv"], ..TRUSTED };
