//! `neco policy explain`: what would happen to a call, and why.

use std::fmt::Write;

use neco_config::Env;
use neco_proto::visible::visible_line;
use neco_safety::policy::Explanation;
use serde_json::{Value, json};

use super::look::{Looked, Looker};
use super::run::Here;
use crate::failure::Failure;
use crate::rule_args::SituationArgs;

/// The explanation of one call.
///
/// # Errors
/// When the arguments are none.
pub fn show(
    here: &Here,
    env: &Env,
    tool: &str,
    arguments: &str,
    situation: &SituationArgs,
    as_json: bool,
) -> Result<String, Failure> {
    let looker = Looker::new(here, env)?;
    let looked = looker.look(tool, read(arguments, looker.first_argument(tool))?)?;
    let config = &here.loaded.config;
    let who = looker.who(
        situation.mode.map_or(config.mode, Into::into),
        situation.approval.map_or(config.approval, Into::into),
        !situation.no_person,
    );
    let explanation = here.rules.policy.explain(&looked.action(), &who);
    Ok(if as_json { object(&looked, &explanation) } else { text(&looked, &explanation) })
}

/// A JSON object, or the argument called `first` as it is: a group in braces is a command too.
///
/// # Errors
/// When it is written as an object and is none: no command begins with a brace and a quote.
fn read(arguments: &str, first: &str) -> Result<Value, Failure> {
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Err(error) if arguments.trim_start().starts_with("{\"") => {
            Err(Failure::usage(format!("the arguments are not a JSON object: {error}")))
        }
        Ok(_) | Err(_) => Ok(json!({ first: arguments })),
    }
}

fn text(looked: &Looked, explanation: &Explanation) -> String {
    let verdict = &explanation.verdict;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {}", visible_line(value));
    };
    row("decision", verdict.ruling.name());
    row("because", &verdict.reason);
    row("rule", &verdict.rule.title);
    let place = if verdict.rule.place.is_empty() { String::new() } else { format!(", {}", verdict.rule.place) };
    row("source", &format!("{}{place}", verdict.rule.source));
    row("risk", verdict.risk.name());
    row("tool", &looked.tool);
    row("arguments", &explanation.arguments);
    for path in &explanation.paths {
        row("path", &path.display().to_string());
    }
    for part in &explanation.parts {
        let because = part.because.as_ref().map(|because| format!(": {because}")).unwrap_or_default();
        row("command", &format!("{}  [{}{because}]", part.text, part.risk));
    }
    if explanation.understood == Some(false) {
        row("", "not all of the line was understood, so no rule for a command covers it");
    }
    if let Some(closed) = explanation.closed_words() {
        row("closed", &format!("in its sandbox, by rules: {closed}"));
    }
    if let Some(rule) = &explanation.session_rule {
        row("session", &format!("could be allowed: {rule}"));
    }
    for note in &looked.notes {
        row("note", note);
    }
    text
}

fn object(looked: &Looked, explanation: &Explanation) -> String {
    let verdict = &explanation.verdict;
    let parts: Vec<Value> = explanation
        .parts
        .iter()
        .map(|part| json!({ "command": part.text, "risk": part.risk, "because": part.because }))
        .collect();
    let object = json!({
        "decision": verdict.ruling.name(),
        "reason": verdict.reason,
        "rule": verdict.rule.title,
        "source": verdict.rule.source.name(),
        "place": verdict.rule.place,
        "risk": verdict.risk,
        "tool": looked.tool,
        "arguments": explanation.arguments,
        "paths": explanation.paths,
        "commands": parts,
        "understood": explanation.understood,
        "closed": explanation.closed,
        "session_rule": explanation.session_rule,
        "notes": looked.notes,
    });
    format!("{object:#}\n")
}
