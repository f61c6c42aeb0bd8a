//! `tsc --pretty false`: `src/a.ts(1,7): error TS2322: …`, continued on lines that are set in.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::super::problem::{Problem, Severity};
use super::format::{file, message};

static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:(?<file>[^\s(][^(]*)\((?<line>\d+),(?<column>\d+)\): )?(?<severity>error|warning|message) (?<code>TS\d+): (?<message>.*)$").ok()
});

pub(super) fn read(output: &str, folder: &Path) -> Vec<Problem> {
    let Some(pattern) = LINE.as_ref() else { return Vec::new() };
    let mut problems: Vec<Problem> = Vec::new();
    for line in output.lines() {
        let Some(found) = pattern.captures(line) else {
            // More about the last one.
            if let Some(last) = problems.last_mut().filter(|_| line.starts_with("  ")) {
                last.message = message(&format!("{} {}", last.message, line));
            }
            continue;
        };
        let text = |name: &str| found.name(name).map(|text| text.as_str());
        problems.push(Problem {
            severity: Severity::of_word(if text("severity") == Some("message") {
                "info"
            } else {
                text("severity").unwrap_or("error")
            }),
            file: text("file").and_then(|name| file(name, folder)),
            line: text("line").and_then(|number| number.parse().ok()),
            column: text("column").and_then(|number| number.parse().ok()),
            message: message(text("message").unwrap_or_default()),
            code: text("code").map(str::to_owned),
        });
    }
    problems
}
