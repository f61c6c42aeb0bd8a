//! What changed in a file between two states, change by change, and the file with some of the changes undone.
//!
//! A change has a name that is made of what it says: who reverts it or keeps it means exactly that.

use std::collections::HashMap;
use std::ops::Range;

use gix::hash;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::checkpoint::{FileSides, Side};

/// Lines around a change.
const AROUND: usize = 3;

/// Bytes at the beginning of a file that are looked at for zeros, as git does.
const LOOKED_AT: usize = 8000;

/// Digits of a name.
const DIGITS: usize = 24;

/// How a file is different.
#[derive(Debug)]
pub struct Review<'s> {
    sides: &'s FileSides,
    before: Vec<&'s [u8]>,
    after: Vec<&'s [u8]>,
    /// Whether it has no lines that could be compared.
    pub is_binary: bool,
    /// The changes, first to last.
    pub changes: Vec<FileChange>,
}

/// A change of a file with the lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// A name for exactly this change, wherever in the file it stands.
    pub id: String,
    /// The lines that it is about, from 0, before and after.
    pub lines: (Range<usize>, Range<usize>),
    /// What stays, goes and comes in it, first to last.
    pub pieces: Vec<Piece>,
}

/// Lines of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// They stay; their places before.
    Same(Range<usize>),
    /// The first go, and the others come in their place.
    Changed(Range<usize>, Range<usize>),
}

impl<'s> Review<'s> {
    /// Compares what a file held with what it holds.
    #[must_use]
    pub fn of(sides: &'s FileSides) -> Self {
        let content = |side: &'s Option<Side>| side.as_ref().map_or(&[][..], |side| &side.content);
        let (before, after) = (content(&sides.before), content(&sides.after));
        let is_binary = is_binary(before) || is_binary(after);
        if is_binary {
            return Self { sides, before: Vec::new(), after: Vec::new(), is_binary, changes: Vec::new() };
        }
        let (before, after) = (lines(before), lines(after));
        let found = capture_diff_slices(Algorithm::Myers, &before, &after);
        let mut review = Self { sides, before, after, is_binary, changes: Vec::new() };
        let mut seen = HashMap::new();
        for group in group_diff_ops(found, AROUND) {
            let mut change = FileChange::of(&group);
            let name = review.name_of(&change);
            // The same change can stand in a file more than once.
            let times: &mut usize = seen.entry(name.clone()).or_default();
            *times += 1;
            change.id = if *times == 1 { name } else { format!("{name}-{times}") };
            review.changes.push(change);
        }
        review
    }

    /// A name for exactly this change of this file.
    #[must_use]
    pub fn mark(&self) -> String {
        let side = |side: &Option<Side>| match side {
            Some(Side { form, content }) => vec![form.clone().into_bytes(), content.clone()],
            None => vec![b"none".to_vec()],
        };
        let all = [vec![self.path()], side(&self.sides.before), side(&self.sides.after)].concat();
        name(all.iter().map(Vec::as_slice))
    }

    /// How many lines the file had, and has.
    #[must_use]
    pub fn line_counts(&self) -> (usize, usize) {
        (self.before.len(), self.after.len())
    }

