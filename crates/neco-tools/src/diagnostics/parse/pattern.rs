//! Lines that match a regular expression.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::super::problem::{Problem, Severity};
use super::format::{file, message};

/// What most checkers print: `src/a.c:3:5: warning: …`; the column and the severity may be missing.
const USUAL: &str = r"^\s*(?<file>(?:[A-Za-z]:[\\/])?[^\s:\d][^:]*|\d[^:]*[^:\d][^:]*):(?<line>\d+):(?:(?<column>\d+):)?\s*(?:(?<severity>(?i:fatal error|error|warning|warn|note|info|hint|style|convention|refactor))(?:\[(?<code>[^\]]+)\])?:\s*)?(?<message>\S.*)$";

/// How cargo words a mistake in a manifest: the message first, then its place.
const RUST_WORDS: &str =
    r"(?m)^error: (?<message>.+)\n(?:.*\n){0,2}?\s*--> (?<file>[^:\n]+):(?<line>\d+):(?<column>\d+)";

/// `tsc --pretty false`: `src/a.ts(1,7): error TS2322: …`, continued on lines that are set in.
const TSC: &str = r"^(?:(?<file>[^\s(][^(]*)\((?<line>\d+),(?<column>\d+)\): )?(?<severity>error|warning|message) (?<code>TS\d+): (?<message>.*)$";

static USUAL_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(USUAL).ok());
static RUST_MANIFEST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(RUST_WORDS).ok());
static TSC_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TSC).ok());

/// The problems on lines as most checkers print them.
pub(super) fn usual(output: &str, folder: &Path) -> Vec<Problem> {
    USUAL_LINE.as_ref().map(|pattern| read(pattern, output, folder)).unwrap_or_default()
}

/// The problems on lines that match.
pub(super) fn read(pattern: &Regex, output: &str, folder: &Path) -> Vec<Problem> {
    output.lines().filter_map(|line| pattern.captures(line)).map(|found| problem(&found, folder)).collect()
}

/// The problems that cargo tells in words.
pub(super) fn rust_words(output: &str, folder: &Path) -> Vec<Problem> {
    let Some(pattern) = RUST_MANIFEST.as_ref() else { return Vec::new() };
    pattern.captures_iter(output).map(|found| problem(&found, folder)).collect()
}

pub(super) fn tsc(output: &str, folder: &Path) -> Vec<Problem> {
    let Some(pattern) = TSC_LINE.as_ref() else { return Vec::new() };
    let mut problems: Vec<Problem> = Vec::new();
    for line in output.lines() {
        if let Some(found) = pattern.captures(line) {
            problems.push(problem(&found, folder));
        } else if let Some(last) = problems.last_mut().filter(|_| line.starts_with("  ")) {
            // More about the last one.
            last.message = message(&format!("{} {line}", last.message));
        }
    }
    problems
}

fn problem(found: &regex::Captures<'_>, folder: &Path) -> Problem {
    let text = |name: &str| found.name(name).map(|text| text.as_str());
    let number = |name: &str| text(name).and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    Problem {
        severity: text("severity").map_or(Severity::Error, Severity::of_word),
        file: text("file").and_then(|name| file(name, folder)),
        line: number("line"),
        column: number("column"),
        message: message(text("message").unwrap_or_default()),
        code: text("code").map(str::to_owned),
    }
}
