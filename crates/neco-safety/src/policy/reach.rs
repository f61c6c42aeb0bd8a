//! Which paths a command reaches that rules close: by its words, and where those can't tell.

use std::path::PathBuf;

use super::action::SideEffect;
use super::closed::{OnFiles, deciding};
use super::facts::Facts;
use super::judge::Policy;
use super::rule::{Rule, Ruling};
use crate::command::{Examined, Named, Reached};

/// More closed paths than these are counted and not named.
const MOST_NAMED: usize = 8;

impl Policy {
    /// The rule that closes a path which a command names. Rules with paths alone decide that, in their order: allowing a
    /// command allows nothing that it names. Where the box hides the path, only a word that surely is one names it.
    pub(super) fn closes<'p>(&'p self, facts: &Facts<'_>) -> Option<&'p Rule> {
        facts.examined.as_ref().filter(|_| self.denies_paths())?;
        let in_force: Vec<(&Rule, OnFiles)> = self.about_paths(facts).collect();
        let located = facts.action.paths.iter().map(|path: &PathBuf| Reached {
            named: Named::Path(path.clone()),
            changes: false,
            surely: true,
        });
        let closes = |reached: &Reached| {
            let counts = |rule: &&Rule| reached.surely || !is_hidden(rule, facts);
            let reading = closing(&in_force, &reached.named, |effects| effects.reads).filter(counts);
            reading.or_else(|| {
                let changing = || closing(&in_force, &reached.named, |effects| effects.changes).filter(counts);
                reached.changes.then(changing).flatten()
            })
        };
        located.collect::<Vec<_>>().iter().chain(facts.reached()).find_map(closes)
    }

    /// Why nobody can tell whether a command reaches what a rule closes: nothing hides that from it.
    pub(super) fn unclear(&self, facts: &Facts<'_>) -> Option<String> {
        let runs = facts.action.touch == SideEffect::Runs && self.denies_paths();
        let (examined, is_script) = (facts.examined.as_ref(), facts.is_script());
        if !runs || examined.is_none() && !is_script {
            return None;
        }
        let changes_nothing = facts.is_known_safe();
        let reads_nothing = changes_nothing && examined.is_some_and(Examined::tells_names_only);
        let is_open = |(rule, effects): &(&Rule, OnFiles)| {
            let reaches = effects.reads && !reads_nothing || effects.changes && !changes_nothing;
            rule.decision == Ruling::Deny && reaches && !is_hidden(rule, facts)
        };
        let mut closed = Vec::new();
        for (rule, _) in self.about_paths(facts).filter(is_open) {
            add_written(rule, &mut closed);
        }
        let why = match facts.has_hiding_box() {
            true => "the rule does not always hold, so the sandbox does not hide it",
            false => "no sandbox hides it from commands",
        };
        let (some, it) = (some_of(&closed), if closed.len() == 1 { "it" } else { "them" });
        let what = if is_script { "script" } else { "command" };
        (!closed.is_empty())
            .then(|| format!("a rule closes {some}, nobody can tell whether this {what} reaches {it}, and {why}"))
    }

    /// What rules close in the box of a command, as it was written.
    pub(super) fn closed_in_box(&self, facts: &Facts<'_>) -> Vec<String> {
        let mut closed = Vec::new();
        if facts.examined.is_none() {
            return closed;
        }
        let rules = self.about_paths(facts).map(|(rule, _)| rule);
        for rule in rules.filter(|rule| rule.decision == Ruling::Deny && is_hidden(rule, facts)) {
            add_written(rule, &mut closed);
        }
        closed
    }

    /// Whether there is anything to be looked at: most have no such rule.
    fn denies_paths(&self) -> bool {
        self.rules().iter().any(|rule| rule.decision == Ruling::Deny && !rule.when.paths.is_empty())
    }

    /// The rules in force that are about paths and nothing else, in their order.
    fn about_paths<'p>(&'p self, facts: &Facts<'_>) -> impl Iterator<Item = (&'p Rule, OnFiles)> {
        let rules = self.rules().iter().filter(|rule| !rule.when.paths.is_empty() && rule.counts_for_paths());
        let rules = rules.map(|rule| (rule, rule.when.effects()));
        rules.filter(|(rule, effects)| effects.of_commands() && rule.when.holds_for(facts))
    }
}

/// Adds the paths that a rule closes, as they were written. One path is several patterns: itself, what is below it, and
/// for a bare name the same anywhere.
fn add_written(rule: &Rule, closed: &mut Vec<String>) {
    fn core(shown: &str) -> &str {
        let shown = shown.strip_prefix("**/").unwrap_or(shown);
        shown.strip_suffix("/**").unwrap_or(shown).trim_end_matches('/')
    }
    let mut own: Vec<String> = Vec::new();
    for shown in rule.when.paths.iter().map(ToString::to_string) {
        if !own.iter().any(|other| core(other) == core(&shown)) {
            own.push(shown);
        }
    }
    own.retain(|shown| !closed.contains(shown));
    closed.append(&mut own);
}

/// The names in words, as many as are worth reading.
pub fn some_of(names: &[String]) -> String {
    let (named, others) = names.split_at(names.len().min(MOST_NAMED));
    match others.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Whether the box of the command hides what a rule closes.
fn is_hidden(rule: &Rule, facts: &Facts<'_>) -> bool {
    facts.has_hiding_box() && rule.when.holds_throughout(facts.who.role, &facts.place.workspace)
}

fn closing<'p>(rules: &[(&'p Rule, OnFiles)], named: &Named, about: impl Fn(OnFiles) -> bool) -> Option<&'p Rule> {
    let fits = |rule: &Rule| rule.when.paths.iter().any(|pattern| pattern.is_named_by(named));
    // What opens some of what a pattern may find does not open the rest.
    let counts = |rule: &Rule| rule.decision == Ruling::Deny || matches!(named, Named::Path(_));
    let fitting = rules.iter().filter(|(rule, effects)| about(*effects) && counts(rule) && fits(rule));
    let decided = deciding(fitting, |(rule, _)| (rule.source, rule.decision));
    decided.map(|(rule, _)| *rule).filter(|rule| rule.decision == Ruling::Deny)
}
