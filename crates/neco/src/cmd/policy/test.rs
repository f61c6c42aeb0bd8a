//! `neco policy test`: whether rules say what their author means.

use std::fmt::Write;

use neco_proto::app::rules::TestedCase;
use neco_proto::visible::visible_line;

/// The cases that come out otherwise, and how many those are.
#[must_use]
pub fn as_lines(cases: &[TestedCase]) -> String {
    let mut text = String::new();
    let mut wrong = 0;
    for case in cases.iter().filter(|case| !case.ok) {
        wrong += 1;
        let TestedCase { place, name, expected, decision, .. } = case;
        let _ = writeln!(text, "✗ {place}: {name}: expected {expected}, but it is {decision}");
        let _ = writeln!(text, "    {}", visible_line(&case.reason));
        let at = if case.rule_place.is_empty() { String::new() } else { format!(", {}", case.rule_place) };
        let _ = writeln!(text, "    rule {} ({}{at})", visible_line(&case.rule), case.source);
    }
    let _ = match wrong {
        0 => writeln!(text, "✓ all {} cases come out as expected", cases.len()),
        wrong => writeln!(text, "{wrong} of {} cases come out otherwise", cases.len()),
    };
    text
}
