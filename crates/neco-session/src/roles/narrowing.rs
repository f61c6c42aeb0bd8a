//! What an agent may not do of what its parent may.

use neco_proto::Mode;
use neco_safety::policy::{ReadRules, Rule, RuleReader, Source};
use neco_safety::{Policy, Ruling};
use serde::{Deserialize, Serialize};

/// Looked at before every other rule.
const FIRST: i32 = i32::MAX;

/// What an agent may not do of what its parent may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Narrowing {
    /// The mode it works in, where that is narrower than its parent's.
    pub mode: Option<Mode>,
    /// Calls that are refused, as `--deny` is written.
    pub deny: Vec<String>,
    /// Calls that a person decides about, as `--ask` is written.
    pub ask: Vec<String>,
}

impl Narrowing {
    /// The parent's rules, narrowed. Nothing that was refused is allowed by it: what it refuses comes
    /// before all other rules, and what it asks about only ever makes an "allow" an "ask".
    pub fn policy(&self, parent: &Policy) -> Policy {
        let mut policy = parent.clone();
        for rule in self.rules(parent).rules {
            policy.add(rule);
        }
        policy
    }

    /// The mode of an agent whose parent works in `parent`: never a freer one.
    pub fn mode(&self, parent: Mode) -> Mode {
        match self.mode {
            Some(mode) if freedom(mode) <= freedom(parent) => mode,
            Some(_) | None => parent,
        }
    }

    /// What can't be understood of it, in words.
    pub fn problems(&self) -> Vec<String> {
        self.rules(&Policy::default()).problems.into_iter().map(|problem| problem.message).collect()
    }

    fn rules(&self, parent: &Policy) -> ReadRules {
        let reader = RuleReader { place: parent.place() };
        let mut all = ReadRules::default();
        for (ruling, texts) in [(Ruling::Deny, &self.deny), (Ruling::Ask, &self.ask)] {
            for text in texts {
                let read = reader.flag(ruling, text);
                all.rules.extend(read.rules.into_iter().map(|rule| bound(ruling, rule)));
                all.problems.extend(read.problems);
            }
        }
        all
    }
}

/// A rule at the place from which it can only narrow.
fn bound(ruling: Ruling, rule: Rule) -> Rule {
    let place = "the agent's definition".to_owned();
    match ruling {
        Ruling::Deny => Rule { source: Source::Session, priority: FIRST, place, ..rule },
        Ruling::Ask | Ruling::Allow => Rule { source: Source::Project, place, ..rule },
    }
}

/// How much a mode leaves open.
fn freedom(mode: Mode) -> u8 {
    match mode {
        Mode::Ask => 0,
        Mode::Plan => 1,
        Mode::Agent | Mode::Debug => 2,
    }
}
