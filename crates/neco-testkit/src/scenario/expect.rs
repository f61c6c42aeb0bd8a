//! What must have happened.
//!
//! A line of the events block is an event line, or the beginning of one; `~ TEXT` at its end asks for
//! that text inside the event, and a line that begins with `! ` must match no event at all.

use neco_proto::Event;

use crate::describe::{line, text};

/// Holds the events against the expected lines.
///
/// # Errors
/// The expectation that was not met, and everything that happened.
pub(super) fn check(expected: &[String], events: &[Event]) -> Result<(), String> {
    nothing_more(expected, events)?;
    let mut rest = events;
    for expectation in expected.iter().filter(|line| !line.trim().is_empty()) {
        if let Some(unwanted) = expectation.strip_prefix("! ") {
            if let Some(event) = events.iter().find(|event| matches(unwanted, event)) {
                return Err(format!("must not happen: {unwanted:?}, but: {}", line(event)));
            }
            continue;
        }
        match rest.iter().position(|event| matches(expectation, event)) {
            Some(found) => rest = rest.get(found + 1..).unwrap_or_default(),
            None => return Err(format!("did not happen in this order: {expectation:?}\n{}", transcript(events))),
        }
    }
    Ok(())
}

/// Kinds of which a scenario that names one must name all: an unexpected call is as wrong as a missing one.
const COUNTED: [&str; 3] = ["tool_call_end", "permission_request", "agent_complete"];

fn nothing_more(expected: &[String], events: &[Event]) -> Result<(), String> {
    for kind in COUNTED {
        let named = expected.iter().filter(|line| line.split(' ').next() == Some(kind)).count();
        let happened = events.iter().filter(|event| event.body.type_name() == kind).count();
        if named > 0 && named != happened {
            return Err(format!("{named} of {kind} are named, {happened} happened\n{}", transcript(events)));
        }
    }
    Ok(())
}

/// Whether an event is what a line says.
pub(super) fn matches(expectation: &str, event: &Event) -> bool {
    let (wanted, fragment) = match expectation.split_once(" ~ ") {
        Some((wanted, fragment)) => (wanted.trim(), Some(fragment.trim())),
        None => (expectation.trim(), None),
    };
    let line = line(event);
    let begins = line.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    begins && fragment.is_none_or(|fragment| text(event).contains(fragment))
}

pub(super) fn transcript(events: &[Event]) -> String {
    events
        .iter()
        .map(|event| {
            let words: String = text(event).chars().take(300).collect();
            format!("  {:>3} {} {words:?}\n", event.seq, line(event))
        })
        .collect()
}
