//! The judgement: what is never done, then the first rule that fits.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use neco_proto::{ErrorCode, Risk, ToolOrigin};

use super::action::{Action, SideEffect, Who};
use super::facts::Facts;
use super::pattern::CommandPattern;
use super::read::RuleReader;
use super::reasons;
use super::rule::{Fit, Rule, Ruling, Source, fit};
use super::within::Within;
use crate::command::Place;
use crate::tools::Effects;

/// A ruling and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is to be done.
    pub ruling: Ruling,
    /// Whether it is denied only because there is nobody to ask: the rule asks.
    pub unasked: bool,
    /// Why, in words; a line for each thing where a person is asked.
    pub reason: String,
    /// What a person's yes to it opens, in words, each by itself.
    pub opens: Vec<String>,
    /// The code for the model when it is denied.
    pub code: ErrorCode,
    /// How much harm the call could do, its command looked at.
    pub risk: Risk,
    /// How it runs once it is allowed; none for what runs nothing.
    pub held: Option<Held>,
    /// The rule it comes from.
    pub rule: RuleRef,
}

/// How a command runs once it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// In the sandbox.
    pub sandboxed: bool,
    /// In a sandbox that reaches the network.
    pub network: bool,
    /// In a sandbox that is opened to files which are closed otherwise.
    pub opens: bool,
}

/// A rule, as a verdict names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRef {
    /// Its name, or what it says.
    pub title: String,
    /// Who wrote it.
    pub source: Source,
    /// Where; empty for what has no place.
    pub place: String,
    /// Whether a person keeps it for good.
    pub kept: bool,
}

/// The rules in force. Judging is pure: the same call gets the same verdict, in the loop and in an explanation.
#[derive(Clone, Debug)]
pub struct Policy {
    /// In the order in which they are looked at: those of one source lie together. Most policies are the same.
    rules: Arc<Vec<Rule>>,
    place: Place,
    /// Whether every edit is asked about, since commands can't write either.
    reads_only: bool,
    /// What each of the skills in use leaves of all this.
    pub(super) within: Vec<Within>,
    /// What such skills left of it before whoever is judged began.
    pub(super) bounds: Vec<Within>,
}

impl Default for Policy {
    /// The built-in rules alone, in no folder.
    fn default() -> Self {
        Self::new(Place::default(), Vec::new())
    }
}

/// What the rules come to, before it is asked whether there is somebody to ask.
pub(super) struct Decided<'p> {
    pub ruling: Ruling,
    /// The rule that decides; `None` for what is never done.
    pub rule: Option<&'p Rule>,
}

impl Policy {
    /// The built-in rules and these, for a workspace.
    pub fn new(place: Place, rules: Vec<Rule>) -> Self {
        let mut all = built_in_rules();
        if !rules.is_empty() {
            let all = Arc::make_mut(&mut all);
            all.extend(rules);
            all.sort_by(Rule::before);
        }
        Self { rules: all, place, reads_only: false, within: Vec::new(), bounds: Vec::new() }
    }

    /// The same where the sandbox is read-only: every edit is asked about, whatever the approval mode, and also where a
    /// person once allowed edits for the session or for good.
    #[must_use]
    pub fn reading_only(mut self) -> Self {
        let read = RuleReader { place: &Place::default() }.file(READ_ONLY, READ_ONLY_FILE, Source::BuiltIn);
        read.rules.into_iter().for_each(|rule| self.add(rule));
        self.reads_only = true;
        self
    }

    /// The rules in the order in which they are looked at.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Where it judges.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Adds a rule, unless the same is there.
    pub fn add(&mut self, rule: Rule) {
        let same = |other: &Rule| {
            let told = |rule: &Rule| (rule.source, rule.decision, rule.kept, rule.lent, rule.when.to_string());
            told(other) == told(&rule)
        };
        if !self.rules.iter().any(same) {
            // What is kept comes after the same that is not, which opens more.
            let is_before = |order: std::cmp::Ordering| if rule.kept { order.is_le() } else { order.is_lt() };
            let at = self.rules.partition_point(|other| is_before(other.before(&rule)));
            Arc::make_mut(&mut self.rules).insert(at, rule);
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Rule) -> bool) {
        if !self.rules.iter().all(&keep) {
            Arc::make_mut(&mut self.rules).retain(keep);
        }
    }

