//! What is done without asking because of rules, told without a call: what a person allowed for the session, how many
//! rules allow something, and whether edits are among it.

use neco_proto::{Risk, ToolOrigin};
use serde_json::json;

use super::action::{Action, SideEffect, Who};
use super::judge::Policy;
use super::rule::{Rule, Ruling, Source};

/// The tool that stands for every edit, and a file that no rule means by its name.
const EDITS: &str = "edit_file";
const ORDINARY: &str = "an ordinary file";

impl Policy {
    /// What a person allowed for this session, in the words that they were asked in, oldest first.
    #[must_use]
    pub fn granted(&self) -> Vec<String> {
        let is_granted =
            |rule: &&Rule| rule.source == Source::Session && rule.decision == Ruling::Allow && !rule.kept && !rule.lent;
        // What was allowed last is looked at first.
        self.rules().iter().rev().filter(is_granted).map(Rule::title).collect()
    }

    /// How many rules of files, flags and answers allow somebody something here. A project's allow nothing.
    #[must_use]
    pub fn allowing(&self, who: &Who<'_>) -> usize {
        let is_own = |source: Source| match source {
            Source::User | Source::CommandLine | Source::Session => true,
            Source::BuiltIn | Source::Project => false,
        };
        let allows = |rule: &&Rule| rule.decision == Ruling::Allow && is_own(rule.source);
        self.rules().iter().filter(allows).filter(|rule| rule.when.holds_here(who, self.place())).count()
    }

    /// Whether ordinary files of the workspace are edited without asking.
    #[must_use]
    pub fn edits_unasked(&self, who: &Who<'_>) -> bool {
        let (paths, arguments) = ([self.place().workspace.join(ORDINARY)], json!({ "path": ORDINARY }));
        let edit = Action::plain(EDITS, ToolOrigin::BUILT_IN, &arguments, SideEffect::Writes);
        self.judge(&Action { risk: Risk::Medium, paths: &paths, ..edit }, who).ruling == Ruling::Allow
    }
}
