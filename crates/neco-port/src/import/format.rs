//! Whose file is it?

use std::io::{self, BufRead, Read};

use neco_proto::app::port::Program;
use serde_json::Value;

use super::foreign::{Foreign, text};
use super::{claude_code, codex, gemini_cli, openclaw, opencode};

/// The most bytes of a file that is read as a whole; no conversation has nearly as many.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// The program that wrote a file with these lines: the first one that tells says it; `None` when nobody writes such
/// files.
pub fn written_by(lines: &[Record]) -> Option<Program> {
    lines.iter().filter_map(|line| line.json.as_ref()).find_map(of_record)
}

fn of_record(record: &Value) -> Option<Program> {
    let has = |field: &str| record.get(field).is_some();
    let kind = text(record, "type").unwrap_or_default();
    if has("neco_session") || (has("seq") && has("session_id") && has("agent_id")) {
        Some(Program::Neco)
    } else if record.get("info").is_some_and(|info| info.get("directory").is_some() || info.get("projectID").is_some())
    {
        Some(Program::Opencode)
    } else if has("sessionId") && (has("projectHash") || has("startTime")) || has("$set") || has("$rewindTo") {
        Some(Program::GeminiCli)
    } else if kind == "session" && has("id") && (has("version") || has("cwd")) {
        Some(Program::Openclaw)
    } else if has("payload") && has("timestamp")
        || matches!(kind, "session_meta" | "response_item" | "turn_context")
        || has("record_type")
        || (has("id") && has("timestamp") && has("instructions"))
    {
        Some(Program::Codex)
    } else if has("parentUuid")
        || has("leafUuid")
        || has("sessionId") && matches!(kind, "user" | "assistant")
        || claude_code::is_note(record)
    {
        Some(Program::ClaudeCode)
    } else {
        None
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What it holds; nothing when it is no JSON.
    pub json: Option<Value>,
    /// Whether it is the last line and was cut off.
    pub cut: bool,
}

/// The lines of a file, empty ones left out. A file that is one JSON document is one line.
/// Fails when it can't be read, or does not end.
pub fn records(input: impl BufRead) -> io::Result<Vec<Record>> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {} MB", MOST_BYTES / 1024 / 1024)));
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    // A document over several lines, or on one: its first line alone is no JSON, or all there is.
    if let Ok(whole) = serde_json::from_str::<Value>(text) {
        return Ok(vec![Record { json: Some(whole), cut: false }]);
    }
    let whole = text.ends_with('\n');
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let count = lines.len();
    let record = |(at, line): (usize, &&str)| {
        let json = serde_json::from_str(line).ok();
        let cut = json.is_none() && !whole && at + 1 == count;
        Record { json, cut }
    };
    Ok(lines.iter().enumerate().map(record).collect())
}

/// The session in these lines; `None` when Neco's own.
pub fn read(format: Program, records: Vec<Record>) -> Option<Foreign> {
    let mut foreign = Foreign::default();
    let mut values = Vec::with_capacity(records.len());
    for record in records {
        match record.json {
            Some(json) => values.push(json),
            None if record.cut => foreign.skipped.count("cut off"),
            None => foreign.skipped.count("no JSON"),
        }
    }
    match format {
        Program::Neco => return None,
        Program::ClaudeCode => claude_code::read(&values, &mut foreign),
        Program::Codex => codex::read(&values, &mut foreign),
        Program::GeminiCli => gemini_cli::read(&values, &mut foreign),
        Program::Opencode => opencode::read(&values, &mut foreign),
        Program::Openclaw => openclaw::read(&values, &mut foreign),
    }
    Some(foreign)
}