    /// The rules that a person keeps for good are these now: what was added holds at once, and what was taken back
    /// no longer does, also where it was allowed in this session.
    pub fn renew_kept(&mut self, kept: Vec<Rule>) {
        self.retain(|rule| !rule.kept);
        kept.into_iter().filter(|rule| rule.kept).for_each(|rule| self.add(rule));
    }

    /// May this call happen?
    #[must_use]
    pub fn judge(&self, action: &Action<'_>, who: &Who<'_>) -> Verdict {
        let facts = self.facts(action, who);
        let decided = self.decide(&facts, None);
        self.narrowed(self.verdict(&facts, &decided), &facts)
    }

    /// What is known of a call, and of the rules that close paths.
    pub(super) fn facts<'a>(&'a self, action: &'a Action<'a>, who: &'a Who<'a>) -> Facts<'a> {
        let mut facts = Facts::of(action, who, &self.place);
        if let Some(why) = self.unclear(&facts) {
            facts.make_unclear(why);
        }
        facts
    }

    /// Whether every call of a tool is denied, whatever its arguments: then it need not exist for the model.
    #[must_use]
    pub fn refuses(&self, tool: &str, origin: &ToolOrigin, touch: SideEffect, who: &Who<'_>) -> bool {
        let action = Action::plain(tool, origin, &serde_json::Value::Null, touch);
        let facts = Facts::of(&action, who, &self.place);
        let concerns = |rule: &&Rule| rule.source > Source::BuiltIn && rule.when.concerns(rule.decision, &facts);
        for rule in self.rules.iter().filter(concerns) {
            match (rule.decision, rule.holds_for_every_call()) {
                (Ruling::Deny, true) => return true,
                // It may open some calls.
                (Ruling::Allow | Ruling::Ask, _) if rule.source != Source::Project => return false,
                (Ruling::Allow | Ruling::Ask | Ruling::Deny, _) => {}
            }
        }
        false
    }

    /// What the rules say, as if `extra` were one of them.
    pub(super) fn decide<'p>(&'p self, facts: &Facts<'_>, extra: Option<&'p Rule>) -> Decided<'p> {
        if facts.never().is_some() {
            return Decided { ruling: Ruling::Deny, rule: None };
        }
        if let Some(rule) = self.closes(facts) {
            return Decided { ruling: Ruling::Deny, rule: Some(rule) };
        }
        let first = |sources: RangeInclusive<Source>| self.first(facts, extra, sources);
        // Whoever was asked once and allowed more could not know that nothing is to be written now.
        let is_granted_edit = |rule: &&Rule| {
            let is_granted = rule.decision == Ruling::Allow && (rule.source == Source::Session || rule.kept);
            is_granted && self.holds_back(facts)
        };
        let said = first(Source::CommandLine..=Source::Session);
        let is_granted = said.as_ref().is_some_and(is_granted_edit);
        let said = if is_granted { first(Source::CommandLine..=Source::CommandLine) } else { said };
        if let Some(rule) = said {
            let rule = self.denies_what_was_granted(facts, rule).unwrap_or(rule);
            return Decided { ruling: rule.decision, rule: Some(rule) };
        }
        let own = first(Source::BuiltIn..=Source::User);
        let own = own.and_then(|rule| self.forbids(facts, extra, rule)).or(own);
        let is_kept = own.as_ref().is_some_and(is_granted_edit);
        let own = if is_kept { first(Source::BuiltIn..=Source::BuiltIn) } else { own };
        let own_ruling = own.map_or(Ruling::Ask, |rule| rule.decision);
        match first(Source::Project..=Source::Project) {
            // A project narrows what the user's rules say and never widens it.
            Some(rule) if rule.decision > own_ruling => Decided { ruling: rule.decision, rule: Some(rule) },
            Some(_) | None => Decided { ruling: own_ruling, rule: own },
        }
    }

    /// Whether it is an edit where the sandbox is read-only: each is asked about by itself.
    pub(super) fn holds_back(&self, facts: &Facts<'_>) -> bool {
        self.reads_only && facts.effects().overlap(Effects::WRITES)
    }

    /// The first rule of these sources that fits. Rules that each allow some of a line's commands
    /// together allow the line; the last one that was needed is named.
    fn first<'p>(
        &'p self,
        facts: &Facts<'_>,
        extra: Option<&'p Rule>,
        sources: RangeInclusive<Source>,
    ) -> Option<&'p Rule> {
        let mut allowed: Vec<&CommandPattern> = Vec::new();
        for rule in self.of(sources, extra) {
            match rule.fits(facts) {
                Fit::No => {}
                Fit::Yes => return Some(rule),
                Fit::InPart => {
                    allowed.extend(&rule.when.commands);
                    let line = facts.action.command.unwrap_or_default();
                    let together = facts.examined.as_ref().map(|examined| fit(&allowed, examined, line));
                    if together == Some(Fit::Yes) {
                        return Some(rule);
                    }
                }
            }
        }
        None
    }

    /// The rule that denies what a person allowed for the session: they were never asked about what it is about.
    fn denies_what_was_granted<'p>(&'p self, facts: &Facts<'_>, allows: &Rule) -> Option<&'p Rule> {
        if allows.source != Source::Session || allows.decision != Ruling::Allow {
            return None;
        }
        let denies = |rule: &&Rule| rule.decision == Ruling::Deny && rule.fits(facts) == Fit::Yes;
        self.of(Source::User..=Source::CommandLine, None).find(denies)
    }

    /// The user's rule that denies what a kept rule of theirs allows, wholly or in part: whoever was asked and
    /// said "always" had no such rule then, so it is what they want now.
    fn forbids<'p>(&'p self, facts: &Facts<'_>, extra: Option<&'p Rule>, allows: &Rule) -> Option<&'p Rule> {
        if allows.source != Source::User || allows.decision != Ruling::Allow {
            return None;
        }
        let users = || self.of(Source::User..=Source::User, extra);
        let kept = |rule: &Rule| rule.kept && rule.decision == Ruling::Allow && rule.fits(facts) != Fit::No;
        let denies = |rule: &&Rule| rule.decision == Ruling::Deny && rule.fits(facts) == Fit::Yes;
        users().take_while(|rule| rule.before(allows).is_le()).any(kept).then(|| users().find(denies)).flatten()
    }

    /// The verdict that a decision comes to: without a person to ask, "ask" is "deny".
    pub(super) fn verdict(&self, facts: &Facts<'_>, decided: &Decided<'_>) -> Verdict {
        let unasked = decided.ruling == Ruling::Ask && !facts.who.person_present;
        let is_open = decided.ruling == Ruling::Ask && decided.rule.is_none_or(|rule| rule.source == Source::BuiltIn);
        let near = || self.rules.iter().find_map(|rule| Some((rule, rule.falls_short(facts)?)));
        Verdict {
            ruling: if unasked { Ruling::Deny } else { decided.ruling },
            unasked,
            reason: reasons::reason(facts, decided, is_open.then(near).flatten()),
            opens: reasons::opened(facts),
            code: denial_code(facts.action),
            risk: facts.risk,
            held: reasons::held(facts),
            rule: RuleRef::of(decided.rule),
        }
    }

    /// The rules of some sources, with another one at its place.
    fn of<'p>(&'p self, sources: RangeInclusive<Source>, extra: Option<&'p Rule>) -> impl Iterator<Item = &'p Rule> {
        let from = self.rules.partition_point(|rule| rule.source > *sources.end());
        let until = self.rules.partition_point(|rule| rule.source >= *sources.start());
        let rules = self.rules.get(from..until).unwrap_or_default();
        let extra = extra.filter(|extra| sources.contains(&extra.source));
        let at = extra.map_or(rules.len(), |extra| rules.partition_point(|rule| rule.before(extra).is_lt()));
        let (before, after) = rules.split_at_checked(at).unwrap_or((rules, &[]));
        before.iter().chain(extra).chain(after)
    }

    /// Judges a call and tells everything about it.
    #[must_use]
    pub fn explain(&self, action: &Action<'_>, who: &Who<'_>) -> Explanation {
        let facts = self.facts(action, who);
        let decided = self.decide(&facts, None);
        // What is denied is not asked about, so nobody is offered more.
        let offer = (decided.ruling == Ruling::Ask).then(|| self.offer(action, who)).flatten();
        let verdict = self.verdict(&facts, &decided);
        let parts = facts.examined.iter().flat_map(|examined| &examined.parts).map(|part| ExplainedPart {
            text: part.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
            risk: part.risk,
            because: part.because.clone(),
        });
        Explanation {
            verdict,
            what: reasons::what(&facts),
            arguments: facts.canonical().to_owned(),
            parts: parts.collect(),
            understood: facts.examined.as_ref().map(|examined| examined.clean),
            paths: facts.files_of_tool(),
            closed: self.closed_in_box(&facts),
            session_rule: offer.map(|grant| grant.describe()),
        }
    }
}

