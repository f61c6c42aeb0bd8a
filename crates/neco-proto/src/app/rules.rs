//! The rules about what may happen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;
use crate::mode::{ApprovalMode, Mode, Risk, RuleSource, Ruling};

/// Rules and folders that come with a question, as flags of a run do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GivenRules {
    /// What is allowed without asking, such as `bash(git log *)`.
    pub allow: Vec<String>,
    /// What is asked about.
    pub ask: Vec<String>,
    /// What is refused.
    pub deny: Vec<String>,
    /// Folders that are open besides the one worked in.
    pub add_dir: Vec<String>,
}

/// Lists the rules in force in a folder, in the order in which they are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListRules {
    /// The folder.
    pub folder: String,
    /// Rules besides those that are written down.
    pub given: GivenRules,
}

request!(ListRules => RuleList, "rules.list", Get "/rules", Read, repeatable);

/// The rules in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleList {
    /// The rules.
    pub rules: Vec<RuleRow>,
    /// Files of rules that are not in force, as the folder is not trusted.
    pub untrusted: Vec<String>,
    /// What is not as it was meant in settings and rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A rule in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleRow {
    /// What it says.
    pub decision: Ruling,
    /// Higher ones are looked at first, within a source.
    pub priority: i32,
    /// Who wrote it.
    pub source: RuleSource,
    /// Where it is written.
    pub place: String,
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// Why it is there, if it says so.
    pub reason: Option<String>,
    /// Which calls it is about.
    pub about: String,
}

/// Says what would happen to a call, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExplainCall {
    /// The folder that is worked in.
    pub folder: String,
    /// Rules besides those that are written down.
    pub given: GivenRules,
    /// The tool, by its own name or another agent's.
    pub tool: String,
    /// Its arguments as a JSON object, or the first of them alone.
    pub arguments: String,
    /// The mode; the one of the settings when that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// When a person is asked; as in the settings when that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalMode>,
    /// Whether nobody could be asked.
    pub no_person: bool,
}

request!(ExplainCall => ExplainedCall, "rules.explain", Get "/rules/explain", Read, repeatable);

/// What would happen to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedCall {
    /// What is to be done with it.
    pub decision: Ruling,
    /// Why.
    pub reason: String,
    /// The rule that decides, by its name or what it says.
    pub rule: String,
    /// Who wrote that.
    pub source: RuleSource,
    /// Where; empty for what has no place.
    pub place: String,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The tool's own name.
    pub tool: String,
    /// The arguments as rules see them.
    pub arguments: String,
    /// The files and folders as rules see them.
    pub paths: Vec<String>,
    /// The commands of a line.
    pub commands: Vec<ExplainedCommand>,
    /// Whether all of the line was understood; none without a command.
    pub understood: Option<bool>,
    /// What rules close in the box of the command.
    pub closed: Vec<String>,
    /// What "for this session" would allow.
    pub session_rule: Option<String>,
    /// What is not as it would be in a run.
    pub notes: Vec<String>,
    /// What is not as it was meant in settings and rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedCommand {
    /// Its words, joined by spaces.
    pub command: String,
    /// How much harm it could do.
    pub risk: Risk,
    /// Why.
    pub because: Option<String>,
}

/// Checks the rules against a file of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestRules {
    /// The folder that is worked in.
    pub folder: String,
    /// Rules besides those that are written down.
    pub given: GivenRules,
    /// The file.
    pub file: String,
}

// It reads any path.
request!(TestRules => TestedRules, "rules.test", Get "/rules/test", Manage, repeatable);

/// How cases come out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedRules {
    /// The cases.
    pub cases: Vec<TestedCase>,
    /// What is not as it was meant in settings and rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How one case comes out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedCase {
    /// Where it is written.
    pub place: String,
    /// What it is called, or the call itself.
    pub name: String,
    /// What is expected.
    pub expected: Ruling,
    /// What it comes to.
    pub decision: Ruling,
    /// Whether that is the same.
    pub ok: bool,
    /// The rule that decides.
    pub rule: String,
    /// Who wrote that.
    pub source: RuleSource,
    /// Why it comes out so.
    pub reason: String,
    /// Where the rule is written; empty for what has no place.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule_place: String,
}

/// Lists the rules that are kept for good: what a person said "always" to, and what they added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListKeptRules {}

request!(ListKeptRules => KeptRules, "rules.kept", Get "/rules/kept", Read, repeatable);

/// Rules that are kept for good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptRules {
    /// The file that they are in.
    pub file: String,
    /// The rules, as they stand there.
    pub rules: Vec<KeptRule>,
}

/// A rule that is kept for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptRule {
    /// Its text in the file.
    pub text: String,
    /// What it says, in one line.
    pub title: String,
}

/// Keeps a rule for good, for work in one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddRule {
    /// The folder that it holds in.
    pub folder: String,
    /// The rule as people write it: `allow bash(cargo test *)`.
    pub rule: String,
}

request!(AddRule => KeptRules, "rules.add", Post "/rules/kept", Manage, repeatable);

/// Takes back rules that are kept for good.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveRules {
    /// Their texts in the file.
    pub rules: Vec<String>,
}

request!(RemoveRules => KeptRules, "rules.remove", Delete "/rules/kept", Manage, repeatable);
