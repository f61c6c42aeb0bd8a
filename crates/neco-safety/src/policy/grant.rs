//! What a person can allow beyond one call: the rule, in words before it is given and as text to keep.

use std::path::Path;

use neco_proto::Risk;
use regex::Regex;

use super::action::{Action, SideEffect, Who};
use super::canonical::canonical;
use super::facts::Facts;
use super::foreign::claude;
use super::judge::Policy;
use super::pattern::{ArgsPattern, CommandPattern, HostPattern, MCP, ToolPattern};
use super::read::{RuleReader, prefix};
use super::reasons::needs_network;
use super::rule::{Fit, Rule, Ruling, Source, When, fit};
use crate::command::straighten;
use crate::secrets::{Redactor, Scope};

/// The priority of rules that are kept: a person who says "always" means it more than a rule of theirs that asks.
pub(super) const KEPT_PRIORITY: i32 = 900;

/// Flags that are longer are not proposed.
const LONGEST_FLAG: usize = 200;

/// How a rule names the workspace itself as the folder that a command starts in.
const HERE: &str = ".";

/// The tools that edit files: who allows one of them for more than a call means edits, however they are made.
const EDITS: [&str; 3] = ["edit_file", "write_file", PATCH];

/// The one of them that can delete files too.
const PATCH: &str = "apply_patch";

/// Risks of an edit of ordinary files; what deletes them is more.
const OF_EDITS: [Risk; 3] = [Risk::Safe, Risk::Low, Risk::Medium];

/// What a person can allow beyond one call.
#[derive(Clone, Debug)]
pub struct Grant {
    rule: Rule,
    /// Whether the kept rule would be heard next time.
    can_be_kept: bool,
    /// The lines of the rule in a file, without where it holds.
    lines: Vec<String>,
    /// Whether what is allowed plainly needs the network where commands have none.
    needs_network: bool,
}

impl Policy {
    /// What "for this session" and "always" would allow, where they would help: not where every
    /// single call is asked about.
    pub fn offer(&self, action: &Action<'_>, who: &Who<'_>) -> Option<Grant> {
        let facts = self.facts(action, who);
        if facts.risk >= Risk::Critical || facts.never().is_some() || self.holds_back(&facts) {
            return None;
        }
        let grant = Grant::like(&facts)?;
        let allows = |rule: &Rule| self.decide(&facts, Some(rule)).ruling == Ruling::Allow;
        let kept = Rule { source: Source::User, priority: KEPT_PRIORITY, kept: true, ..grant.rule.clone() };
        let can_be_kept = allows(&kept) && !grant.holds_a_secret();
        allows(&grant.rule).then(|| Grant { can_be_kept, ..grant })
    }

    /// Adds what a person allowed for the rest of the session.
    pub fn grant(&mut self, grant: &Grant) {
        self.add(grant.rule.clone());
    }

    /// The same for what is kept besides: it holds until the kept rules are read anew, and then as they say.
    pub fn grant_for_good(&mut self, grant: &Grant) {
        self.add(Rule { kept: true, ..grant.rule.clone() });
    }

    /// Allows what these rules say, each written as after `--allow`, until [`Policy::take_back`]. One that can't be
    /// understood allows nothing.
    pub fn lend(&mut self, rules: &[String]) {
        let read = |text: &String| RuleReader { place: self.place() }.flag(Ruling::Allow, text).rules;
        let lent: Vec<Rule> = rules.iter().flat_map(read).collect();
        lent.into_iter().for_each(|rule| self.add(Rule { source: Source::Session, lent: true, ..rule }));
    }

    /// Takes back what was allowed for one request.
    pub fn take_back(&mut self) {
        self.retain(|rule| !rule.lent);
    }
}

impl Grant {
    /// Whether the kept rule would write a key into a file.
    fn holds_a_secret(&self) -> bool {
        let known = Redactor::new(Vec::new());
        self.lines.iter().any(|line| known.redact(line, Scope::Outside) != line.as_str())
    }

