//! `neco policy remove`: what was allowed with "always", and taking it back.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZeroUsize;

use neco_config::Env;
use neco_proto::app::rules::{KeptRules, ListKeptRules, RemoveRules};

use crate::args::EverywhereArgs;
use crate::cmd::program::ask;
use crate::failure::Failure;

/// Takes the rules with these numbers back, or all; lists them when none is named.
///
/// # Errors
/// When there is no such rule, or the file can't be read or written.
pub fn remove(everywhere: &EverywhereArgs, env: &Env, numbers: &[NonZeroUsize], all: bool) -> Result<String, Failure> {
    let kept = ask(&ListKeptRules {}, everywhere, env)?;
    if kept.rules.is_empty() {
        return Ok("nothing was allowed with \"always\"\n".to_owned());
    }
    let chosen: BTreeSet<usize> = match all {
        true => (0..kept.rules.len()).collect(),
        false => numbers.iter().map(|number| number.get() - 1).collect(),
    };
    if chosen.is_empty() {
        return Ok(listed(&kept));
    }
    if let Some(number) = chosen.iter().find(|number| **number >= kept.rules.len()) {
        return Err(Failure::usage(format!("{}: there is no rule {}", kept.file, number + 1)));
    }
    let rules = chosen.iter().filter_map(|number| kept.rules.get(*number)).map(|rule| rule.text.clone()).collect();
    let removed = ask(&RemoveRules { rules }, everywhere, env)?;
    Ok(removed.rules.iter().map(|rule| format!("no longer: {}\n", rule.title)).collect())
}

fn listed(kept: &KeptRules) -> String {
    let mut text = format!("kept for good: what you said \"always\" to, and rules that you added ({}):\n", kept.file);
    for (number, rule) in kept.rules.iter().enumerate() {
        let _ = writeln!(text, "{:>4}  {}", number + 1, rule.title);
    }
    text.push_str("`neco policy remove NUMBER` takes one back\n");
    text
}
