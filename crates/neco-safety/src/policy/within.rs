//! What a skill that is in use leaves of what may be called: it narrows every verdict, and opens nothing.

use std::path::PathBuf;

use super::action::SideEffect;
use super::facts::Facts;
use super::judge::{Policy, Verdict};
use super::pattern::CommandPattern;
use super::read::RuleReader;
use super::rule::{Fit, Rule, Ruling, fit};
use crate::command::Place;

/// Calls that touch nothing but the agent itself: no skill takes them away.
const ALWAYS: [&str; 11] = [
    "skill",
    "activate",
    "call",
    "todo_write",
    "ask_user",
    "enter_plan_mode",
    "exit_plan_mode",
    "complete_task",
    "report",
    "state_get",
    "state_set",
];

/// What a skill leaves of what may be called.
#[derive(Clone, Debug, Default)]
pub struct Within {
    /// The skill.
    name: String,
    /// What it leaves, as it is written.
    told: Vec<String>,
    /// The same as rules that allow.
    rules: Vec<Rule>,
    /// Folders that may be read all the same: those of all skills in use.
    readable: Vec<PathBuf>,
}

impl Within {
    /// What the skill of a name leaves, as rules are written, for work in a place; these folders may be read.
    pub fn new(name: String, told: Vec<String>, readable: Vec<PathBuf>, place: &Place) -> Self {
        let reader = RuleReader { place };
        let tools = told.iter().map(String::as_str).chain(ALWAYS);
        let rules = tools.flat_map(|tool| reader.flag(Ruling::Allow, tool).rules).collect();
        Self { name, told, rules, readable }
    }
}

impl Policy {
    /// Only what is within each of these may be called while skills are in use, as far as other rules let it.
    pub fn keep_within(&mut self, within: Vec<Within>) {
        self.within = within;
    }

    /// Only what is within this may be called for good.
    pub fn bound(&mut self, within: Within) {
        self.bounds.push(within);
    }

    /// The verdict, if the call is within what every skill leaves; a denial else.
    pub(super) fn narrowed(&self, verdict: Verdict, facts: &Facts<'_>) -> Verdict {
        let mut limits = self.bounds.iter().chain(&self.within);
        let Some(within) = limits.find(|within| !within.holds(facts)) else { return verdict };
        if verdict.ruling == Ruling::Deny && !verdict.unasked {
            return verdict;
        }
        let left = if within.told.is_empty() { "no tools at all".to_owned() } else { within.told.join(", ") };
        let reason = format!("the skill {} is in use, and its allowed-tools leave only: {left}", within.name);
        Verdict { ruling: Ruling::Deny, unasked: false, reason, ..verdict }
    }
}

impl Within {
    fn holds(&self, facts: &Facts<'_>) -> bool {
        if self.reads_their_files(facts) {
            return true;
        }
        let mut allowed: Vec<&CommandPattern> = Vec::new();
        for rule in &self.rules {
            match rule.leaves(facts) {
                Fit::No => {}
                Fit::Yes => return true,
                // Several of them may leave a line together.
                Fit::InPart => allowed.extend(&rule.when.commands),
            }
        }
        let line = facts.action.command.unwrap_or_default();
        !allowed.is_empty() && facts.examined.as_ref().is_some_and(|examined| fit(&allowed, examined, line) == Fit::Yes)
    }

    fn reads_their_files(&self, facts: &Facts<'_>) -> bool {
        let is_theirs = |path: &PathBuf| self.readable.iter().any(|folder| path.starts_with(folder));
        let paths = facts.action.paths;
        facts.action.touch == SideEffect::Reads && !paths.is_empty() && paths.iter().all(is_theirs)
    }
}
