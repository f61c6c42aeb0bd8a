//! `go vet -json`: objects that begin and end on lines of their own, between words about what does not compile.

use std::path::Path;

use serde_json::{Map, Value};

use super::super::problem::{Problem, Severity};
use super::format::{file, message};
use super::pattern;

pub(super) fn read(output: &str, folder: &Path) -> Vec<Problem> {
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