    /// How many lines came, and how many went.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let pieces = self.changes.iter().flat_map(|change| &change.pieces);
        pieces.fold((0, 0), |(added, removed), piece| match piece {
            Piece::Same(_) => (added, removed),
            Piece::Changed(old, new) => (added + new.len(), removed + old.len()),
        })
    }

    /// Lines that the file had.
    #[must_use]
    pub fn before(&self, lines: &Range<usize>) -> &[&'s [u8]] {
        self.before.get(lines.clone()).unwrap_or_default()
    }

    /// Lines that it has.
    #[must_use]
    pub fn after(&self, lines: &Range<usize>) -> &[&'s [u8]] {
        self.after.get(lines.clone()).unwrap_or_default()
    }

    /// What the file holds when these changes are undone; nothing where it has no such change.
    #[must_use]
    pub fn without(&self, ids: &[String]) -> Option<Vec<u8>> {
        let is_there = |id: &String| self.changes.iter().any(|change| change.id == *id);
        if !ids.iter().all(is_there) {
            return None;
        }
        let mut content = Vec::new();
        let mut at = 0;
        for change in self.changes.iter().filter(|change| ids.contains(&change.id)) {
            let (old, new) = &change.lines;
            content.extend(self.after(&(at..new.start)).concat());
            content.extend(self.before(old).concat());
            at = new.end;
        }
        content.extend(self.after(&(at..self.after.len())).concat());
        Some(content)
    }

    /// The head of what a change stands in: of the lines above it that are indented less and less, the first one that
    /// defines something.
    #[must_use]
    pub fn heading(&self, change: &FileChange) -> Option<String> {
        let changed = change.pieces.iter().filter_map(|piece| match piece {
            Piece::Changed(old, new) => {
                let lines = self.after(new).iter().chain(self.before(old));
                Some((old.start, indent(lines.into_iter().find(|line| !line.trim_ascii().is_empty())?)))
            }
            Piece::Same(_) => None,
        });
        let (at, mut indented) = changed.into_iter().next()?;
        for line in self.before.get(..at)?.iter().rev().take(HEADING_ABOVE) {
            let is_above = indent(line) < indented && !line.trim_ascii().is_empty();
            indented = if is_above { indent(line) } else { indented };
            let text = String::from_utf8_lossy(line);
            if is_above && defines(&text) {
                let head = text.trim().trim_end_matches(['{', ':']).trim_end();
                return Some(head.chars().take(LONGEST_HEADING).collect());
            }
        }
        None
    }

    fn path(&self) -> Vec<u8> {
        self.sides.change.path.as_os_str().as_encoded_bytes().to_vec()
    }

    fn name_of(&self, change: &FileChange) -> String {
        let mut said: Vec<Vec<u8>> = vec![self.path()];
        for piece in &change.pieces {
            match piece {
                Piece::Same(lines) => said.extend([b" ".to_vec(), self.before(lines).concat()]),
                Piece::Changed(old, new) => {
                    said.extend([b"-".to_vec(), self.before(old).concat(), b"+".to_vec(), self.after(new).concat()])
                }
            }
        }
        name(said.iter().map(Vec::as_slice))
    }
}

/// So many lines above a change are looked at for a heading.
const HEADING_ABOVE: usize = 400;

/// Characters of a heading.
const LONGEST_HEADING: usize = 100;

fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Words that begin what stands under a name, in one language or another.
const DEFINES: &[&str] = &[
    "class",
    "def",
    "enum",
    "fn",
    "func",
    "function",
    "impl",
    "interface",
    "mod",
    "module",
    "namespace",
    "proc",
    "struct",
    "sub",
    "trait",
];

/// Whether a line begins something with a name.
fn defines(line: &str) -> bool {
    let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
    words.take(DEFINED_WITHIN).any(|word| DEFINES.contains(&word))
}

/// So many words can stand before the one that says what is defined: `pub(crate) async unsafe fn`.
const DEFINED_WITHIN: usize = 5;

impl FileChange {
    /// The change of operations that stand together; it has no name yet.
    fn of(group: &[DiffOp]) -> Self {
        let piece = |op: &DiffOp| match op {
            DiffOp::Equal { .. } => Piece::Same(op.old_range()),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                Piece::Changed(op.old_range(), op.new_range())
            }
        };
        let around = |range: fn(&DiffOp) -> Range<usize>| {
            let ends = group.first().map(range).zip(group.last().map(range));
            ends.map_or(0..0, |(first, last)| first.start..last.end)
        };
        let lines = (around(DiffOp::old_range), around(DiffOp::new_range));
        Self { id: String::new(), lines, pieces: group.iter().map(piece).collect() }
    }
}

/// The lines of a file, each with its end.
fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

