//! A rule: what it says, where it was written, and which calls it is about.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::path::PathBuf;

use neco_proto::{ApprovalMode, Mode, Risk, ToolOrigin};

use super::action::{Confinement, SideEffect, Who};
use super::facts::Facts;
use super::pattern::{ArgsPattern, CommandPattern, HostPattern, PathPattern, ToolPattern, wildcard};
use crate::command::{Examined, Part, Place, Reached, uncovered};

pub use neco_proto::{RuleSource as Source, Ruling};

/// Whether the user wrote it deliberately, so that it may open what only an explicit rule opens.
fn is_explicit(source: Source) -> bool {
    match source {
        Source::User | Source::CommandLine => true,
        Source::BuiltIn | Source::Project | Source::Session => false,
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it says.
    pub decision: Ruling,
    /// Higher ones are looked at first, within a source.
    pub priority: i32,
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// Why, in words for the person and the model.
    pub reason: Option<String>,
    /// Whether a person said "always" to a question: it outranks their rules that ask, and yields to
    /// every one that denies.
    pub kept: bool,
    /// Whether it holds only until the present request ends.
    pub lent: bool,
    /// Who wrote it.
    pub source: Source,
    /// Where: `~/.config/neco/policy/mine.toml:3:1`, a flag, or nothing for what a person answered.
    pub place: String,
    /// Which calls it is about.
    pub when: When,
}

/// Which calls a rule is about; an empty list is no condition.
#[derive(Clone, Debug, Default)]
pub struct When {
    /// Tools, one of them.
    pub tools: Vec<ToolPattern>,
    /// The arguments as canonical JSON.
    pub args: Option<ArgsPattern>,
    /// The command, one of them.
    pub commands: Vec<CommandPattern>,
    /// The files and folders: all of them for a rule that allows, one of them for the others.
    pub paths: Vec<PathPattern>,
    /// The host of a web address.
    pub hosts: Vec<HostPattern>,
    /// How much harm it could do.
    pub risks: Vec<Risk>,
    /// What it does to the world.
    pub touches: Vec<SideEffect>,
    /// The mode.
    pub modes: Vec<Mode>,
    /// When the person wants to be asked.
    pub approvals: Vec<ApprovalMode>,
    /// The agent's role.
    pub roles: Vec<String>,
    /// Where the tool comes from, in which `*` stands for anything.
    pub origins: Vec<String>,
    /// What stands between commands and the machine.
    pub confinements: Vec<Confinement>,
    /// Whether there is a person to ask.
    pub person: Option<bool>,
    /// Whether it is a command that is known to change nothing.
    pub known_safe: Option<bool>,
    /// Whether it is a command that publishes commits, or gives up some that were made.
    pub history: Option<bool>,
    /// Whether commands reach the network.
    pub network: Option<bool>,
    /// The folders that the person opened in which it holds.
    pub workspaces: Vec<PathBuf>,
    /// The folders that a command starts in for which it holds.
    pub folders: Vec<PathBuf>,
}

impl Rule {
    /// Whether the rule is about a call, on behalf of somebody.
    pub(super) fn fits(&self, facts: &Facts<'_>) -> Fit {
        // What a command may not reach was looked at before: rules with paths decide that among themselves.
        let is_decided = self.decision == Ruling::Deny && facts.examined.is_some() && self.counts_for_paths();
        if is_decided && self.when.effects().of_commands()
            || !self.when.is_about(self.decision, facts)
            || !self.may_decide(facts)
            || !self.when.paths_fit(self.decision, facts)
        {
            return Fit::No;
        }
        self.when.commands_fit(self.decision, facts)
    }

    /// How much of a call it names, for whoever only leaves what it names: what else speaks against the call, as that a
    /// program lies outside the workspace, is judged all the same.
    pub(super) fn leaves(&self, facts: &Facts<'_>) -> Fit {
        if !self.when.is_about(self.decision, facts) || !self.when.paths_fit(self.decision, facts) {
            return Fit::No;
        }
        match (self.when.commands.as_slice(), &facts.examined) {
            ([], _) => Fit::Yes,
            (_, None) => Fit::No,
            (commands, Some(examined)) => fit(commands, examined, facts.action.command.unwrap_or_default()),
        }
    }

    /// What is critical, and what a mode forbids, is opened only by a rule that names it.
    fn may_decide(&self, facts: &Facts<'_>) -> bool {
        if self.source == Source::BuiltIn || self.decision == Ruling::Deny {
            return true;
        }
        let explicit = is_explicit(self.source);
        if facts.is_closed_by_mode() && !(explicit && self.when.modes.contains(&facts.who.mode)) {
            return false;
        }
        let names_critical = self.when.risks.contains(&Risk::Critical);
        self.decision != Ruling::Allow || facts.risk < Risk::Critical || explicit && names_critical
    }

    /// Why a rule of the user's that allows commands like this one does not allow it.
    pub(super) fn falls_short(&self, facts: &Facts<'_>) -> Option<String> {
        let allows = self.decision == Ruling::Allow && is_explicit(self.source);
        let examined = facts.examined.as_ref().filter(|_| allows && facts.risk < Risk::Critical)?;
        let why = falls_short(&self.when.commands, examined)?;
        let is_about = self.when.is_about(self.decision, facts) && self.when.paths_fit(self.decision, facts);
        is_about.then_some(why)
    }

    /// Whether it counts for what is closed and opened by paths: what was kept or lent opens nothing that is denied.
    pub(super) fn counts_for_paths(&self) -> bool {
        self.source > Source::BuiltIn && !((self.kept || self.lent) && self.decision == Ruling::Allow)
    }

    /// The order in which rules of one source are looked at.
    pub(super) fn before(&self, other: &Self) -> Ordering {
        let by_source = other.source.cmp(&self.source);
        by_source.then(other.priority.cmp(&self.priority)).then(other.decision.cmp(&self.decision))
    }

    /// Whether it says the same of the tool whatever the call is.
    pub(super) fn holds_for_every_call(&self) -> bool {
        let when = &self.when;
        when.args.is_none()
            && when.commands.is_empty()
            && when.paths.is_empty()
            && when.hosts.is_empty()
            && when.risks.is_empty()
            && when.touches.is_empty()
            && when.known_safe.is_none()
            && when.history.is_none()
    }

    /// Who wrote it and where: `user ~/.config/neco/policy/mine.toml:3:1`.
    pub fn origin(&self) -> String {
        if self.place.is_empty() { self.source.name().to_owned() } else { format!("{} {}", self.source, self.place) }
    }

    /// The rule in one line: its name, or what it says.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{} {}", self.decision, self.when),
        }
    }
}

