//! What the rules come to: for one call with everything that was looked at, and for a file of cases.

use neco_proto::app::AppError;
use neco_proto::app::rules::{ExplainCall, ExplainedCall, ExplainedCommand, TestRules, TestedCase, TestedRules};
use neco_proto::visible::visible_line;
use neco_safety::policy::{Case, canonical, read_cases};
use serde_json::{Value, json};

use super::here::Here;
use super::look::Looker;
use crate::app::StorelessApp;
use crate::error::invalid;

pub(crate) async fn explain(app: &StorelessApp, request: ExplainCall) -> Result<ExplainedCall, AppError> {
    let here = Here::look(app, &request.folder, &request.given)?;
    explained(app, &here, &request).await.map_err(|error| error.after(&here.warnings))
}

async fn explained(app: &StorelessApp, here: &Here, request: &ExplainCall) -> Result<ExplainedCall, AppError> {
    let looker = Looker::new(here, &app.env)?;
    let arguments = read(&request.arguments, looker.first_argument(&request.tool))?;
    let looked = looker.look(&request.tool, arguments).await;
    let config = &here.loaded.config;
    let (mode, approval) = (request.mode.unwrap_or(config.mode), request.approval.unwrap_or(config.approval));
    let who = looker.who(mode, approval, !request.no_person);
    let explained = here.rules.policy.explain(&looked.action(), &who);
    let (verdict, parts) = (explained.verdict, explained.parts.into_iter());
    Ok(ExplainedCall {
        decision: verdict.ruling,
        reason: verdict.reason,
        rule: verdict.rule.title,
        source: verdict.rule.source,
        place: verdict.rule.place,
        risk: verdict.risk,
        tool: looked.tool,
        arguments: explained.arguments,
        paths: explained.paths.iter().map(|path| path.display().to_string()).collect(),
        commands: parts
            .map(|part| ExplainedCommand { command: part.text, risk: part.risk, because: part.because })
            .collect(),
        understood: explained.understood,
        closed: explained.closed,
        session_rule: explained.session_rule,
        notes: looked.notes,
        warnings: here.warnings.clone(),
    })
}

/// A JSON object, or the argument called `first` as it is: a group in braces is a command too.
///
/// # Errors
/// When it is written as an object and is none: no command begins with a brace and a quote.
fn read(arguments: &str, first: &str) -> Result<Value, AppError> {
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Err(error) if arguments.trim_start().starts_with("{\"") => {
            Err(invalid(format!("the arguments are not a JSON object: {error}")))
        }
        Ok(_) | Err(_) => Ok(json!({ first: arguments })),
    }
}

pub(crate) async fn test(app: &StorelessApp, request: TestRules) -> Result<TestedRules, AppError> {
    let here = Here::look(app, &request.folder, &request.given)?;
    let cases = tested(app, &here, &request.file).await.map_err(|error| error.after(&here.warnings))?;
    Ok(TestedRules { cases, warnings: here.warnings })
}

async fn tested(app: &StorelessApp, here: &Here, file: &str) -> Result<Vec<TestedCase>, AppError> {
    let text = std::fs::read_to_string(file).map_err(|error| invalid(format!("{file} can't be read: {error}")))?;
    let cases = read_cases(&text, file).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        invalid(lines.join("\n"))
    })?;
    let looker = Looker::new(here, &app.env)?;
    let mut tested = Vec::new();
    for case in cases {
        tested.push(judged(here, &looker, case).await);
    }
    Ok(tested)
}

async fn judged(here: &Here, looker: &Looker, case: Case) -> TestedCase {
    let name = case.name.unwrap_or_else(|| format!("{} {}", case.tool, canonical::canonical(&case.args)));
    let looked = looker.look(&case.tool, case.args).await;
    let config = &here.loaded.config;
    let who = looker.who(case.mode.unwrap_or(config.mode), case.approval.unwrap_or(config.approval), case.person);
    let verdict = here.rules.policy.judge(&looked.action(), &who);
    TestedCase {
        place: case.place,
        name: visible_line(&name),
        expected: case.expect,
        decision: verdict.ruling,
        ok: verdict.ruling == case.expect,
        rule: verdict.rule.title,
        source: verdict.rule.source,
        reason: verdict.reason,
        rule_place: verdict.rule.place,
    }
}
