//! `neco policy list`: the rules in force, in the order in which they are looked at.

use std::fmt::Write;

use neco_safety::policy::{LoadedPolicy, Rule, Source};
use serde_json::{Value, json};

use neco_proto::visible::visible_line;

/// The list.
#[must_use]
pub fn show(rules: &LoadedPolicy, as_json: bool) -> String {
    if as_json {
        let list: Vec<Value> = rules.policy.rules().iter().map(object).collect();
        return format!("{:#}\n", json!({ "rules": list, "untrusted": rules.untrusted }));
    }
    let mut text = String::new();
    let mut source = None;
    for rule in rules.policy.rules() {
        if source != Some(rule.source) {
            let _ = writeln!(text, "{}{}", if text.is_empty() { "" } else { "\n" }, heading(rule.source));
            source = Some(rule.source);
        }
        let _ = writeln!(text, "{}", line(rule));
    }
    if !rules.untrusted.is_empty() {
        let _ = writeln!(text, "\nnot in force, as the folder is not trusted (`neco trust`):");
        rules.untrusted.iter().for_each(|file| text.push_str(&format!("  {file}\n")));
    }
    text
}

fn heading(source: Source) -> String {
    match source {
        Source::Project => format!("{source} (narrows only: what it allows is decided by your own rules below)"),
        Source::BuiltIn | Source::User | Source::CommandLine | Source::Session => source.to_string(),
    }
}

fn line(rule: &Rule) -> String {
    let name = rule.name.as_ref().map(|name| format!("  “{}”", visible_line(name))).unwrap_or_default();
    let reason = rule.reason.as_ref().map(|reason| format!("\n        {}", visible_line(reason))).unwrap_or_default();
    let what = visible_line(&rule.when.to_string());
    format!("  {:<5} {:>4}  {what}{name}  # {}{reason}", rule.decision, rule.priority, rule.place)
}

fn object(rule: &Rule) -> Value {
    json!({
        "decision": rule.decision.name(),
        "priority": rule.priority,
        "source": rule.source.name(),
        "place": rule.place,
        "name": rule.name,
        "reason": rule.reason,
        "about": rule.when.to_string(),
    })
}
