//! Which lines a rule that allows commands covers: every command in them, or not at all.

use std::borrow::Borrow;

use super::pattern::CommandPattern;
use crate::command::{Examined, Part, uncovered};

/// How well a rule fits a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Not at all.
    No,
    /// It allows some of the commands of the line, and others may allow the rest.
    InPart,
    /// It is about this call.
    Yes,
}

/// How much of a line these patterns allow. What is known to be safe needs no rule.
pub(super) fn fit<P: Borrow<CommandPattern>>(patterns: &[P], examined: &Examined, line: &str) -> Fit {
    if examined.never.is_some() {
        return Fit::No;
    }
    if patterns.iter().any(|pattern| pattern.borrow().is_line(line)) {
        return Fit::Yes;
    }
    if !examined.clean || examined.uncoverable || examined.parts.is_empty() {
        return Fit::No;
    }
    let mut covered = 0;
    let mut open = 0;
    for part in &examined.parts {
        if patterns.iter().any(|pattern| pattern.borrow().covers(part)) {
            covered += 1;
        } else if !part.needs_no_rule() {
            open += 1;
        }
    }
    match (covered, open) {
        (0, _) => Fit::No,
        (_, 0) => Fit::Yes,
        (_, _) => Fit::InPart,
    }
}

/// Why patterns that are about a command of a line do not allow the line.
pub(super) fn falls_short(patterns: &[CommandPattern], examined: &Examined) -> Option<String> {
    let begun = |part: &Part| patterns.iter().filter_map(CommandPattern::words).find(|words| part.begins_with(words));
    let (part, words) = examined.parts.iter().find_map(|part| Some((part, begun(part)?)))?;
    if part.uncoverable {
        let option = || "an option of it runs or writes something".to_owned();
        return Some(part.because.clone().unwrap_or_else(option));
    }
    if let Some(why) = uncovered(words, &part.words) {
        return Some(why);
    }
    if examined.uncoverable {
        return Some("a redirect, a variable, a function or another folder on the line is not covered".to_owned());
    }
    let is_open = |part: &&Part| !part.needs_no_rule() && !patterns.iter().any(|pattern| pattern.covers(part));
    let other = examined.parts.iter().find(is_open)?;
    Some(format!("it does not allow `{}`", other.texts().next().unwrap_or_default()))
}