impl RuleRef {
    fn of(rule: Option<&Rule>) -> Self {
        match rule {
            Some(rule) => Self { title: rule.title(), source: rule.source, place: rule.place.clone(), kept: rule.kept },
            None => Self {
                title: "never, whatever other rules say".to_owned(),
                source: Source::BuiltIn,
                place: String::new(),
                kept: false,
            },
        }
    }
}

fn denial_code(action: &Action<'_>) -> ErrorCode {
    match action.touch {
        SideEffect::Runs => ErrorCode::CommandBlocked,
        SideEffect::Reads | SideEffect::Network | SideEffect::Writes => ErrorCode::BlockedByPolicy,
    }
}

/// A verdict, and what it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What the loop would get.
    pub verdict: Verdict,
    /// What the call does, in words.
    pub what: String,
    /// The arguments as `args` patterns see them.
    pub arguments: String,
    /// The commands of the line, each with its risk.
    pub parts: Vec<ExplainedPart>,
    /// Whether all of the line was understood; `None` without a command.
    pub understood: Option<bool>,
    /// The files and folders as `path` patterns see them.
    pub paths: Vec<PathBuf>,
    /// What rules close that is not in the box of the command, or can't be changed there, as it was written.
    pub closed: Vec<String>,
    /// What "for this session" would allow.
    pub session_rule: Option<String>,
}

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedPart {
    /// Its words, joined by spaces.
    pub text: String,
    /// How much harm it could do.
    pub risk: Risk,
    /// Why.
    pub because: Option<String>,
}