impl When {
    /// Everything but commands and paths, which mean something else for a rule that allows.
    fn is_about(&self, decision: Ruling, facts: &Facts<'_>) -> bool {
        let one = |none: bool, found: bool| none || found;
        self.names(decision, facts)
            && self.holds_for(facts)
            && one(self.risks.is_empty(), self.risks.contains(&facts.risk))
            && one(self.touches.is_empty(), self.touches.contains(&facts.action.touch))
            && self.known_safe.is_none_or(|wanted| wanted == facts.is_known_safe())
            && self.history.is_none_or(|wanted| wanted == facts.touches_history())
            && one(self.hosts.is_empty(), self.hosts.iter().any(|host| host.fits(facts.action.arguments)))
            && self.args.as_ref().is_none_or(|pattern| pattern.fits(decision, facts))
    }

    /// Whether it names the tool; where it asks or denies, also by naming another that does the same.
    fn names(&self, decision: Ruling, facts: &Facts<'_>) -> bool {
        let names =
            |tool: &ToolPattern| tool.fits_own(&facts.tool) || decision != Ruling::Allow && self.means(tool, facts);
        self.tools.is_empty() || self.tools.iter().any(names)
    }

    /// Whether a rule about that tool is about the call, for what it does. Whoever names files means all that reaches
    /// them, commands too.
    fn means(&self, tool: &ToolPattern, facts: &Facts<'_>) -> bool {
        let on_files = || !self.paths.is_empty() || self.args.as_ref().is_some_and(ArgsPattern::names_paths);
        tool.meant().overlap(facts.effects()) || on_files() && tool.meant().overlap(facts.effects_on_files())
    }

    pub(super) fn holds_for(&self, facts: &Facts<'_>) -> bool {
        self.holds_here(facts.who, facts.place)
            && (self.origins.is_empty() || self.comes_from(facts.action.origin))
            && (self.folders.is_empty() || self.folders.contains(&facts.folder()))
    }

    /// Whether it holds for somebody in a workspace, whatever the call is.
    pub(super) fn holds_here(&self, who: &Who<'_>, place: &Place) -> bool {
        (self.modes.is_empty() || self.modes.contains(&who.mode))
            && (self.approvals.is_empty() || self.approvals.contains(&who.approval))
            && (self.confinements.is_empty()
                || self.confinements.iter().any(|one| one.name() == who.confinement.name()))
            && self.person.is_none_or(|wanted| wanted == who.person_present)
            && self.network.is_none_or(|wanted| wanted == who.network)
            && (self.roles.is_empty() || self.roles.iter().any(|role| role == who.role))
            && (self.workspaces.is_empty() || self.workspaces.contains(&place.workspace))
    }

