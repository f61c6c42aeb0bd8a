//! Unified diffs, as `diff -u` and git write them and as models imitate them.

use super::envelope::no_newline;
use super::hunk::{Act, FilePatch, Hunk, Side};
use super::read::PatchError;

/// Reads a diff of any number of files. What stands before, between and after them is no matter.
pub fn read(lines: &[String]) -> Result<Vec<FilePatch>, PatchError> {
    let mut reader = Reader { lines, at: 0, files: Vec::new(), open: None };
    while let Some(line) = reader.peek(0) {
        reader.heading(line)?;
    }
    reader.close()?;
    if reader.files.is_empty() {
        return Err(PatchError::NoPatch);
    }
    Ok(reader.files)
}

struct Reader<'a> {
    lines: &'a [String],
    at: usize,
    files: Vec<FilePatch>,
    open: Option<Section>,
}

/// What is known so far of one file.
#[derive(Default)]
struct Section {
    /// `None` inside stands for `/dev/null`.
    old: Option<Option<String>>,
    new: Option<Option<String>>,
    /// From `diff --git`, for changes that have no other names.
    git: Option<(String, String)>,
    rename: Option<(String, String)>,
    copy: bool,
    created: bool,
    deleted: bool,
    notes: Vec<String>,
    refused: Option<&'static str>,
    hunks: Vec<Hunk>,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.lines.get(self.at + ahead).map(String::as_str)
    }

    fn heading(&mut self, line: &'a str) -> Result<(), PatchError> {
        if line.starts_with("@@") {
            return self.hunk(line);
        }
        if self.is_names(0) {
            if self.open.as_ref().is_some_and(|section| section.old.is_some()) {
                self.close()?;
            }
            let (old, new) =
                (name_of(line.get(4..).unwrap_or_default()), self.peek(1).map(|new| new.get(4..).unwrap_or_default()));
            let section = self.open.get_or_insert_default();
            let named = |name: String| Some(name).filter(|name| name != "/dev/null");
            section.old = Some(named(old));
            section.new = Some(named(name_of(new.unwrap_or_default())));
            self.at += 2;
            return Ok(());
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.close()?;
            self.open = Some(Section { git: git_names(names), ..Section::default() });
        } else if let Some(section) = &mut self.open {
            section.extended(line);
        }
        self.at += 1;
        Ok(())
    }

    fn is_names(&self, ahead: usize) -> bool {
        let begins = |at, sign| self.peek(at).is_some_and(|line| line.starts_with(sign));
        begins(ahead, "--- ") && begins(ahead + 1, "+++ ")
    }

    fn hunk(&mut self, line: &str) -> Result<(), PatchError> {
        let numbers = line.strip_prefix("@@").and_then(range_of);
        let is_named = |section: &Section| section.old.is_some() || section.git.is_some();
        if !self.open.as_ref().is_some_and(is_named) {
            return Err(PatchError::NoFile { line: self.at + 1 });
        }
        let mut hunk = Hunk::default();
        let mut left = Left::nothing();
        if let Some((range, heading)) = numbers {
            hunk.line = Some(range.start);
            hunk.heading = Some(heading.to_owned()).filter(|heading| !heading.is_empty());
            left = Left { old: range.count, new: new_count(line) };
        } else {
            let hint = line.trim_matches('@').trim();
            hunk.hints.extend(Some(hint.to_owned()).filter(|hint| !hint.is_empty() && !hint.starts_with("..")));
        }
        self.at += 1;
        self.lines_of(&mut hunk, left)?;
        if let Some(section) = &mut self.open {
            section.hunks.push(hunk);
        }
        Ok(())
    }

    fn lines_of(&mut self, hunk: &mut Hunk, mut left: Left) -> Result<(), PatchError> {
        while let Some(line) = self.peek(0) {
            let ends = line.starts_with("@@") || line.starts_with("diff --git ") || self.next_file_begins(left);
            if ends || (left.is_done() && line.trim_end() == "--") {
                break;
            }
            let mut characters = line.chars();
            let (side, text, bare) = match (characters.next(), characters.as_str()) {
                (Some('+'), text) => (Side::New, text, false),
                (Some('-'), text) => (Side::Old, text, false),
                (Some(' '), text) => (Side::Both, text, false),
                (None, _) => (Side::Both, "", left.is_done()),
                (Some('\r'), "") => (Side::Both, "\r", left.is_done()),
                (Some('\\'), _) => {
                    no_newline(hunk);
                    self.at += 1;
                    continue;
                }
                (Some(_), _) if left.is_done() => break,
                (Some(_), _) => return Err(PatchError::NoSign { line: self.at + 1, text: line.to_owned() }),
            };
            hunk.push(side, text, bare);
            left.take(side);
            self.at += 1;
        }
        Ok(())
    }

    /// Whether the names of the next file stand here. A removed line may look like one of them.
    fn next_file_begins(&self, left: Left) -> bool {
        let is_hunk = self.peek(2).is_none_or(|line| line.starts_with("@@"));
        self.is_names(0) && (left.is_done() || (is_hunk && (left.old, left.new) != (1, 1)))
    }

    fn close(&mut self) -> Result<(), PatchError> {
        let Some(section) = self.open.take() else { return Ok(()) };
        self.files.extend(section.file()?);
        Ok(())
    }
}

