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

static USUAL_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(USUAL).ok());
static RUST_MANIFEST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(RUST_WORDS).ok());

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