    fn like(facts: &Facts<'_>) -> Option<Self> {
        let action = facts.action;
        let tool = action.tool;
        let mut when = When { tools: vec![ToolPattern::new(tool)], ..When::default() };
        let mut lines = vec![format!("tool = {}", toml_string(tool))];
        if !action.origin.is_built_in() {
            // Another one of the name may come from somewhere else later.
            let origin = action.origin.to_string();
            lines.push(format!("origin = {}", toml_string(&origin)));
            when.origins = vec![origin];
        }
        let subject = match (action.touch, &facts.examined) {
            // What is typed into a running program is no command line of its own.
            (SideEffect::Runs, Some(examined)) if action.risk < Risk::High => {
                let (commands, line, subject) = commands(&examined.rules(), action.command.unwrap_or_default());
                // The same words start other things elsewhere.
                let folder = facts.folder();
                let told = told_folder(&folder, &facts.place.workspace);
                when.commands = commands;
                when.folders = vec![folder];
                lines.push(line);
                lines.push(format!("folder = {}", toml_string(&told)));
                if told == HERE { subject } else { format!("{subject} in {told}") }
            }
            (SideEffect::Runs, _) if !tool.starts_with(MCP) && !facts.is_script() => {
                let pattern = format!("^{}$", regex::escape(&canonical(action.arguments)));
                let regex = Regex::new(&pattern).ok()?;
                lines.push(format!("args = {}", toml_string(&pattern)));
                when.args = Some(ArgsPattern { regex, gemini: false });
                format!("use {tool} with exactly these arguments")
            }
            (SideEffect::Network, _) => match HostPattern::of_url(action.arguments) {
                // A name that is a pattern would open more than itself.
                Some(host) if host.to_string().contains('*') => return None,
                Some(host) => {
                    lines.push(format!("host = {}", toml_string(&host.to_string())));
                    let subject = format!("use {tool} on {host}");
                    when.hosts = vec![host];
                    subject
                }
                None => format!("use {tool}"),
            },
            // Patches that delete are not told from each other by a rule: every one is asked about.
            (SideEffect::Writes, _) if tool == PATCH && action.origin.is_built_in() && action.risk >= Risk::High => {
                return None;
            }
            (SideEffect::Writes, _)
                if EDITS.contains(&tool) && OF_EDITS.contains(&facts.risk) && action.origin.is_built_in() =>
            {
                when.tools = EDITS.map(ToolPattern::new).to_vec();
                when.risks = OF_EDITS.to_vec();
                lines = vec![
                    format!("tool = {}", toml_list(&EDITS.map(str::to_owned))),
                    format!("risk = {}", toml_list(&OF_EDITS.map(|risk| risk.name().to_owned()))),
                ];
                "edit and write ordinary files".to_owned()
            }
            (SideEffect::Reads | SideEffect::Writes, _) => format!("use {tool} on ordinary files"),
            (SideEffect::Runs, _) => format!("use {tool}"),
        };
        let needs_network = needs_network(facts);
        let words = if needs_network { format!("{subject}, with the network") } else { subject };
        let rule = Rule {
            decision: Ruling::Allow,
            priority: 0,
            // It is told in the words that it was given in.
            name: Some(words),
            reason: None,
            kept: false,
            lent: false,
            source: Source::Session,
            place: String::new(),
            when,
        };
        Some(Self { rule, can_be_kept: false, lines, needs_network })
    }

    /// What "for this session" allows, in words.
    pub fn describe(&self) -> String {
        self.rule.title()
    }

    /// What "always" allows, in words; nothing where it would not be heard.
    pub fn describe_always(&self) -> Option<String> {
        // Who keeps a rule is asked once, and would never be told again what reaches the network; without it the
        // command would fail from then on.
        let is_kept = self.can_be_kept && !self.needs_network;
        is_kept.then(|| format!("{}, in this folder", self.describe()))
    }

