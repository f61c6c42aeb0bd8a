//! The outline of one file, read from the file as it is now.

use std::fmt::Write;
use std::path::Path;

use neco_proto::ErrorCode;
use neco_safety::path::Located;
use neco_toolkit::{ToolError, ToolOutput, counted};
use neco_workspace::index::{Language, OutlineItem, outline};

use super::page::cut;

/// Larger files are data.
const MOST_BYTES: u64 = 4 << 20;
/// Where a zero byte makes a file no text.
const LOOKED_AT: usize = 8192;

/// The definitions of a file with the lines that they stand in.
/// Fails when it is a folder, can't be read, or is not in a language that is known.
pub fn show(file: &Located, bytes: usize) -> Result<ToolOutput, ToolError> {
    let shown = file.shown();
    if file.metadata()?.is_dir() {
        return Err(ToolError::failed(format!(
            "{shown} is a folder; use action map with this path, or outline a file"
        )));
    }
    let unknown = || ToolError::failed(format!("{shown} is in no language whose outline is known; use read_file"));
    let language = Language::of(Path::new(&shown)).ok_or_else(unknown)?;
    let (content, _) = file.read(MOST_BYTES + 1)?;
    if content.len() as u64 > MOST_BYTES {
        return Err(ToolError::new(ErrorCode::FileTooLarge, format!("{shown} is too large for an outline; use grep")));
    }
    if content.iter().take(LOOKED_AT).any(|byte| *byte == 0) {
        return Err(ToolError::new(ErrorCode::NotATextFile, format!("{shown} is no text")));
    }
    let text = String::from_utf8_lossy(&content);
    let items = outline(language, &text).ok_or_else(unknown)?;
    Ok(print(&shown, &text, &items, bytes))
}

fn print(shown: &str, text: &str, items: &[OutlineItem], bytes: usize) -> ToolOutput {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    let (mut left_out, mut cut_off) = (0, 0);
    for item in items {
        if item.kind.is_some_and(|kind| !kind.is_shape()) {
            left_out += 1;
            continue;
        }
        let line = lines.get((item.line as usize).wrapping_sub(1)).map_or("", |line| line.trim());
        let line = format!("{}–{}: {}{}\n", item.line, item.end_line, "  ".repeat(item.depth), cut(line));
        if out.len() + line.len() > bytes {
            cut_off += 1;
        } else {
            out.push_str(&line);
        }
    }
    let end = out.len();
    let _ = writeln!(out, "({shown}, {})", counted(lines.len(), "line", "lines"));
    if left_out > 0 {
        let _ = writeln!(out, "({} left out)", counted(left_out, "field or variant", "fields and variants"));
    }
    if cut_off > 0 {
        let more = counted(cut_off, "more definition does", "more definitions do");
        let _ = writeln!(out, "({more} not fit here; read the file)");
    }
    ToolOutput::text(out).outside(..end, shown)
}
