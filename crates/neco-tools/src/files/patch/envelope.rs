//! The envelope format: `*** Begin Patch`, a section a file, `*** End Patch`.

use super::hunk::{Act, FilePatch, Hunk, Side};
use super::read::PatchError;
use super::unified::range_of;

pub const ADD: &str = "*** Add File: ";
pub const DELETE: &str = "*** Delete File: ";
pub const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Reads the sections from the line `at` on.
pub fn read(lines: &[String], at: usize) -> Result<Vec<FilePatch>, PatchError> {
    let mut reader = Reader { lines, at };
    let mut files = Vec::new();
    while let Some(line) = reader.next() {
        let number = reader.at;
        if line.trim_end() == END {
            break;
        }
        if let Some(path) = line.strip_prefix(ADD) {
            files.push(file(path, Act::Add(reader.added()?), number)?);
        } else if let Some(path) = line.strip_prefix(DELETE) {
            files.push(file(path, Act::Delete(Vec::new()), number)?);
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let act = reader.update(path)?;
            files.push(file(path, act, number)?);
        } else if !line.trim().is_empty() {
            return Err(PatchError::NoHeading { line: number, text: line.to_owned() });
        }
    }
    Ok(files)
}

fn file(path: &str, act: Act, line: usize) -> Result<FilePatch, PatchError> {
    let path = path.trim();
    if path.is_empty() {
        return Err(PatchError::NoPath { line });
    }
    Ok(FilePatch { path: path.to_owned(), act, notes: Vec::new() })
}

struct Reader<'a> {
    lines: &'a [String],
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at)?;
        self.at += 1;
        Some(line)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).map(String::as_str)
    }

    /// The next line, unless another section begins there or the patch ends.
    fn in_section(&mut self) -> Option<&'a str> {
        let is_heading = |line: &str| [ADD, DELETE, UPDATE].iter().any(|heading| line.starts_with(heading));
        self.peek().filter(|line| !is_heading(line) && line.trim_end() != END)?;
        self.next()
    }

    fn added(&mut self) -> Result<String, PatchError> {
        let mut text = String::new();
        while let Some(line) = self.in_section() {
            match line.strip_prefix('+') {
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
                None if line.trim().is_empty() && self.rest_is_blank() => {}
                None => return Err(PatchError::NoPlus { line: self.at }),
            }
        }
        Ok(text)
    }

    /// Whether nothing but empty lines comes before the next section.
    fn rest_is_blank(&self) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        rest.iter().find(|line| !line.trim().is_empty()).is_none_or(|line| line.starts_with("*** "))
    }

    fn update(&mut self, path: &str) -> Result<Act, PatchError> {
        let move_to = self.peek().and_then(|line| line.strip_prefix(MOVE)).map(|to| to.trim().to_owned());
        if move_to.is_some() {
            self.at += 1;
        }
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut open = Hunk::default();
        while let Some(line) = self.in_section() {
            if let Some(hint) = line.strip_prefix("@@") {
                if !open.lines.is_empty() {
                    hunks.push(std::mem::take(&mut open));
                }
                place(&mut open, hint);
            } else if line.trim_end() == END_OF_FILE {
                open.at_end = true;
                hunks.push(std::mem::take(&mut open));
            } else {
                self.line(&mut open, line)?;
            }
        }
        if !open.lines.is_empty() || !open.hints.is_empty() {
            hunks.push(open);
        }
        // Empty lines between sections make no hunk.
        hunks.retain(|hunk| hunk.lines.len() > hunk.loose_end || !hunk.hints.is_empty());
        if let Some(at) = hunks.iter().position(|hunk| !hunk.changes()) {
            return Err(PatchError::IdleHunk { hunk: at + 1, path: path.trim().to_owned() });
        }
        if hunks.is_empty() && move_to.is_none() {
            return Err(PatchError::NoHunk { path: path.trim().to_owned() });
        }
        Ok(Act::Update { hunks, move_to, copy: false })
    }

    fn line(&self, hunk: &mut Hunk, line: &str) -> Result<(), PatchError> {
        let mut characters = line.chars();
        match (characters.next(), characters.as_str()) {
            (Some('+'), text) => hunk.push(Side::New, text, false),
            (Some('-'), text) => hunk.push(Side::Old, text, false),
            (Some(' '), text) => hunk.push(Side::Both, text, false),
            (None, _) => hunk.push(Side::Both, "", true),
            (Some('\r'), "") => hunk.push(Side::Both, "\r", true),
            (Some('\\'), _) => no_newline(hunk),
            (Some(_), _) => return Err(PatchError::NoSign { line: self.at, text: line.to_owned() }),
        }
        Ok(())
    }
}

/// `\ No newline at end of file` after the last line.
pub fn no_newline(hunk: &mut Hunk) {
    match hunk.lines.last().map(|line| line.side) {
        Some(Side::Both) => (hunk.old_unended, hunk.new_unended) = (true, true),
        Some(Side::Old) => hunk.old_unended = true,
        Some(Side::New) => hunk.new_unended = true,
        None => {}
    }
}

/// What follows `@@`: line numbers as in a unified diff, or a line to stand below.
fn place(hunk: &mut Hunk, hint: &str) {
    if let Some((range, heading)) = range_of(hint) {
        hunk.line = Some(range.start);
        hunk.heading = Some(heading.to_owned()).filter(|heading| !heading.is_empty());
        return;
    }
    let hint = hint.trim().trim_end_matches("@@").trim();
    // Some models write dots for what they leave out.
    if !hint.is_empty() && !hint.chars().all(|character| matches!(character, '.' | '…')) {
        hunk.hints.push(hint.to_owned());
    }
}
