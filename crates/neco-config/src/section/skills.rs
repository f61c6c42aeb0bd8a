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
    /// Skills that are off, by name: neither the model nor you can have them used. `neco skill disable NAME` adds one.
    #[schemars(inner(length(min = 1)))]
    pub off: Vec<String>,
    /// Whether a request that has words of a skill's description brings that skill in.
    pub by_words: bool,
}