    /// The rule as it is kept: it holds in `workspace`, and everywhere once that line is taken away.
    pub fn to_toml(&self, workspace: &Path) -> String {
        let mut lines = vec!["[[rule]]".to_owned()];
        lines.extend(self.lines.iter().cloned());
        lines.push("decision = \"allow\"".to_owned());
        lines.push("kept = true".to_owned());
        lines.push(format!("workspace = {}", toml_string(&workspace.to_string_lossy())));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// What is allowed of a line: commands that begin as its own do, or the very line where no rule covers it.
fn commands(rules: &[Vec<String>], line: &str) -> (Vec<CommandPattern>, String, String) {
    let prefixes: Option<Vec<String>> = rules.iter().map(|words| prefix_text(words)).collect();
    match prefixes {
        Some(prefixes) if !prefixes.is_empty() => {
            let patterns = rules.iter().map(|rule| CommandPattern::Granted(rule.clone())).collect();
            let shown: Vec<String> = prefixes.iter().map(|prefix| format!("`{prefix} *`")).collect();
            let subject = format!("run {}", shown.join(" or "));
            (patterns, format!("command = {}", toml_list(&prefixes)), subject)
        }
        Some(_) | None => {
            let line = line.trim();
            let patterns = vec![CommandPattern::Line(line.to_owned())];
            (patterns, format!("line = {}", toml_string(line)), format!("run exactly `{line}`"))
        }
    }
}

/// How a rule names the folder that a command starts in: from the workspace on, where it is below.
fn told_folder(folder: &Path, workspace: &Path) -> String {
    match folder.strip_prefix(straighten(workspace.to_path_buf())) {
        Ok(below) if below.as_os_str().is_empty() => HERE.to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => folder.to_string_lossy().into_owned(),
    }
}

/// The words of a rule as `command = "…"` holds them; nothing when they can't be told apart again.
fn prefix_text(words: &[String]) -> Option<String> {
    let plain = |word: &String| !word.is_empty() && !word.contains(char::is_whitespace) && prefix(word).is_ok();
    words.iter().all(plain).then(|| words.join(" "))
}

/// The flags that would allow a call, as a person can paste them: `--allow 'bash(git push *)'`.
pub(super) fn flags(facts: &Facts<'_>) -> String {
    let tool = facts.action.tool;
    if facts.is_typed() {
        return flag(tool);
    }
    let Some((examined, line)) = facts.examined.as_ref().zip(facts.action.command) else {
        return match HostPattern::of_url(facts.action.arguments) {
            Some(host) if facts.action.touch == SideEffect::Network => flag(&format!("{tool}(domain:{host})")),
            Some(_) | None => flag(tool),
        };
    };
    let line = line.trim();
    // Rules that each allow a command of a line allow the line together.
    let begins = examined.rules().iter().map(|words| flag(&format!("{tool}({} *)", words.join(" ")))).collect();
    let begins = Some(begins).map(|flags: Vec<String>| flags.join(" ")).filter(|flags| !flags.is_empty());
    let exactly = || {
        // In brackets a star stands for anything, which is more than the line.
        let pattern = claude::allowed_command(line).filter(|_| !line.contains('*'))?;
        (fit(&[pattern], examined, line) == Fit::Yes).then(|| flag(&format!("{tool}({line})")))
    };
    let table = |line: &str| flag(&format!("{{ tool = {}, line = {line} }}", toml_string(tool)));
    let written = begins.filter(|flags| is_written(flags)).or_else(|| exactly().filter(|flag| is_written(flag)));
    let written = written.or_else(|| Some(table(&toml_string(line))).filter(|flag| is_written(flag)));
    written.unwrap_or_else(|| table("…"))
}

/// A rule as a flag; a shell takes it as one word.
fn flag(rule: &str) -> String {
    format!("--allow '{}'", rule.replace('\'', r"'\''"))
}

/// The same for what is critical: the very call, and nothing where that is too much to write. What makes a server's
/// tool or a script critical is true of each of its calls.
pub(super) fn critical_flag(facts: &Facts<'_>) -> Option<String> {
    let about = match (facts.action.command, facts.action.paths.first()) {
        (Some(line), _) => format!("line = {}, ", toml_string(line.trim())),
        (None, Some(path)) if facts.action.paths.len() == 1 => format!("path = {}, ", toml_string(path.to_str()?)),
        (None, None) if facts.is_of_server() || facts.is_script() => String::new(),
        (None, _) => return None,
    };
    let rule = format!("{{ tool = {}, {about}risk = \"critical\" }}", toml_string(facts.action.tool));
    Some(flag(&rule)).filter(|flag| is_written(flag))
}

/// Whether flags can be told: they are short enough to be read, and in one line.
fn is_written(flags: &str) -> bool {
    flags.len() <= LONGEST_FLAG && !flags.chars().any(char::is_control)
}

fn toml_string(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn toml_list(items: &[String]) -> String {
    match items {
        [one] => toml_string(one),
        many => toml_edit::Value::from(many.iter().collect::<toml_edit::Array>()).to_string(),
    }
}
