//! The rules in force, in the order in which they are looked at.

use std::fmt::Write;

use neco_proto::RuleSource;
use neco_proto::app::rules::{RuleList, RuleRow};
use neco_proto::visible::visible_line;

/// The list.
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
        let _ = writeln!(text, "\nnot in force, as the folder is not trusted (`neco trust`):");
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
    let reason = rule.reason.as_ref().map(|reason| format!("\n        {}", visible_line(reason))).unwrap_or_default();
    let what = visible_line(&rule.about);
    format!("  {:<5} {:>4}  {what}{name}  # {}{reason}", rule.decision, rule.priority, rule.place)
}
