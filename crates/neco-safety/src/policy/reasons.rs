//! Why a call is decided as it is, in words for the person and the model.

use std::fmt;

use neco_proto::{ApprovalMode, Risk};

use super::action::{Confinement, SideEffect};
use super::facts::Facts;
use super::judge::{Decided, Held};
use super::reach::some_of;
use super::rule::{Rule, Ruling, Source, When};
use crate::command::{Opened, Reasons};
use crate::path::sensitive::is_of_neco;
use crate::world::Freedom;

/// How many files are named that a yes does not open.
const MOST_CLOSED: usize = 3;

/// The reason of a decision; `near` is a rule that allows others like it, and why it does not allow this.
pub(super) fn reason(facts: &Facts<'_>, decided: &Decided<'_>, near: Option<(&Rule, String)>) -> String {
    if let Some(why) = facts.never() {
        return format!("{why}; this is never done, whatever rules say");
    }
    let near = near.map(|(rule, why)| {
        // It is told already.
        let is_told = facts.examined.as_ref().is_some_and(|examined| examined.because.told().as_ref() == Some(&why));
        if is_told {
            format!("{} does not cover that", named(rule))
        } else {
            format!("{} does not cover it: {why}", named(rule))
        }
    });
    if decided.ruling == Ruling::Ask && facts.who.person_present {
        // That it reaches the network the question says itself, as it knows how the command would run.
        let lines = asked_lines(facts, decided.rule).into_iter().chain(near).chain(opened_files(facts));
        return lines.chain(own_closed(facts)).chain(kept_closed(facts)).collect::<Vec<_>>().join("\n");
    }
    let reason = match decided.rule {
        Some(rule) => by_rule(facts, rule),
        None => what(facts),
    };
    let reason = near.map(|near| format!("{reason}; {near}")).unwrap_or(reason);
    match decided.ruling {
        Ruling::Ask => format!("{reason}{}", unasked(facts, decided.rule)),
        Ruling::Allow | Ruling::Deny => reason,
    }
}

/// Why a person is asked, a line for each thing.
fn asked_lines(facts: &Facts<'_>, rule: Option<&Rule>) -> Vec<String> {
    let approval = facts.who.approval;
    if let Some(rule) = rule.filter(|rule| rule.source != Source::BuiltIn) {
        return vec![by_rule(facts, rule)];
    }
    let mut lines = because(facts).lines();
    if let Some(reason) = rule.and_then(|rule| rule.reason.as_ref()) {
        let kind = if lines.is_empty() { format!("{}, and ", kind(facts)) } else { String::new() };
        lines.push(format!("{kind}{reason}{}", asked_by_mode(rule, approval)));
        return lines;
    }
    if lines.is_empty() {
        return vec![asked(facts, approval, kind(facts).to_owned())];
    }
    // Whoever chose not to be asked wonders why they are.
    if approval == ApprovalMode::Auto {
        lines.push(asks(approval).to_owned());
    }
    lines
}

/// What a yes opens, a line for each thing.
pub(super) fn opened(facts: &Facts<'_>) -> Vec<String> {
    let network = needs_network(facts)
        .then(|| "your yes lets this one command reach the network, which is off for commands".to_owned());
    opened_files(facts).into_iter().chain(network).collect()
}

/// How a command runs once somebody says yes to it; none for what runs nothing.
pub(super) fn held(facts: &Facts<'_>) -> Option<Held> {
    let sandboxed = facts.who.confinement.is_boxed() && facts.action.freedom != Freedom::Unboxed;
    (facts.action.touch == SideEffect::Runs).then(|| Held {
        sandboxed,
        network: sandboxed && (facts.who.network || facts.action.freedom == Freedom::Network || needs_network(facts)),
        opens: sandboxed && !opened_files(facts).is_empty(),
    })
}

