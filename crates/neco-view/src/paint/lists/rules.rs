//! Rules and what comes of them, as lines.

use std::fmt::Write;

use neco_proto::app::rules::{ExplainedCall, KeptRules, RuleList, RuleRow, TestedCase};
use neco_proto::visible::{visible, visible_line};
use neco_proto::{GrantedRule, RuleSource, Ruling};

/// What is said of a rule with which a project would allow something.
pub const NO_EFFECT: &str = "no effect: a project can't allow";

/// Whether a rule has no effect: a project narrows what a person's own rules say, and never widens it.
pub fn is_void(rule: &RuleRow) -> bool {
    rule.source == RuleSource::Project && rule.decision == Ruling::Allow
}

/// What stands above what was allowed for a session.
pub const FOR_SESSION: &str = "For this session";

/// What was allowed for a session, and whom that holds for where it is not the agent that the person talks to.
pub fn granted(rule: &GrantedRule) -> (String, Option<String>) {
    let holds_for = rule.agent.as_ref().map(|agent| format!("{} only", visible_line(agent)));
    (format!("{} {}", Ruling::Allow, visible_line(&rule.allows)), holds_for)
}

/// What was allowed for a session, under its heading; it stands before the rules in force.
pub fn for_session(rules: &[GrantedRule]) -> String {
    let line = |rule: &GrantedRule| {
        let (allows, holds_for) = granted(rule);
        format!("  {allows}{}\n", holds_for.map(|whom| format!("  # {whom}")).unwrap_or_default())
    };
    match rules {
        [] => String::new(),
        rules => format!("{FOR_SESSION}\n{}\n", rules.iter().map(line).collect::<String>()),
    }
}

/// The rules in force, in the order in which they are looked at.
pub fn as_lines(list: &RuleList) -> String {
    let mut text = String::new();
    let mut source = None;
    for rule in &list.rules {
        if source != Some(rule.source) {
            let _ = writeln!(text, "{}{}", if text.is_empty() { "" } else { "\n" }, heading(rule.source));
            source = Some(rule.source);
        }
        let _ = writeln!(text, "{}", line(rule));
    }
    if !list.untrusted.is_empty() {
        let _ = writeln!(text, "\noff, because the folder is not trusted (`neco trust`):");
        list.untrusted.iter().for_each(|file| text.push_str(&format!("  {file}\n")));
    }
    text
}

fn heading(source: RuleSource) -> String {
    match source {
        RuleSource::Project => {
            format!("{source} (narrows only: what it allows is decided by your own rules below)")
        }
        RuleSource::BuiltIn | RuleSource::User | RuleSource::CommandLine | RuleSource::Session => source.to_string(),
    }
}

fn line(rule: &RuleRow) -> String {
    let name = rule.name.as_ref().map(|name| format!("  “{}”", visible_line(name))).unwrap_or_default();
    let reason = rule.reason.as_ref().map(|reason| format!("\n        {}", below(reason, 8))).unwrap_or_default();
    let what = visible_line(&rule.about);
    let void = if is_void(rule) { format!("  ({NO_EFFECT})") } else { String::new() };
    format!("  {:<5} {:>4}  {what}{name}{void}  # {}{reason}", rule.decision, rule.priority, rule.place)
}

/// A text whose further lines stand below the first one, which begins at the column `at`.
fn below(text: &str, at: usize) -> String {
    visible(text.trim()).replace('\n', &format!("\n{:at$}", ""))
}

/// What would happen to one call, and why; `closed` names what its sandbox closes.
pub fn explained(explained: &ExplainedCall, closed: &str) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {}", below(value, 11));
    };
    row("decision", explained.decision.name());
    row("because", &explained.reason);
    row("rule", &explained.rule);
    let place = if explained.place.is_empty() { String::new() } else { format!(", {}", explained.place) };
    row("source", &format!("{}{place}", explained.source));
    row("risk", explained.risk.name());
    row("tool", &explained.tool);
    row("arguments", &explained.arguments);
    explained.paths.iter().for_each(|path| row("path", path));
    for part in &explained.commands {
        let because = part.because.as_ref().map(|because| format!(": {because}")).unwrap_or_default();
        row("command", &format!("{}  [{}{because}]", part.command, part.risk));
    }
    if explained.understood == Some(false) {
        row("", "not all of the line was understood, so no rule for a command covers it");
    }
    if !closed.is_empty() {
        row("closed", &format!("in its sandbox, by rules: {closed}"));
    }
    if let Some(rule) = &explained.session_rule {
        row("session", &format!("could be allowed: {rule}"));
    }
    explained.notes.iter().for_each(|note| row("note", note));
    text
}

/// The cases that come out otherwise than their author means, and how many those are.
pub fn tested(cases: &[TestedCase]) -> String {
    let mut text = String::new();
    let wrong: Vec<&TestedCase> = cases.iter().filter(|case| !case.ok).collect();
    for TestedCase { place, name, expected, decision, reason, rule, source, rule_place, .. } in &wrong {
        let _ = writeln!(text, "✗ {place}: {name}: expected {expected}, but it is {decision}");
        let at = if rule_place.is_empty() { String::new() } else { format!(", {rule_place}") };
        let _ = writeln!(text, "    {}\n    rule {} ({source}{at})", below(reason, 4), visible_line(rule));
    }
    let _ = match wrong.len() {
        0 => writeln!(text, "✓ all {} cases pass", cases.len()),
        wrong => writeln!(text, "{wrong} of {} cases fail", cases.len()),
    };
    text
}

/// The rules that are kept for good, numbered.
pub fn kept(kept: &KeptRules) -> String {
    let mut text = format!("Your rules: what you allowed with \"always\", and what you added ({}):\n", kept.file);
    for (rule, number) in kept.rules.iter().zip(1..) {
        let _ = writeln!(text, "{number:>4}  {}", rule.title);
    }
    text + "`neco policy remove NUMBER` deletes one\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_allowed_for_a_session_stands_under_its_heading() {
        let rule = |allows: &str, agent: Option<&str>| GrantedRule {
            allows: allows.to_owned(),
            agent: agent.map(str::to_owned),
        };
        let rules = [rule("edit and write ordinary files", None), rule("run `make *`", Some("coder"))];
        let told = "For this session\n  allow edit and write ordinary files\n  allow run `make *`  # coder only\n\n";
        assert_eq!(for_session(&rules), told);
        assert_eq!(for_session(&[]), "");
    }
}
