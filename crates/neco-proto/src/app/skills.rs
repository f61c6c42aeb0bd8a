//! Skills: which there are, what one says, what is wrong with them, and new ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::Problem;
use super::origin::Origin;
use super::plugins::BroughtRow;
use super::request::request;

/// Lists the skills for work in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListSkills {
    /// The folder.
    pub folder: String,
}

request!(ListSkills => SkillList, "skills.list", Get "/skills", Read, repeatable);

/// Skills, and those that can't be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillList {
    /// The skills, those that count first.
    pub skills: Vec<SkillRow>,
    /// Those that can't be used, each with why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Problem>,
    /// What is to be said of folders that were not looked through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A skill, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillRow {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whose it is.
    pub origin: Origin,
    /// Its file.
    pub file: String,
    /// Whether it can be used: one of a folder that is not trusted can't.
    pub trusted: bool,
    /// Whether the person has it switched off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// What may be written behind its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument: String,
    /// Whether the model uses it by itself.
    pub by_model: bool,
    /// Whether a person can have it used.
    pub by_person: bool,
    /// The file of the skill of the same name that counts in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<String>,
    /// Where it was added from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Shows a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowSkill {
    /// The folder that is worked in.
    pub folder: String,
    /// The name.
    pub name: String,
}

request!(ShowSkill => ShownSkill, "skills.show", Get "/skills/{name}", Read, repeatable);

/// All of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownSkill {
    /// What it is.
    #[serde(flatten)]
    pub skill: SkillRow,
    /// The only calls that are made while it is in use, as rules are written; none for no limit.
    pub allowed_tools: Option<Vec<String>>,
    /// The model that is asked while it is in use.
    pub model: Option<String>,
    /// Who does it, where that is an agent of its own.
    pub agent: Option<String>,
    /// Whether it brings hooks.
    pub hooks: bool,
    /// The files beside its text.
    pub files: Vec<String>,
    /// Its text.
    pub text: String,
}

/// Looks for what is wrong with skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckSkills {
    /// The folder that is worked in.
    pub folder: String,
    /// Folders of skills, their files, or their names; all that there are in the folder when there are none.
    pub files: Vec<String>,
}

// It reads any path.
request!(CheckSkills => CheckedSkills, "skills.check", Post "/skills/check", Manage, repeatable);

/// What is wrong with skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedSkills {
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Writes a new skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NewSkill {
    /// The folder that is worked in.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is the project's, and not the person's own.
    pub project: bool,
}

request!(NewSkill => WrittenSkills, "skills.new", Post "/skills", Manage, once);

/// Fetches skills and says what they run; nothing of them counts yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LookAtSkills {
    /// The folder that is worked in.
    pub folder: String,
    /// A folder, or the address of a git repository.
    pub from: String,
    /// Only these, by name; all where there is one, or where `all` is said.
    pub names: Vec<String>,
    /// All that are there.
    pub all: bool,
}

// It reads any path and asks any address.
request!(LookAtSkills => LookedAtSkills, "skills.look", Post "/skills/look", Manage, repeatable);

/// Skills that could be taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LookedAtSkills {
    /// The skills and their hooks.
    pub brings: Vec<BroughtRow>,
    /// What they are, to the byte: a yes is a yes to this.
    pub seen: String,
}

/// Takes over skills that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddSkills {
    /// The folder that is worked in.
    pub folder: String,
    /// A folder, or the address of a git repository.
    pub from: String,
    /// Only these, by name; all where there is one, or where `all` is said.
    pub names: Vec<String>,
    /// All that are there.
    pub all: bool,
    /// What was seen: nothing else is taken over.
    pub seen: String,
    /// Whether they are the project's, and not the person's own.
    pub project: bool,
}

// It reads any path and asks any address.
request!(AddSkills => WrittenSkills, "skills.add", Post "/skills/add", Manage, once);

/// Skills that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenSkills {
    /// Their files.
    pub files: Vec<String>,
}

/// Fetches a skill that was added anew and says what is other in it; nothing is taken over yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LookAtSkillUpdate {
    /// The file of the skill.
    pub file: String,
}

// It asks any address.
request!(LookAtSkillUpdate => SkillUpdate, "skills.update.look", Post "/skills/update/look", Manage, repeatable);

/// What is other in a skill where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillUpdate {
    /// What is other, with the lines of files that changed.
    pub changes: Vec<String>,
    /// Whether it was changed here since it was taken over: an update takes that back.
    pub edited: bool,
    /// What it is there and here, to the byte: a yes is a yes to this.
    pub seen: String,
}

/// Takes over what is other in a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpdateSkill {
    /// The file of the skill.
    pub file: String,
    /// What was seen: nothing else is taken over.
    pub seen: String,
}

// It asks any address.
request!(UpdateSkill => WrittenSkills, "skills.update", Post "/skills/update", Manage, once);

/// Switches a skill on or off in the person's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SwitchSkill {
    /// The folder that is worked in.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub enabled: bool,
}

request!(SwitchSkill => SwitchedSkill, "skills.switch", Post "/skills/{name}/switch", Manage, repeatable);

/// Where it is written that a skill is on or off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SwitchedSkill {
    /// Its name.
    pub name: String,
    /// The file of settings, as people write it.
    pub file: String,
}

/// Says what would go with a skill of the person's own; nothing is removed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LookAtSkillRemoval {
    /// The folder that is worked in.
    pub folder: String,
    /// The skill, by its name.
    pub name: String,
}

request!(
    LookAtSkillRemoval => SkillRemoval,
    "skills.remove.look", Get "/skills/{name}/removal", Read, repeatable
);

/// What goes with a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillRemoval {
    /// Its folder, or the link to it.
    pub at: String,
    /// Where the link leads, whose files stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// The files that go.
    pub files: Vec<String>,
    /// What goes: a yes is a yes to this.
    pub seen: String,
}

/// Removes a skill of the person's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveSkill {
    /// The folder that is worked in.
    pub folder: String,
    /// The skill, by its name.
    pub name: String,
    /// What was seen: nothing else is removed.
    pub seen: String,
}

request!(RemoveSkill => SkillRemoval, "skills.remove", Delete "/skills/{name}", Manage, once);
