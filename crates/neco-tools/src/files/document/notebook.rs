//! Jupyter notebooks, shown as text: cells with their numbers, outputs shortened, pictures named.

use std::fmt::Write;

use neco_proto::ErrorCode;
use neco_safety::path::Located;
use neco_toolkit::{ToolError, ToolOutput, counted};
use serde_json::Value;

use super::span::{Span, stretch};
use crate::files::listing::size;
use crate::shell::plain_text::plain_text;

/// A notebook beyond this is not taken apart.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// Lines and characters shown of one output.
const OUTPUT_LINES: usize = 20;
const OUTPUT_CHARACTERS: usize = 2000;

/// Whether a file is a notebook by its name.
pub fn is_notebook(located: &Located) -> bool {
    located.path().extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}

/// The cells of a notebook; `None` when the file is no notebook after all, and is read as any text.
/// Fails when it can't be read or has no such cells.
pub fn notebook(located: &Located, span: Span, bytes: usize) -> Result<Option<ToolOutput>, ToolError> {
    let (content, _) = located.read(MOST_BYTES + 1)?;
    if content.len() as u64 > MOST_BYTES {
        return Ok(None);
    }
    let Ok(notebook) = serde_json::from_slice::<Value>(&content) else { return Ok(None) };
    let Some(cells) = cells(&notebook) else { return Ok(None) };
    let wanted = span.of(cells.len());
    if wanted.is_empty() && !cells.is_empty() {
        let message = format!(
            "{} has {}; pages starts at {}",
            located.shown(),
            counted(cells.len(), "cell", "cells"),
            span.first
        );
        return Err(ToolError::new(ErrorCode::InvalidArguments, message));
    }
    let language =
        notebook.pointer("/metadata/kernelspec/language").or(notebook.pointer("/metadata/language_info/name"));
    let (mut text, mut last) = (String::new(), *wanted.start());
    for number in wanted.clone() {
        let Some(cell) = cells.get(number - 1) else { break };
        let one = cell_text(number, cell);
        if text.len() + one.len() > bytes && !text.is_empty() {
            break;
        }
        text.push_str(&one);
        last = number;
    }
    let end = text.len();
    let language = language.and_then(Value::as_str).map(plain_name).filter(|name| !name.is_empty());
    let language = language.map(|name| format!(" ({name})")).unwrap_or_default();
    let more = if last < *wanted.end() { format!("; go on with pages={}-", last + 1) } else { String::new() };
    let _ = write!(
        text,
        "(a notebook{language}, {} of {} as text{more}; for its JSON, which is what edit_file changes, give offset=1)",
        stretch("cell", *wanted.start(), last),
        cells.len()
    );
    Ok(Some(ToolOutput::text(text).outside(..end, located.shown())))
}

/// The name of a language, as far as it is one: it stands among our own words.
fn plain_name(name: &str) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "+#.- ".contains(*letter);
    name.chars().filter(plain).take(30).collect()
}

/// The cells, also of the old format that has them in sheets.
fn cells(notebook: &Value) -> Option<Vec<&Value>> {
    if let Some(cells) = notebook.get("cells").and_then(Value::as_array) {
        return Some(cells.iter().collect());
    }
    let sheets = notebook.get("worksheets")?.as_array()?;
    Some(sheets.iter().filter_map(|sheet| sheet.get("cells")?.as_array()).flatten().collect())
}

fn cell_text(number: usize, cell: &Value) -> String {
    let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("cell");
    let count = cell.get("execution_count").or(cell.get("prompt_number")).and_then(Value::as_u64);
    let run = count.map(|count| format!(", run {count}")).unwrap_or_default();
    let mut text = format!("── cell {number} ({kind}{run})\n");
    push_lines(&mut text, &joined(cell.get("source").or(cell.get("input"))));
    for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        push_output(&mut text, output);
    }
    for (name, _) in cell.get("attachments").and_then(Value::as_object).into_iter().flatten() {
        let _ = writeln!(text, "[attached: {name}]");
    }
    text
}

fn push_output(text: &mut String, output: &Value) {
    let kind = output.get("output_type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "stream" => {
            let name = output.get("name").or(output.get("stream")).and_then(Value::as_str).unwrap_or("stdout");
            push_shortened(text, name, &joined(output.get("text")));
        }
        "error" | "pyerr" => {
            let name = output.get("ename").and_then(Value::as_str).unwrap_or("error");
            let value = output.get("evalue").and_then(Value::as_str).unwrap_or_default();
            let trace = joined_with(output.get("traceback"), "\n");
            push_shortened(text, "error", &if trace.is_empty() { format!("{name}: {value}") } else { trace });
        }
        _ => push_data(text, output.get("data").unwrap_or(output)),
    }
}

/// Of several forms of one output the plain one is shown, and others are named.
fn push_data(text: &mut String, data: &Value) {
    let plain = joined(data.get("text/plain").or(data.get("text")));
    if !plain.is_empty() {
        push_shortened(text, "result", &plain);
    }
    for (kind, value) in data.as_object().into_iter().flatten() {
        let bytes = joined(Some(value)).len() as u64;
        if kind.starts_with("image/") || kind == "png" || kind == "jpeg" {
            // The data is in base64, which is a third longer.
            let bytes = if kind.ends_with("xml") { bytes } else { bytes / 4 * 3 };
            let _ = writeln!(text, "[picture: {kind}, {}]", size(bytes));
        } else if plain.is_empty() && kind.contains('/') {
            let _ = writeln!(text, "[output: {kind}, {}]", size(bytes));
        }
    }
}

fn push_shortened(text: &mut String, name: &str, output: &str) {
    let clean = plain_text(output.as_bytes());
    let lines: Vec<&str> = clean.trim_end().lines().collect();
    let _ = writeln!(text, "[{name}]");
    let mut left = OUTPUT_CHARACTERS;
    for (index, line) in lines.iter().enumerate() {
        let length = line.chars().count();
        if index >= OUTPUT_LINES || length > left {
            let kept: String = line.chars().take(if index >= OUTPUT_LINES { 0 } else { left }).collect();
            let _ = writeln!(text, "{kept}… ({} of {} lines left out)", lines.len() - index, lines.len());
            return;
        }
        left -= length;
        push_lines(text, line);
    }
}

fn push_lines(text: &mut String, lines: &str) {
    text.push_str(lines);
    if !lines.is_empty() && !lines.ends_with('\n') {
        text.push('\n');
    }
}

/// Text that may be in pieces.
fn joined(value: Option<&Value>) -> String {
    joined_with(value, "")
}

fn joined_with(value: Option<&Value>, between: &str) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(pieces)) => pieces.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between),
        Some(other @ (Value::Object(_) | Value::Number(_) | Value::Bool(_))) => other.to_string(),
        Some(Value::Null) | None => String::new(),
    }
}