fn is_binary(content: &[u8]) -> bool {
    content.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

/// A name for exactly these pieces, one after the other.
fn name<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = hash::hasher(hash::Kind::Sha256);
    for piece in pieces {
        hasher.update(&piece.len().to_le_bytes());
        hasher.update(piece);
    }
    // Where a hash of this kind can't be had there is none to compare with, so nothing is ever the same.
    let sum = hasher.try_finalize().map(|sum| sum.to_string()).unwrap_or_default();
    sum.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::checkpoint::{Change, ChangeKind};

    fn sides(before: &str, after: &str) -> FileSides {
        let side = |text: &str| Some(Side { form: "100644".to_owned(), content: text.as_bytes().to_vec() });
        let change = Change { path: "a.rs".into(), kind: ChangeKind::Modified };
        FileSides { change, before: side(before), after: side(after) }
    }

    fn numbered(count: usize) -> String {
        (0..count).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn a_change_is_undone_by_its_name_and_the_others_stay() {
        let before = numbered(40);
        let after = before.replace("line 5\n", "line five\n").replace("line 30\n", "line 30\nand more\n");
        let found = sides(&before, &after);
        let review = Review::of(&found);
        assert_eq!((review.changes.len(), review.counts(), review.line_counts()), (2, (2, 1), (40, 41)));
        let first = review.without(&[review.changes[0].id.clone()]).unwrap();
        assert_eq!(String::from_utf8(first).unwrap(), before.replace("line 30\n", "line 30\nand more\n"));
        let both: Vec<String> = review.changes.iter().map(|change| change.id.clone()).collect();
        assert_eq!(review.without(&both).unwrap(), before.as_bytes());
        assert_eq!(review.without(&["another".to_owned()]), None);
        // It keeps its name when something above it changes, and loses it when it says something else.
        let moved = sides(&before, &format!("new\n{after}"));
        assert!(Review::of(&moved).changes.iter().any(|change| change.id == review.changes[1].id));
        assert_ne!(Review::of(&moved).mark(), review.mark());
        let other = sides(&before, &after.replace("and more", "and less"));
        assert!(Review::of(&other).changes.iter().all(|change| change.id != review.changes[1].id));
    }

    #[test]
    fn a_change_that_stands_there_twice_has_two_names() {
        let part = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let before = part.repeat(2);
        let found = sides(&before, &before.replace("d\n", "D\n"));
        let review = Review::of(&found);
        let [one, other] = review.changes.as_slice() else { panic!("{review:?}") };
        assert_ne!(one.id, other.id);
        let last = String::from_utf8(review.without(std::slice::from_ref(&other.id)).unwrap()).unwrap();
        assert_eq!(last, format!("{}{part}", part.replace("d\n", "D\n")));
    }

    #[test]
    fn a_heading_is_what_the_change_stands_in_and_binary_files_have_no_lines() {
        let before =
            "impl Client {\n    async fn put(&self) -> u8 {\n        let a = 1;\n        let b = 2;\n    }\n}\n";
        let found = sides(before, &before.replace("b = 2", "b = 3"));
        let review = Review::of(&found);
        assert_eq!(review.heading(&review.changes[0]).unwrap(), "async fn put(&self) -> u8");
        let top = sides("use a;\n", "use b;\n");
        assert_eq!(Review::of(&top).heading(&Review::of(&top).changes[0]), None);
        let binary = sides("a\0b", "a\0c");
        assert!(Review::of(&binary).is_binary && Review::of(&binary).changes.is_empty());
    }

    proptest! {
        #[test]
        fn all_changes_undone_is_what_was_there(before in "([ab]{0,1}\n){0,30}[ab]?", after in "([ab]{0,1}\n){0,30}[ab]?") {
            let found = sides(&before, &after);
            let review = Review::of(&found);
            let all: Vec<String> = review.changes.iter().map(|change| change.id.clone()).collect();
            prop_assert_eq!(review.without(&all).unwrap(), before.into_bytes());
            prop_assert_eq!(review.without(&[]).unwrap(), after.into_bytes());
        }
    }
}
