//! Linters that print JSON.

use std::path::Path;

use serde_json::{Map, Value};

use super::super::problem::{Problem, Severity};
use super::format::{file, message, number};
use super::pattern;

/// `eslint --format json`: one list on one line.
pub(super) fn eslint(output: &str, folder: &Path) -> Vec<Problem> {
    let lists = output.lines().filter(|line| line.starts_with('['));
    let files = lists.filter_map(|line| serde_json::from_str::<Vec<Value>>(line).ok()).flatten();
    files.flat_map(|item| of_eslint(&item, folder)).collect()
}

fn of_eslint(item: &Value, folder: &Path) -> Vec<Problem> {
    let name = item.get("filePath").and_then(Value::as_str).unwrap_or_default();
    let messages = item.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let problem = |said: &Value| {
        Some(Problem {
            severity: if said.get("severity")?.as_u64()? >= 2 { Severity::Error } else { Severity::Warning },
            file: file(name, folder),
            line: number(said.get("line")),
            column: number(said.get("column")),
            message: message(said.get("message")?.as_str()?),
            code: said.get("ruleId").and_then(Value::as_str).map(str::to_owned),
        })
    };
    messages.iter().filter_map(problem).collect()
}

/// `ruff check --output-format json-lines`: one object a line.
pub(super) fn ruff(output: &str, folder: &Path) -> Vec<Problem> {
    let objects = output.lines().filter(|line| line.starts_with('{'));
    objects.filter_map(|line| serde_json::from_str(line).ok()).filter_map(|item| of_ruff(&item, folder)).collect()
}

fn of_ruff(item: &Value, folder: &Path) -> Option<Problem> {
    let code = item.get("code").and_then(Value::as_str);
    // Older ones name no severity; there only what keeps a file from being read has no code of a rule.
    let severity = match item.get("severity").and_then(Value::as_str) {
        Some(word) => Severity::of_word(word),
        None => Severity::Error,
    };
    Some(Problem {
        severity,
        file: item.get("filename").and_then(Value::as_str).and_then(|name| file(name, folder)),
        line: number(item.pointer("/location/row")),
        column: number(item.pointer("/location/column")),
        message: message(item.get("message")?.as_str()?),
        code: code.map(str::to_owned),
    })
}

pub(super) fn go_vet(output: &str, folder: &Path) -> Vec<Problem> {
    let (mut problems, mut words, mut object) = (Vec::new(), String::new(), None::<String>);
    for line in output.lines() {
        match &mut object {
            None if line == "{" => object = Some(line.to_owned()),
            None => {
                words.push_str(line.strip_prefix("vet: ").unwrap_or(line));
                words.push('\n');
            }
            Some(text) => {
                text.push_str(line);
                if line == "}" {
                    problems.extend(of_object(text, folder));
                    object = None;
                }
            }
        }
    }
    problems.extend(pattern::usual(&words, folder));
    problems
}

/// Packages hold analyses, which hold what they found.
fn of_object(text: &str, folder: &Path) -> Vec<Problem> {
    let packages: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let analyses = packages.values().filter_map(Value::as_object).flatten();
    analyses.flat_map(|(analysis, found)| of_analysis(analysis, found, folder)).collect()
}

fn of_analysis(analysis: &str, found: &Value, folder: &Path) -> Vec<Problem> {
    let problem = |said: &Value| {
        let mut place = said.get("posn")?.as_str()?.rsplitn(3, ':');
        let (column, line, name) = (place.next(), place.next(), place.next()?);
        Some(Problem {
            severity: Severity::Warning,
            file: file(name, folder),
            line: line.and_then(|number| number.parse().ok()),
            column: column.and_then(|number| number.parse().ok()),
            message: message(said.get("message")?.as_str()?),
            code: Some(analysis.to_owned()),
        })
    };
    found.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(problem).collect()
}
