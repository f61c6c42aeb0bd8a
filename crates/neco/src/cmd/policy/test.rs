//! `neco policy test`: whether rules say what their author means.

use std::fmt::Write;
use std::path::Path;

use neco_config::Env;
use neco_proto::visible::visible_line;
use neco_safety::policy::{Case, Verdict, read_cases};
use serde_json::{Value, json};

use super::look::Looker;
use super::run::Here;
use crate::exit::Exit;
use crate::failure::Failure;

/// Judges every case of a file; gives the report and how the process ends.
///
/// # Errors
/// When the file can't be read or understood.
pub fn check(here: &Here, env: &Env, file: &Path, as_json: bool) -> Result<(String, Exit), Failure> {
    let shown = file.display().to_string();
    let text =
        std::fs::read_to_string(file).map_err(|error| Failure::usage(format!("{shown} can't be read: {error}")))?;
    let cases = read_cases(&text, &shown).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::usage(lines.join("\n"))
    })?;
    let looker = Looker::new(here, env)?;
    let mut judged = Vec::new();
    for case in &cases {
        judged.push((case, judge(here, &looker, case)?));
    }
    let wrong = judged.iter().filter(|(case, verdict)| verdict.ruling != case.expect).count();
    let exit = if wrong == 0 { Exit::Done } else { Exit::Failed };
    Ok((if as_json { objects(&judged) } else { lines(&judged, wrong) }, exit))
}

fn judge(here: &Here, looker: &Looker, case: &Case) -> Result<Verdict, Failure> {
    let looked = looker.look(&case.tool, case.args.clone())?;
    let config = &here.loaded.config;
    let who = looker.who(case.mode.unwrap_or(config.mode), case.approval.unwrap_or(config.approval), case.person);
    Ok(here.rules.policy.judge(&looked.action(), &who))
}

fn title(case: &Case) -> String {
    let args = || neco_safety::policy::canonical::canonical(&case.args);
    visible_line(&case.name.clone().unwrap_or_else(|| format!("{} {}", case.tool, args())))
}

fn lines(judged: &[(&Case, Verdict)], wrong: usize) -> String {
    let mut text = String::new();
    for (case, verdict) in judged.iter().filter(|(case, verdict)| verdict.ruling != case.expect) {
        let (place, title, expect) = (&case.place, title(case), case.expect);
        let _ = writeln!(text, "✗ {place}: {title}: expected {expect}, but it is {}", verdict.ruling);
        let _ = writeln!(text, "    {}", visible_line(&verdict.reason));
        let at = if verdict.rule.place.is_empty() { String::new() } else { format!(", {}", verdict.rule.place) };
        let _ = writeln!(text, "    rule {} ({}{at})", visible_line(&verdict.rule.title), verdict.rule.source);
    }
    let _ = match wrong {
        0 => writeln!(text, "✓ all {} cases come out as expected", judged.len()),
        wrong => writeln!(text, "{wrong} of {} cases come out otherwise", judged.len()),
    };
    text
}

fn objects(judged: &[(&Case, Verdict)]) -> String {
    let object = |(case, verdict): &(&Case, Verdict)| {
        json!({
            "place": case.place,
            "name": title(case),
            "expected": case.expect.name(),
            "decision": verdict.ruling.name(),
            "ok": verdict.ruling == case.expect,
            "rule": verdict.rule.title,
            "source": verdict.rule.source.name(),
            "reason": verdict.reason,
        })
    };
    let cases: Vec<Value> = judged.iter().map(object).collect();
    format!("{:#}\n", json!({ "cases": cases }))
}