/// How many lines of a hunk are still to come, as its header has it.
#[derive(Clone, Copy)]
struct Left {
    old: usize,
    new: usize,
}

impl Left {
    fn nothing() -> Self {
        Self { old: 0, new: 0 }
    }

    fn is_done(self) -> bool {
        self.old == 0 && self.new == 0
    }

    fn take(&mut self, side: Side) {
        if side != Side::New {
            self.old = self.old.saturating_sub(1);
        }
        if side != Side::Old {
            self.new = self.new.saturating_sub(1);
        }
    }
}

fn new_count(header: &str) -> usize {
    let new = header.split_whitespace().find_map(|word| word.strip_prefix('+')).unwrap_or_default();
    new.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok()).unwrap_or(0)
}

/// Both names of `diff --git a/x b/x`. Without quotes a name with a space is told only by both being the same.
fn git_names(text: &str) -> Option<(String, String)> {
    if text.starts_with('"') {
        let (old, new) = text.get(1..)?.split_once("\" ")?;
        return Some((name_of(&format!("\"{old}\"")), name_of(new)));
    }
    let middle = text.match_indices(" b/").map(|(at, _)| at).find(|at| {
        let (old, new) = (text.get(..*at), text.get(at + 1..));
        old.and_then(|old| old.strip_prefix("a/")) == new.and_then(|new| new.strip_prefix("b/"))
    });
    let (old, new) = middle.map_or_else(|| text.split_once(' '), |at| Some((text.get(..at)?, text.get(at + 1..)?)))?;
    Some((old.to_owned(), new.to_owned()))
}

impl Section {
    /// A line between `diff --git` and the hunks.
    fn extended(&mut self, line: &str) {
        let name = |prefix: &str| line.strip_prefix(prefix).map(name_of);
        if let Some(from) = name("rename from ").or_else(|| name("copy from ")) {
            self.copy = line.starts_with("copy");
            self.rename.get_or_insert_default().0 = from;
        } else if let Some(to) = name("rename to ").or_else(|| name("copy to ")) {
            self.rename.get_or_insert_default().1 = to;
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.created = true;
            self.mode(mode);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.notes.push(format!("its permissions were not changed to {}", mode.trim()));
        } else if line.starts_with("deleted file mode ") {
            self.deleted = true;
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            self.refused = Some("it is a binary change, which can't be applied here");
        }
    }

    fn mode(&mut self, mode: &str) {
        match mode.trim() {
            "100755" => self.notes.push("it was not made executable; use chmod +x".to_owned()),
            "120000" => self.refused = Some("it makes a link, which can't be done here; use ln -s"),
            "160000" => self.refused = Some("it changes a submodule, which can't be done here"),
            _ => {}
        }
    }

    fn file(self) -> Result<Option<FilePatch>, PatchError> {
        let Some((old, new)) = self.names() else { return Ok(None) };
        let path = old.clone().or_else(|| new.clone()).unwrap_or_default();
        if let Some(why) = self.refused {
            return Err(PatchError::Impossible { path, why });
        }
        let act = match (old, new) {
            (None, None) => return Ok(None),
            (None, Some(_)) => Act::Add(added(&path, &self.hunks)?),
            (Some(_), None) => Act::Delete(self.hunks),
            (Some(old), Some(new)) => {
                let move_to = Some(new).filter(|new| *new != old);
                if self.hunks.is_empty() && move_to.is_none() {
                    let why = self.notes.into_iter().next().unwrap_or_else(|| "there is no hunk".to_owned());
                    return Err(PatchError::NoChange { path, why });
                }
                if let Some(at) = self.hunks.iter().position(|hunk| !hunk.changes()) {
                    return Err(PatchError::IdleHunk { hunk: at + 1, path });
                }
                Act::Update { hunks: self.hunks, move_to, copy: self.copy }
            }
        };
        Ok(Some(FilePatch { path, act, notes: self.notes }))
    }

