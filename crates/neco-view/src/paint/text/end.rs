//! The last lines of the work: what it left, how it ended, what it took.

use std::time::Duration;

use neco_proto::clean::clean_line;
use neco_proto::event::CompleteReason;

use crate::figures;
use crate::paint::colour::Paint;
use crate::paint::wrap::fitting;
use crate::reduce::block::WorkEnd;
use crate::wording::ending::ending;

/// Calls that are named.
const NAMED: usize = 3;
/// Columns of a name.
const NAME: usize = 40;

/// How the work ended and what it took.
pub fn lines(end: &WorkEnd, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    let left: Vec<String> = end
        .background
        .iter()
        .map(|left| format!("{}: {}", clean_line(&left.name), clean_line(&left.summary)))
        .collect();
    if !left.is_empty() {
        let words = format!("background commands stopped with this run: {}", named(&left));
        lines.push(paint.dim(&words));
    }
    lines.extend(end.budget.as_ref().map(|budget| paint.yellow(&format!("! {}", figures::budget(budget)))));
    let took = figures::duration(Duration::from_millis(end.duration_ms));
    let but = if end.reason == CompleteReason::Natural { ", but" } else { ";" };
    let refused = refused(&end.refused).map(|words| format!("{but} {words}")).unwrap_or_default();
    let mut parts = vec![format!("{} {took}{refused}", ending(end))];
    parts.extend((!end.models.is_empty()).then(|| clean_line(&end.models.join(", "))));
    if end.reason != CompleteReason::IterationLimit {
        parts.push(figures::count(end.turns.into(), "turn"));
    }
    parts.extend(figures::usage(&end.usage));
    parts.extend(figures::session_cost(&end.usage, &end.session_usage));
    parts.extend(end.context.map(|context| figures::context(context.tokens, context.window)));
    lines.push(paint.dim(&parts.join(" · ")));
    lines
}

/// `2 calls were refused (Run make; Write b)`; `None` when none was.
pub fn refused(refused: &[String]) -> Option<String> {
    let were = if refused.len() == 1 { "was" } else { "were" };
    let count = figures::count(refused.len() as u64, "call");
    (!refused.is_empty()).then(|| format!("{count} {were} refused ({})", named(refused)))
}

fn named(names: &[String]) -> String {
    let mut words: Vec<String> = names.iter().take(NAMED).map(|name| fitting(&clean_line(name), NAME)).collect();
    if names.len() > NAMED {
        words.push("…".to_owned());
    }
    words.join("; ")
}
