//! `eslint --format json`: one list on one line.

use std::path::Path;

use serde_json::Value;

use super::super::problem::{Problem, Severity};
use super::format::{file, message, number};

pub(super) fn read(output: &str, folder: &Path) -> Vec<Problem> {
    let lists = output.lines().filter(|line| line.starts_with('['));
    let files = lists.filter_map(|line| serde_json::from_str::<Vec<Value>>(line).ok()).flatten();
    files.flat_map(|item| of_file(&item, folder)).collect()
}

fn of_file(item: &Value, folder: &Path) -> Vec<Problem> {
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