    fn comes_from(&self, origin: &ToolOrigin) -> bool {
        let origin = origin.to_string();
        self.origins.iter().any(|pattern| wildcard(pattern, &origin))
    }

    fn paths_fit(&self, decision: Ruling, facts: &Facts<'_>) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let fits = |path: &PathBuf| self.paths.iter().any(|pattern| pattern.fits(path));
        match decision {
            Ruling::Allow => !facts.action.paths.is_empty() && facts.action.paths.iter().all(fits),
            Ruling::Ask | Ruling::Deny => facts.action.paths.iter().any(fits) || self.is_reached(facts),
        }
    }

    /// Whether a command names one of its paths. One about changing alone means what is surely changed; of the rest
    /// nobody can tell by its words.
    pub(super) fn is_reached(&self, facts: &Facts<'_>) -> bool {
        let effects = self.effects();
        let only_changes = effects.changes && !effects.reads;
        let named = |reached: &Reached| self.paths.iter().any(|pattern| pattern.is_named_by(&reached.named));
        facts.reached().iter().filter(|reached| reached.changes || !only_changes).any(named)
    }

    fn commands_fit(&self, decision: Ruling, facts: &Facts<'_>) -> Fit {
        if self.commands.is_empty() {
            return Fit::Yes;
        }
        let Some(examined) = &facts.examined else { return Fit::No };
        let line = facts.action.command.unwrap_or_default();
        match decision {
            Ruling::Allow if facts.is_told_apart() && !self.commands.iter().any(|command| command.is_line(line)) => {
                Fit::No
            }
            Ruling::Allow => fit(&self.commands, examined, line),
            Ruling::Ask | Ruling::Deny if self.commands.iter().any(|command| command.mentions(examined, line)) => {
                Fit::Yes
            }
            Ruling::Ask | Ruling::Deny => Fit::No,
        }
    }

    /// Whether the rule could be about a call of this tool, on behalf of somebody.
    pub(super) fn concerns(&self, decision: Ruling, facts: &Facts<'_>) -> bool {
        self.names(decision, facts) && self.holds_for(facts)
    }
}

/// How well a rule fits a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    No,
    /// It allows some of the commands of the line, and others may allow the rest.
    InPart,
    /// It is about this call.
    Yes,
}

/// How much of a line these patterns allow. What is known to be safe needs no rule.
pub(super) fn fit<P: Borrow<CommandPattern>>(patterns: &[P], examined: &Examined, line: &str) -> Fit {
    if examined.never.is_some() {
        return Fit::No;
    }
    if patterns.iter().any(|pattern| pattern.borrow().is_line(line)) {
        return Fit::Yes;
    }
    if !examined.clean || examined.uncoverable || examined.parts.is_empty() {
        return Fit::No;
    }
    let mut covered = 0;
    let mut open = 0;
    for part in &examined.parts {
        if patterns.iter().any(|pattern| pattern.borrow().covers(part)) {
            covered += 1;
        } else if !part.needs_no_rule() {
            open += 1;
        }
    }
    match (covered, open) {
        (0, _) => Fit::No,
        (_, 0) => Fit::Yes,
        (_, _) => Fit::InPart,
    }
}

/// Why patterns that are about a command of a line do not allow the line.
pub(super) fn falls_short(patterns: &[CommandPattern], examined: &Examined) -> Option<String> {
    let begun = |part: &Part| patterns.iter().filter_map(CommandPattern::words).find(|words| part.begins_with(words));
    let (part, words) = examined.parts.iter().find_map(|part| Some((part, begun(part)?)))?;
    if part.uncoverable {
        let option = || "an option of it runs or writes something".to_owned();
        return Some(part.because.clone().unwrap_or_else(option));
    }
    if let Some(why) = uncovered(words, &part.words) {
        return Some(why);
    }
    if examined.uncoverable {
        return Some("a redirect, a variable, a function or another folder on the line is not covered".to_owned());
    }
    let is_open = |part: &&Part| !part.needs_no_rule() && !patterns.iter().any(|pattern| pattern.covers(part));
    let other = examined.parts.iter().find(is_open)?;
    Some(format!("it does not allow `{}`", other.texts().next().unwrap_or_default()))
}
