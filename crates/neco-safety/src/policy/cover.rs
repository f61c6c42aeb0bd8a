//! Which lines a rule that allows commands covers: every command in them, or not at all.

use std::borrow::Borrow;

use neco_proto::Risk;

use super::pattern::CommandPattern;
use crate::command::{Examined, Part};

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
        } else if !needs_no_rule(part) {
            open += 1;
        }
    }
    match (covered, open) {
        (0, _) => Fit::No,
        (_, 0) => Fit::Yes,
        (_, _) => Fit::InPart,
    }
}

fn needs_no_rule(part: &Part) -> bool {
    part.risk == Risk::Safe || part.wrapper && !part.uncoverable
}

/// Whether a rule for a prefix covers a command, apart from how risky it is: that is for the rule to name.
pub(super) fn prefix_covers(prefix: &[String], part: &Part) -> bool {
    let begins = prefix.iter().zip(&part.words).all(|(text, word)| word.exact && word.text == *text);
    if !begins || prefix.is_empty() || prefix.len() > part.words.len() {
        return false;
    }
    let alone = Examined {
        risk: Risk::High,
        never: None,
        because: None,
        clean: true,
        network: false,
        history: false,
        committed: false,
        opens: Vec::new(),
        parts: vec![Part { risk: Risk::High, ..part.clone() }],
        uncoverable: false,
        standings: Vec::new(),
        mentions: Vec::new(),
    };
    alone.covered_by(prefix)
}
