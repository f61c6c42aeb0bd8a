//! `neco policy remove`: what was allowed with "always", and taking it back.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZeroUsize;

use neco_app::workspace::rules::AlwaysFile;
use neco_config::Env;
use neco_proto::visible::visible_line;
use neco_safety::command::Place;
use neco_safety::policy::{RuleReader, Source, forget, kept};

use crate::failure::Failure;

/// Takes the rules with these numbers back, or all; lists them when none is named.
///
/// # Errors
/// When there is no such rule, or the file can't be read or written.
pub fn remove(env: &Env, numbers: &[NonZeroUsize], all: bool) -> Result<String, Failure> {
    let file = AlwaysFile::of(env);
    let unusable = |error: std::io::Error| Failure::usage(format!("{}: {error}", file.shown()));
    let rules = kept(file.path()).map_err(unusable)?;
    if rules.is_empty() {
        return Ok("nothing was allowed with \"always\"\n".to_owned());
    }
    let chosen: BTreeSet<usize> = match all {
        true => (0..rules.len()).collect(),
        false => numbers.iter().map(|number| number.get() - 1).collect(),
    };
    if chosen.is_empty() {
        return Ok(listed(&rules, file.shown()));
    }
    if let Some(number) = chosen.iter().find(|number| **number >= rules.len()) {
        return Err(Failure::usage(format!("{}: there is no rule {}", file.shown(), number + 1)));
    }
    let chosen: Vec<&str> = chosen.iter().filter_map(|number| rules.get(*number)).map(String::as_str).collect();
    forget(file.path(), &chosen).map_err(unusable)?;
    let mut text = String::new();
    for rule in chosen {
        let _ = writeln!(text, "no longer: {}", title(rule));
    }
    Ok(text)
}

fn listed(rules: &[String], file: &str) -> String {
    let mut text = format!("kept for good: what you said \"always\" to, and rules that you added ({file}):\n");
    for (number, rule) in rules.iter().enumerate() {
        let _ = writeln!(text, "{:>4}  {}", number + 1, title(rule));
    }
    text.push_str("`neco policy remove NUMBER` takes one back\n");
    text
}

/// A rule in one line: what it says, or its own text when that can't be told.
fn title(rule: &str) -> String {
    let place = Place::default();
    let read = RuleReader { place: &place }.file(rule, "", Source::User);
    let words = read.rules.first().map_or_else(|| rule.replace('\n', " "), neco_safety::policy::Rule::title);
    visible_line(&words)
}