/// Where the built-in rules are written.
const FILE: &str = "builtin.toml";

/// What holds besides them where the sandbox is read-only.
const READ_ONLY: &str = include_str!("read_only.toml");
const READ_ONLY_FILE: &str = "read_only.toml";

/// The rules that hold when nobody says otherwise. They are read once; a test holds that they are sound.
fn built_in_rules() -> Arc<Vec<Rule>> {
    static RULES: LazyLock<Arc<Vec<Rule>>> = LazyLock::new(|| {
        let place = Place::default();
        let mut read = RuleReader { place: &place }.file(include_str!("builtin.toml"), FILE, Source::BuiltIn).rules;
        read.sort_by(Rule::before);
        Arc::new(read)
    });
    Arc::clone(&RULES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_are_sound() {
        let place = Place::default();
        let reader = RuleReader { place: &place };
        let read = reader.file(include_str!("builtin.toml"), FILE, Source::BuiltIn);
        assert_eq!((read.problems, read.warnings), (vec![], vec![]));
        assert_eq!(read.rules.len(), include_str!("builtin.toml").matches("[[rule]]").count());
        let read = reader.file(READ_ONLY, READ_ONLY_FILE, Source::BuiltIn);
        assert_eq!((read.problems, read.warnings, read.rules.len()), (vec![], vec![], 1));
    }
}
