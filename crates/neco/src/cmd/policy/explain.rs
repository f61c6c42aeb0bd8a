//! `neco policy explain`: what would happen to a call, and why.

use std::fmt::Write;

use neco_proto::app::rules::ExplainedCall;
use neco_proto::visible::visible_line;
use neco_safety::policy::some_of;

/// The explanation of one call.
#[must_use]
pub fn as_lines(explained: &ExplainedCall) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {}", visible_line(value));
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
    if !explained.closed.is_empty() {
        row("closed", &format!("in its sandbox, by rules: {}", some_of(&explained.closed)));
    }
    if let Some(rule) = &explained.session_rule {
        row("session", &format!("could be allowed: {rule}"));
    }
    explained.notes.iter().for_each(|note| row("note", note));
    text
}