/// What a yes opens of what is closed to commands.
fn opened_files(facts: &Facts<'_>) -> Vec<String> {
    // A program that runs already has its box.
    let may_open = facts.who.confinement.is_boxed() && !facts.is_typed();
    let Some(examined) = facts.examined.as_ref().filter(|_| may_open) else { return Vec::new() };
    if examined.risk < Risk::Critical || examined.opens.is_empty() {
        return Vec::new();
    }
    let listed = |changes: bool| {
        let named = examined.opens.iter().filter(|opened| opened.changes == changes && !stays_closed(facts, opened));
        named.map(|opened| opened.path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let opened = [("read", listed(false)), ("change", listed(true))].into_iter().filter(|(_, paths)| !paths.is_empty());
    opened.map(|(what, paths)| format!("your yes lets this one command {what} {paths}")).collect()
}

/// Whether the box has nothing of a file whatever a person says: it is one of Neco's own.
fn stays_closed(facts: &Facts<'_>, opened: &Opened) -> bool {
    facts.place.root_of(&opened.path).is_none() && is_of_neco(&opened.path)
}

/// The files of Neco's own that the command names.
fn own_closed(facts: &Facts<'_>) -> Option<String> {
    let is_boxed = held(facts).is_some_and(|held| held.sandboxed) && !facts.is_typed();
    let examined = facts.examined.as_ref().filter(|_| is_boxed)?;
    let mut paths: Vec<String> = Vec::new();
    for opened in examined.opens.iter().filter(|opened| stays_closed(facts, opened)) {
        let path = opened.path.display().to_string();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    (!paths.is_empty()).then(|| format!("the sandbox keeps {} closed, also after a yes: Neco's own", some_of(&paths)))
}

/// What the box keeps closed to the command whatever a person says, and how they open it.
fn kept_closed(facts: &Facts<'_>) -> Option<String> {
    let is_boxed = held(facts).is_some_and(|held| held.sandboxed) && !facts.is_typed();
    let closed = facts.examined.as_ref().filter(|_| is_boxed)?.kept_closed(facts.place);
    let mut paths: Vec<String> = closed.iter().take(MOST_CLOSED).map(|path| path.display().to_string()).collect();
    paths.extend(closed.len().checked_sub(MOST_CLOSED + 1).map(|more| format!("{} more", more + 1)));
    let paths = Some(paths.join(", ")).filter(|paths| !paths.is_empty())?;
    Some(format!("the sandbox keeps {paths} closed, also after a yes; /add-dir opens a folder for this session"))
}

fn by_rule(facts: &Facts<'_>, rule: &Rule) -> String {
    let approval = facts.who.approval;
    match (rule.source, rule.decision) {
        (Source::BuiltIn, Ruling::Allow) => format!("{}; approval mode {approval} allows that", what(facts)),
        (Source::BuiltIn, Ruling::Ask) => match &rule.reason {
            Some(reason) => format!("{}, and {reason}{}", what(facts), asked_by_mode(Some(rule), approval)),
            None => asked(facts, approval, what(facts)),
        },
        (Source::BuiltIn, Ruling::Deny) => rule.reason.clone().unwrap_or_else(|| what(facts)),
        (Source::Session, Ruling::Allow) if rule.lent => "allowed by your command, until this request ends".to_owned(),
        (Source::Session, Ruling::Allow) => "allowed for this session".to_owned(),
        (Source::Session, Ruling::Ask | Ruling::Deny) => format!("({} rule {})", rule.decision, named(rule)),
        (Source::User | Source::Project | Source::CommandLine, _) => {
            let plain = match rule.decision {
                Ruling::Allow => "a rule allows it",
                Ruling::Ask => "a rule asks about it",
                Ruling::Deny => "a rule denies it",
            };
            let reason = rule.reason.as_deref().unwrap_or(plain);
            format!("{reason} ({} rule {}){}", rule.source, named(rule), by_effect(facts, rule))
        }
    }
}

/// Why a call is asked about that no rule of anybody's names; `words` say what it does. A person is told by itself that
/// it needs the network.
fn asked(facts: &Facts<'_>, approval: ApprovalMode, words: String) -> String {
    let told = facts.who.person_present || !needs_network(facts);
    let plain = because(facts).told().is_none() && told && facts.risk < Risk::Critical;
    match (facts.action.touch, approval) {
        (SideEffect::Writes, ApprovalMode::AskFirst) if plain => "edits are asked first".to_owned(),
        (SideEffect::Runs, ApprovalMode::AskFirst | ApprovalMode::AcceptEdits) if plain => {
            let asked = match (facts.is_of_server(), facts.is_script()) {
                (true, _) => "tools of MCP servers",
                (false, true) => "scripted tools",
                (false, false) => "commands",
            };
            format!("{asked} are asked first")
        }
        _ => format!("{words}; {}", asks(approval)),
    }
}

/// That somebody is asked, as they chose it; nothing where they are asked whatever they chose.
fn asked_by_mode(rule: Option<&Rule>, approval: ApprovalMode) -> String {
    if rule.is_some_and(holds_in_every_mode) { String::new() } else { format!("; {}", asks(approval)) }
}

fn holds_in_every_mode(rule: &Rule) -> bool {
    rule.when.approvals.is_empty()
}

/// That somebody is asked, as they chose it.
fn asks(approval: ApprovalMode) -> &'static str {
    match approval {
        ApprovalMode::AskFirst => "you are asked first",
        ApprovalMode::AcceptEdits => "only edits are accepted without asking",
        ApprovalMode::Manual => "you are asked about everything",
        ApprovalMode::Auto => "that is asked about in auto too",
    }
}

/// Whom a rule means that does not name the tool.
fn by_effect(facts: &Facts<'_>, rule: &Rule) -> &'static str {
    let tools = &rule.when.tools;
    let names_it = tools.is_empty() || tools.iter().any(|tool| tool.fits_own(&facts.tool));
    if names_it { "" } else { "; it means every tool that does the same" }
}

/// The rule's name, or what it says, and its place.
fn named(rule: &Rule) -> String {
    let title = match &rule.name {
        Some(name) => format!("{name:?}"),
        None => rule.title(),
    };
    if rule.place.is_empty() { title } else { format!("{title}, {}", rule.place) }
}

/// What a call does that makes it worth a question.
pub(super) fn what(facts: &Facts<'_>) -> String {
    let network = if needs_network(facts) { "; it needs the network, which is off for commands" } else { "" };
    let words = because(facts).told().unwrap_or_else(|| kind(facts).to_owned());
    format!("{words}{network}")
}

/// What kind of call it is.
fn kind(facts: &Facts<'_>) -> &'static str {
    match facts.action.touch {
        SideEffect::Reads => "it only reads",
        SideEffect::Network => "it reaches the network",
        SideEffect::Writes => "it changes a file",
        SideEffect::Runs if facts.is_of_server() => "it is a tool of an MCP server",
        SideEffect::Runs if facts.is_script() => "it runs a script",
        SideEffect::Runs if facts.is_known_safe() => "it runs commands that are known to change nothing",
        SideEffect::Runs if facts.risk <= Risk::Low => "it acts on a process of the agent's own",
        SideEffect::Runs => "it runs a command",
    }
}

/// What is found in a call itself that makes it worth a question.
fn because(facts: &Facts<'_>) -> Reasons {
    let mut because = Reasons::of(facts.action.because.unwrap_or_default());
    // What a tool says of itself hides nothing of what its command would do.
    if let Some(examined) = facts.examined.as_ref().filter(|one| because.told().is_none() || one.risk == Risk::Critical)
    {
        because.add(&examined.because);
    }
    if let Some(unclear) = &facts.unclear {
        because.add(&Reasons::of(unclear));
    }
    if let Some(history) = facts.examined.as_ref().and_then(|examined| examined.history) {
        because.add(&Reasons::of(history.words()));
    }
    because
}

/// Whether a command plainly needs the network where commands have none.
pub(super) fn needs_network(facts: &Facts<'_>) -> bool {
    facts.examined.as_ref().is_some_and(|examined| examined.network) && !facts.who.network && !facts.is_typed()
}

/// Why an unasked question is a no, and how it could become a yes; `rule` asks.
fn unasked(facts: &Facts<'_>, rule: Option<&Rule>) -> String {
    let asks_in_auto = rule.is_some_and(|rule| rule.source == Source::BuiltIn && holds_in_every_mode(rule));
    let auto = match (facts.action.touch, facts.who.confinement) {
        (_, _) if asks_in_auto => "",
        (SideEffect::Runs, Confinement::Unavailable) => "",
        // Auto asks about these too.
        (SideEffect::Runs, _) if facts.touches_history() => "",
        // Where commands have no network, auto does not open it either.
        (SideEffect::Network, _) if !facts.who.network => "",
        (SideEffect::Reads | SideEffect::Network | SideEffect::Writes | SideEffect::Runs, _) => {
            " by running with --approval auto (or --yes),"
        }
    };
    let way = match facts.risk {
        Risk::Critical => {
            let rule = super::grant::critical_flag(facts).map(|flag| format!(": {flag}")).unwrap_or_default();
            format!(
                "it needs a person at a terminal, or a rule of the user that names it with risk = \"critical\"{rule}"
            )
        }
        Risk::Safe | Risk::Low | Risk::Medium | Risk::High => {
            format!("the user allows it with {},{auto} or at a terminal", super::grant::flags(facts))
        }
    };
    format!(", and nobody can be asked in this run; {way}")
}

/// The conditions in one line: `bash: `git log …`; mode plan`.
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = if self.tools.is_empty() { "*".to_owned() } else { listed(&self.tools) };
        f.write_str(&tools)?;
        let mut conditions: Vec<String> = Vec::new();
        let mut add = |name: &str, text: String| {
            if !text.is_empty() {
                conditions.push(format!("{name}{text}"));
            }
        };
        add("", listed(&self.commands));
        add("", listed(&self.paths));
        add("host ", listed(&self.hosts));
        add("args ", self.args.as_ref().map(|args| format!("/{}/", args.regex)).unwrap_or_default());
        add("risk ", listed(&self.risks));
        add("", said(self.network, "commands reach the network", "commands don't reach the network"));
        add("", listed(&self.touches.iter().map(|touch| touch.name()).collect::<Vec<_>>()));
        add("mode ", listed(&self.modes));
        add("approval ", listed(&self.approvals));
        add("role ", listed(&self.roles));
        add("from ", listed(&self.origins));
        add("commands ", listed(&self.confinements.iter().map(|one| one.name()).collect::<Vec<_>>()));
        add("", said(self.person, "a person is there", "nobody can be asked"));
        add("", said(self.known_safe, "known-safe command", "not a known-safe command"));
        add("", said(self.history, "publishes or rewrites commits", "neither publishes nor rewrites commits"));
        add("in ", listed(&self.workspaces.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()));
        add("from ", listed(&self.folders.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()));
        if !conditions.is_empty() {
            write!(f, " ({})", conditions.join("; "))?;
        }
        Ok(())
    }
}

fn said(wanted: Option<bool>, yes: &str, no: &str) -> String {
    wanted.map_or("", |wanted| if wanted { yes } else { no }).to_owned()
}

fn listed<T: fmt::Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}
