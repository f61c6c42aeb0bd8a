//! Why a call is decided as it is, with everything that was looked at on the way.

use std::path::PathBuf;

use super::action::{Action, Who};
use super::judge::{Policy, Verdict};
use super::reasons;
use super::rule::Ruling;

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
    pub risk: neco_proto::Risk,
    /// Why.
    pub because: Option<String>,
}

impl Policy {
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
            paths: action.paths.to_vec(),
            closed: self.closed_in_box(&facts),
            session_rule: offer.map(|grant| grant.describe()),
        }
    }
}
