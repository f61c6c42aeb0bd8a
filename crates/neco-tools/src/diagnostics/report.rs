//! What checkers found, in words for the model and the person.

use std::fmt::Write;
use std::path::Path;

use neco_proto::{Display, ErrorCode};
use neco_toolkit::ToolOutput;

use super::problem::{Problem, Severity};
use super::run::Ran;
use crate::shell::wording::seconds;

/// Problems that are listed.
const MOST_LISTED: usize = 100;

/// Problems of one severity.
const KINDS: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Info];

/// The result of a call: our own words on each checker, then what they found, which is data.
pub(super) fn report(ran: &[Ran], notes: &[String], from: &Path, only: Option<&Path>) -> ToolOutput {
    let mut text = String::new();
    for one in ran {
        let _ = writeln!(text, "{}", sentence(one));
    }
    for note in notes {
        let _ = writeln!(text, "[{note}]");
    }
    let all: Vec<&Problem> = ran.iter().flat_map(|one| &one.problems).collect();
    let (meant, others): (Vec<&Problem>, Vec<&Problem>) =
        all.into_iter().partition(|problem| only.is_none_or(|only| problem.file.as_deref() == Some(only)));
    let start = text.len();
    let items: Vec<String> = meant.iter().take(MOST_LISTED).map(|problem| problem.shown(from).to_string()).collect();
    let mut found = items.join("\n");
    for broken in ran.iter().filter_map(|one| one.broken.as_ref()).filter(|broken| !broken.said.trim().is_empty()) {
        let _ = write!(found, "{}{}", if found.is_empty() { "" } else { "\n" }, broken.said.trim_end());
    }
    text.push_str(&found);
    let end = text.len();
    text.push_str(&left_out(meant.len(), others.len(), only.is_some()));
    let names: Vec<&str> = ran.iter().map(|one| one.name.as_str()).collect();
    let broken = ran.iter().any(|one| one.broken.is_some());
    let total = meant.len() as u64;
    let title = ran.iter().map(sentence).collect::<Vec<_>>().join("; ");
    let mut output = ToolOutput::text(text.trim_end()).outside(start..end.min(text.trim_end().len()), names.join(", "));
    output.display = Some(Display::List { title, items, total });
    output.error_code = broken.then_some(ErrorCode::ToolFailed);
    output
}

/// Problems as a list, the worst first; the rest is counted.
pub(super) fn listed(problems: &[Problem], from: &Path, most: usize) -> String {
    let mut lines: Vec<String> = problems.iter().take(most).map(|problem| problem.shown(from).to_string()).collect();
    if problems.len() > most {
        lines.push(format!("… and {} more", problems.len() - most));
    }
    lines.join("\n")
}

/// `2 errors, 1 warning`.
pub(super) fn counted<'a>(problems: impl Iterator<Item = &'a Problem> + Clone) -> String {
    let counts = KINDS.into_iter().filter_map(|kind| {
        let count = problems.clone().filter(|problem| problem.severity == kind).count();
        let plural = if count == 1 { "" } else { "s" };
        match (count, kind) {
            (0, _) => None,
            (_, Severity::Info) => Some(format!("{count} note{plural}")),
            (_, Severity::Error | Severity::Warning) => Some(format!("{count} {}{plural}", kind.name())),
        }
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn sentence(ran: &Ran) -> String {
    let took = seconds(ran.took);
    let found = match ran.problems.is_empty() {
        true => "nothing found".to_owned(),
        false => counted(ran.problems.iter()),
    };
    match &ran.broken {
        Some(broken) if ran.problems.is_empty() => format!("{} {} ({took})", ran.name, broken.why),
        Some(broken) => format!("{}: {found}; it {} ({took})", ran.name, broken.why),
        None => format!("{}: {found} ({took})", ran.name),
    }
}

fn left_out(meant: usize, others: usize, one_file: bool) -> String {
    let mut text = String::new();
    if let Some(more) = meant.checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        let _ = write!(text, "\n[{more} more are not listed; mend these first, or ask about one file]");
    }
    if one_file && others > 0 {
        let _ = write!(text, "\n[{others} in other files are not listed; leave path out to see them]");
    }
    text
}
