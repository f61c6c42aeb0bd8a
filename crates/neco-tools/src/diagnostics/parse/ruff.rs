//! `ruff check --output-format json-lines`: one object a line.

use std::path::Path;

use serde_json::Value;

use super::super::problem::{Problem, Severity};
use super::format::{file, message, number};

pub(super) fn read(output: &str, folder: &Path) -> Vec<Problem> {
    let objects = output.lines().filter(|line| line.starts_with('{'));
    objects.filter_map(|line| serde_json::from_str(line).ok()).filter_map(|item| problem(&item, folder)).collect()
}

fn problem(item: &Value, folder: &Path) -> Option<Problem> {
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