    /// Both names; none stands for no file.
    fn names(&self) -> Option<(Option<String>, Option<String>)> {
        if let Some((from, to)) = self.rename.clone().filter(|(from, to)| !from.is_empty() && !to.is_empty()) {
            return Some((Some(from), Some(to)));
        }
        if let (Some(old), Some(new)) = (self.old.clone(), self.new.clone()) {
            return Some(without_prefixes(old, new));
        }
        let (old, new) = self.git.clone()?;
        let (old, new) = without_prefixes(Some(old), Some(new));
        match (self.created, self.deleted) {
            (true, _) => Some((None, new)),
            (_, true) => Some((old, None)),
            (false, false) => Some((old, new)),
        }
    }
}

/// The content of a new file.
fn added(path: &str, hunks: &[Hunk]) -> Result<String, PatchError> {
    let mut text = String::new();
    for hunk in hunks {
        let lines = hunk.lines.iter().take(hunk.lines.len().saturating_sub(hunk.loose_end));
        for line in lines {
            if line.side != Side::New {
                return Err(PatchError::OldLines { path: path.to_owned() });
            }
            text.push_str(&line.text);
            text.push('\n');
        }
    }
    if hunks.last().is_some_and(|hunk| hunk.new_unended) {
        text.pop();
    }
    Ok(text)
}

/// The numbers of one side of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first line, counted from one; with a count of zero, the line before.
    pub start: usize,
    /// How many lines.
    pub count: usize,
}

/// The old side of ` -1,4 +1,5 @@ heading` and the heading; `None` when it is nothing of the kind.
pub fn range_of(text: &str) -> Option<(LineRange, &str)> {
    let rest = text.trim_start().strip_prefix('-')?;
    let (old, rest) = rest.split_once(' ')?;
    let (new, heading) = rest.trim_start().strip_prefix('+')?.split_once("@@")?;
    side_of(new.trim())?;
    Some((side_of(old)?, heading.trim()))
}

fn side_of(text: &str) -> Option<LineRange> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some(LineRange { start: start.parse().ok()?, count: count.parse().ok()? })
}

/// A name after `--- `, `+++ `, `rename from ` and the like; quoted as C does it, or up to a tab.
pub fn name_of(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => text.split('\t').next().unwrap_or(text).trim_end().to_owned(),
    }
}

fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => match characters.next() {
                Some('n') => bytes.push(b'\n'),
                Some('t') => bytes.push(b'\t'),
                Some('r') => bytes.push(b'\r'),
                Some(first @ '0'..='7') => {
                    let mut value = first.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let Some(digit) = characters.peek().and_then(|next| next.to_digit(8)) else { break };
                        value = value * 8 + digit;
                        characters.next();
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(other) => bytes.extend(other.to_string().as_bytes()),
                None => {}
            },
            other => bytes.extend(other.to_string().as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Both names of a file without the `a/` and `b/` that git puts before them.
pub fn without_prefixes(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    const PAIRS: [(&str, &str); 6] =
        [("a/", "b/"), ("i/", "w/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/"), ("b/", "a/")];
    let fits = |name: &Option<String>, prefix: &str| name.as_ref().is_none_or(|name| name.starts_with(prefix));
    let pair = PAIRS.iter().find(|(first, second)| fits(&old, first) && fits(&new, second));
    let Some((first, second)) = pair else { return (old, new) };
    let cut =
        |name: Option<String>, prefix: &str| name.map(|name| name.strip_prefix(prefix).unwrap_or(&name).to_owned());
    (cut(old, first), cut(new, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_prefixes() {
        let range = |start, count| LineRange { start, count };
        assert_eq!(range_of(" -1,4 +1,5 @@ fn main() {"), Some((range(1, 4), "fn main() {")));
        assert_eq!(range_of(" -7 +8 @@"), Some((range(7, 1), "")));
        assert_eq!(range_of(" class A"), None);
        assert_eq!(range_of(" -x +y @@"), None);
        assert_eq!(name_of("a/x y.txt\t2024-01-01"), "a/x y.txt");
        assert_eq!(name_of("\"a/\\303\\244\\\"\\t.txt\""), "a/ä\"\t.txt");
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(without_prefixes(some("a/x"), some("b/x")), (some("x"), some("x")));
        assert_eq!(without_prefixes(None, some("b/x")), (None, some("x")));
        assert_eq!(without_prefixes(some("a/x"), some("a/x")), (some("a/x"), some("a/x")));
        assert_eq!(without_prefixes(some("src/x"), some("src/x")), (some("src/x"), some("src/x")));
    }
}
