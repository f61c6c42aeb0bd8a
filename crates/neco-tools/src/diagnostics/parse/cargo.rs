//! `cargo check --message-format=json`: one object a line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::problem::{Problem, Severity};
use super::format::{message, number};
use super::pattern;

pub(super) fn read(output: &str, folder: &Path) -> Vec<Problem> {
    let problems: Vec<Problem> = output
        .lines()
        .filter(|line| line.starts_with('{'))
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|item| problem(&item, folder))
        .collect();
    // A manifest that can't be read is told in words.
    if problems.is_empty() { pattern::rust_words(output, folder) } else { problems }
}

fn problem(item: &Value, folder: &Path) -> Option<Problem> {
    if item.get("reason")?.as_str()? != "compiler-message" {
        return None;
    }
    let said = item.get("message")?;
    let severity = match said.get("level")?.as_str()? {
        "error" | "error: internal compiler error" => Severity::Error,
        "warning" => Severity::Warning,
        // What only sums up.
        _ => return None,
    };
    let text = said.get("message")?.as_str()?;
    let spans = said.get("spans").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let Some(span) = spans.iter().find(|span| span.get("is_primary").and_then(Value::as_bool) == Some(true)) else {
        // Counts of problems have no place; an error without one is worth telling.
        let counts = text.contains("emitted") || text.starts_with("aborting due to");
        return (!counts).then(|| Problem {
            severity,
            file: None,
            line: None,
            column: None,
            message: message(text),
            code: code(said),
        });
    };
    let span = outermost(span);
    let label = span.get("label").and_then(Value::as_str).filter(|label| !label.is_empty() && !text.contains(label));
    let text = label.map_or_else(|| text.to_owned(), |label| format!("{text}: {label}"));
    Some(Problem {
        severity,
        file: span.get("file_name").and_then(Value::as_str).map(|name| file(name, item, folder)),
        line: number(span.get("line_start")),
        column: number(span.get("column_start")),
        message: message(&text),
        code: code(said),
    })
}

/// A problem in a macro is where the macro was called: what is inside is often nobody's to change.
fn outermost(span: &Value) -> &Value {
    let mut span = span;
    while let Some(outer) = span.pointer("/expansion/span").filter(|outer| outer.is_object()) {
        span = outer;
    }
    span
}

fn code(said: &Value) -> Option<String> {
    said.pointer("/code/code").and_then(Value::as_str).map(str::to_owned)
}

/// Names start at the folder of the cargo workspace, which may lie above.
fn file(name: &str, item: &Value, folder: &Path) -> PathBuf {
    let source = item.pointer("/target/src_path").and_then(Value::as_str).map(Path::new).unwrap_or(folder);
    let whole = source.ancestors().skip(1).map(|above| above.join(name)).find(|path| path.exists());
    whole.unwrap_or_else(|| folder.join(name))
}
