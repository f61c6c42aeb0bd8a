//! May this run? What can be answered, and what is chosen.

use neco_proto::event::PermissionRequest;
use neco_proto::{Command, Decision, Risk};
use neco_view::ask::{Approval, CallAnswer, Means, Offered, Rule};

use super::approval_panel::{Drawn, LISTED};
use super::details::Details;
use super::rest::{Mark, Other};
use crate::host::Edited;

/// What the root is called beside its agents.
const ROOT: &str = "root";

/// The panel of one request.
#[derive(Clone, Debug)]
pub struct ApprovalBox {
    pub asked: Approval,
    /// Whether all of it was shown.
    pub was_shown: bool,
    /// Why it is asked about although the person said something of it before.
    pub note: Option<String>,
    /// Whether all of it is shown in place of its beginning.
    pub details: Details,
    /// The answers as they were drawn last.
    pub(super) offered: Vec<Means>,
    /// The answer that the person went to.
    chosen: Option<Means>,
    /// What is asked about, as it was drawn last, and how many lines of it were left out.
    pub(super) drawn: Option<Drawn>,
}

impl ApprovalBox {
    /// The panel of `request`.
    pub fn new(request: PermissionRequest) -> Self {
        Self {
            asked: Approval::new(request),
            was_shown: false,
            note: None,
            details: Details::default(),
            offered: Vec::new(),
            chosen: None,
            drawn: None,
        }
    }

    /// The person made this of it: it is shown as it is now.
    pub fn revise(&mut self, edited: Edited) {
        let summary = std::mem::take(&mut self.asked.request.summary);
        self.asked.revise(edited.arguments, edited.diff);
        // What it changes is counted anew.
        self.asked.request.summary = match summary.rsplit_once(" (+") {
            Some((bare, _)) => bare.to_owned(),
            None => summary,
        };
        (self.was_shown, self.drawn, self.note) = (false, None, None);
        (self.details, self.chosen) = (Details::default(), None);
    }

    /// Yes, with a rule.
    pub fn yes_always(&self, rule: Rule) -> Option<Command> {
        let decision = match rule {
            Rule::Session => Decision::Session,
            Rule::Always => Decision::Always,
        };
        self.rule(rule).map(|_| self.asked.decide(decision))
    }

    /// What a rule would allow. None is made of what was not seen.
    pub fn rule(&self, rule: Rule) -> Option<&String> {
        let request = &self.asked.request;
        let rule = match rule {
            Rule::Session => &request.session_rule,
            Rule::Always => &request.always_rule,
        };
        rule.as_ref().filter(|_| !self.is_unseen())
    }

    /// All of what is asked about takes the place of its beginning, or gives it back.
    pub fn toggle_details(&mut self) {
        self.was_shown = true;
        self.details.toggle();
    }

    /// One answer up or down.
    pub fn step(&mut self, down: bool) {
        let Some(last) = self.offered.len().checked_sub(1) else { return };
        let at = self.at(&self.offered).unwrap_or_default();
        let next = match (down, at) {
            (true, at) if at >= last => 0,
            (true, at) => at + 1,
            (false, 0) => last,
            (false, at) => at - 1,
        };
        self.chosen = self.offered.get(next).copied();
    }

    /// Goes to an answer.
    pub fn go_to(&mut self, means: Means) {
        self.chosen = Some(means);
    }

    /// Goes back to the answer that it began with.
    pub fn go_back(&mut self) {
        self.chosen = None;
    }

    /// The answer that is chosen, of those that were drawn.
    pub fn chosen(&self) -> Option<Means> {
        self.at(&self.offered).and_then(|at| self.offered.get(at)).copied()
    }

    /// Whether the person went to an answer.
    pub fn is_gone_to(&self) -> bool {
        self.chosen.is_some()
    }

