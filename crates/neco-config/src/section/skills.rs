//! Skills: guides for a kind of task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Skills: guides for a kind of task; see docs/skills.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SkillsSection {
    /// Further folders of skills, besides `skills` beside these settings, `~/.agents/skills`, `~/.claude/skills` and those
    /// of a project; `~/` is the home folder, and a relative one lies beside these settings.
    #[schemars(inner(length(min = 1)))]
    pub folders: Vec<String>,
}