    /// The answer of a number, from 1, of those that were drawn.
    pub fn numbered(&self, number: usize) -> Option<Means> {
        self.offered.iter().filter(|means| means.is_numbered()).nth(number.checked_sub(1)?).copied()
    }

    /// Where the chosen answer stands. What could do most harm starts on no.
    pub(super) fn at(&self, offered: &[Means]) -> Option<usize> {
        let usual = if self.asked.request.risk >= Risk::Critical { Means::No } else { Means::Yes };
        let find = |means: Means| offered.iter().position(|offered| *offered == means);
        self.chosen.and_then(find).or_else(|| find(usual))
    }

    /// Whether yes for this session is to accept edits: the root would edit, and is asked before it does.
    pub fn accepts_edits(&self, asks: Asks<'_>) -> bool {
        let request = &self.asked.request;
        let edits = !request.diff.is_empty() && request.command.is_none() && request.risk < Risk::High;
        asks.asks_first && asks.who.is_none() && edits
    }

    /// What the letter `s` comes to, of what was drawn.
    pub fn for_session(&self) -> Means {
        let accepts = self.offered.contains(&Means::AcceptEdits);
        if accepts { Means::AcceptEdits } else { Means::Rule(Rule::Session) }
    }

    /// Whether a change is too long for the panel to show any of it, and was not shown otherwise.
    fn is_unseen(&self) -> bool {
        !self.was_shown && self.asked.is_summed_up()
    }

    /// The answers, with the first `named` of what else waits above them.
    pub(super) fn answers(&self, asks: Asks<'_>, named: usize) -> Vec<CallAnswer> {
        self.asked.answers(Offered {
            who: asks.who,
            only: asks.who.or(asks.among_others.then_some(ROOT)),
            covered: asks.covered(named),
            open: asks.open(),
            rules: !self.is_unseen(),
            accepts_edits: self.accepts_edits(asks),
        })
    }
}

/// Who asks, and how things stand besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asks<'a> {
    /// The agent, when it is not the root.
    pub who: Option<&'a str>,
    /// Whether there are agents besides the root.
    pub among_others: bool,
    /// What that agent was asked to do.
    pub task: Option<&'a str>,
    /// How many other questions wait.
    pub waiting: usize,
    /// How many calls of the same row were answered, and how many that wait came before this one.
    pub done: usize,
    pub before: usize,
    /// What else will be asked about: what waits, then the calls of the turn not come to yet.
    pub others: &'a [Other],
    /// What Esc does.
    pub esc: Esc,
    /// Whether Esc goes back to the question before, where a first model is chosen.
    pub goes_back: bool,
    /// Now, in milliseconds.
    pub now_ms: i64,
    /// Whether edits are asked about before they are made.
    pub asks_first: bool,
    /// The rule that was asked for and waits for Enter.
    pub armed: Option<Rule>,
    /// Whether the person has answered, and the session has not taken it yet.
    pub answered: bool,
    /// Whether the person has said no, and writes why.
    pub refuses: bool,
    /// Whether the person sends a plan back, and writes what should be different.
    pub revises: bool,
    /// Whether keys go to the field, where something was being written when it came.
    pub elsewhere: bool,
}

/// What Esc comes to while a request waits: never yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Esc {
    /// No, without a reason.
    #[default]
    No,
    /// What the person runs with `!` stops first.
    StopsShell,
    /// The turn stops, and with it the call that is asked about.
    StopsCall,
    /// The turn of the root stops; the agent that asks goes on asking.
    StopsRoot,
    /// Those who still work are paused.
    Pauses,
}

impl Asks<'_> {
    /// How many of the first `named` others `Y` says yes to.
    pub(super) fn covered(&self, named: usize) -> usize {
        self.others.iter().take(named.min(LISTED)).filter(|other| other.mark == Mark::Covered).count()
    }

    /// How many others nobody has said anything of.
    fn open(&self) -> usize {
        self.others.iter().filter(|other| other.mark != Mark::Said).count()
    }
}
