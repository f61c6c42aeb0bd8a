//! The change of a file as a person reads it: a unified diff, cheap for small changes to big files.

use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use neco_proto::Diff;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::text::{count_lines, is_crlf};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// A change that spans more than this is summed up.
const MOST_BYTES: usize = 1024 * 1024;
/// A diff of more lines than this is summed up.
const MOST_LINES: usize = 2000;
/// A diff that takes longer than this is coarser, not later.
const LONGEST: Duration = Duration::from_millis(200);

/// What became of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// For the person.
    pub diff: Diff,
    /// The stretches of lines of the new text that differ, counted from zero; empty when summed up.
    pub regions: Vec<Range<usize>>,
}

/// The change from `old` (`None` for a new file) to `new`.
pub fn change(path: &str, old: Option<&[u8]>, new: &[u8]) -> Change {
    let created = old.is_none();
    let old = old.unwrap_or_default();
    let window = Window::between(old, new);
    let mut diff =
        Diff { path: path.to_owned(), unified: String::new(), added: 0, removed: 0, created, deleted: false };
    if window.old.len().max(window.new.len()) > MOST_BYTES {
        diff.added = small(count_lines(window.new));
        diff.removed = small(count_lines(window.old));
        diff.unified = summed_up(&diff);
        return Change { diff, regions: Vec::new() };
    }
    // Line endings that did not change are of no interest.
    let plain = is_crlf(old) && is_crlf(new);
    let (old_lines, new_lines) = (lines_of(window.old), lines_of(window.new));
    let deadline = Some(Instant::now() + LONGEST);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, deadline);
    let groups = group_diff_ops(ops, CONTEXT);
    let mut regions = Vec::new();
    for op in groups.iter().flatten().filter(|op| op.tag() != DiffTag::Equal) {
        diff.removed += small(op.old_range().len());
        diff.added += small(op.new_range().len());
        regions.push(window.line + op.new_range().start..window.line + op.new_range().end);
    }
    let hunks = Hunks { old: &old_lines, new: &new_lines, first_line: window.line, plain };
    diff.unified = hunks.print(&groups).unwrap_or_else(|| summed_up(&diff));
    Change { diff, regions }
}

fn summed_up(diff: &Diff) -> String {
    format!("(a change of {} added and {} removed lines, too long to show)\n", diff.added, diff.removed)
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The lines between the first and the last difference, with some context.
struct Window<'a> {
    old: &'a [u8],
    new: &'a [u8],
    /// Lines before it.
    line: usize,
}

impl<'a> Window<'a> {
    fn between(old: &'a [u8], new: &'a [u8]) -> Self {
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let start = back_by_lines(old, same, CONTEXT + 1);
        let (old_rest, new_rest) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
        let same_end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
        let keep = on_by_lines(old, old.len() - same_end, CONTEXT + 1) - (old.len() - same_end);
        let old_end = old.len() - same_end + keep;
        let new_end = new.len() - same_end + keep;
        Self {
            old: old.get(start..old_end).unwrap_or_default(),
            new: new.get(start..new_end).unwrap_or_default(),
            line: memchr::memchr_iter(b'\n', old.get(..start).unwrap_or_default()).count(),
        }
    }
}

/// The beginning of the line that lies `count - 1` lines before the one at `offset`.
fn back_by_lines(text: &[u8], offset: usize, count: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    memchr::memrchr_iter(b'\n', before).nth(count - 1).map_or(0, |newline| newline + 1)
}

/// The end of the line that lies `count - 1` lines after the one at `offset`.
fn on_by_lines(text: &[u8], offset: usize, count: usize) -> usize {
    let after = text.get(offset..).unwrap_or_default();
    memchr::memchr_iter(b'\n', after).nth(count - 1).map_or(text.len(), |newline| offset + newline + 1)
}

struct Hunks<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    first_line: usize,
    plain: bool,
}

impl Hunks<'_> {
    /// `None` when it is too long.
    fn print(&self, groups: &[Vec<DiffOp>]) -> Option<String> {
        let lines: usize = groups.iter().flatten().map(|op| op.old_range().len() + op.new_range().len()).sum();
        if lines > MOST_LINES {
            return None;
        }
        let mut text = String::new();
        for group in groups {
            self.header(&mut text, group);
            for op in group {
                self.lines(&mut text, op);
            }
        }
        Some(text)
    }

    fn header(&self, text: &mut String, group: &[DiffOp]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let side = |range: Range<usize>| match range.len() {
            0 => format!("{},0", self.first_line + range.start),
            1 => format!("{}", self.first_line + range.start + 1),
            length => format!("{},{length}", self.first_line + range.start + 1),
        };
        let _ = writeln!(text, "@@ -{} +{} @@", side(old), side(new));
    }

    fn lines(&self, text: &mut String, op: &DiffOp) {
        if op.tag() == DiffTag::Equal {
            self.side(text, ' ', self.new, op.new_range());
        } else {
            self.side(text, '-', self.old, op.old_range());
            self.side(text, '+', self.new, op.new_range());
        }
    }

    fn side(&self, text: &mut String, sign: char, lines: &[&[u8]], range: Range<usize>) {
        for line in lines.get(range).unwrap_or_default() {
            let whole = line.strip_suffix(b"\n");
            let body = whole.unwrap_or(line);
            let body = if self.plain { body.strip_suffix(b"\r").unwrap_or(body) } else { body };
            text.push(sign);
            text.push_str(&String::from_utf8_lossy(body));
            text.push('\n');
            if whole.is_none() {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_small_change_in_a_long_file_is_shown_with_its_place() {
        let old: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 500\n", "line five hundred\nand one more\n");
        let change = change("a.txt", Some(old.as_bytes()), new.as_bytes());
        let expected = "@@ -497,7 +497,8 @@\n line 497\n line 498\n line 499\n-line 500\n+line five hundred\n\
                        +and one more\n line 501\n line 502\n line 503\n";
        assert_eq!(change.diff.unified, expected);
        assert_eq!((change.diff.added, change.diff.removed, change.diff.created), (2, 1, false));
        assert_eq!(change.regions.as_slice(), std::slice::from_ref(&(499..501)));
    }

    #[test]
    fn edges_of_files() {
        let unified = |old: Option<&str>, new: &str| change("f", old.map(str::as_bytes), new.as_bytes()).diff.unified;
        assert_eq!(unified(None, "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(unified(Some("a\n"), ""), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified(Some("a\nb"), "a\nb\n"), "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
        assert_eq!(unified(Some("a\r\nb\r\n"), "a\r\nc\r\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified(Some("same\n"), "same\n"), "");
        assert!(unified(Some("a\r\n"), "a\n").contains("-a\r\n+a\n"));
    }

    #[test]
    fn giants_are_summed_up() {
        let long = "x\n".repeat(3000);
        let change = change("f", None, long.as_bytes());
        assert_eq!((change.diff.added, change.diff.unified.lines().count()), (3000, 1));
        let wide = "x".repeat(2 * MOST_BYTES);
        let change = super::change("f", Some(b"y"), wide.as_bytes());
        assert_eq!((change.diff.added, change.diff.removed), (1, 1));
        assert!(change.diff.unified.contains("too long"));
    }

    /// Applies a unified diff, as `patch` would.
    fn patched(old: &[u8], unified: &str) -> Vec<u8> {
        let old_lines = lines_of(old);
        let (mut result, mut at) = (Vec::new(), 0);
        let mut lines = unified.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let bare = lines.peek().is_some_and(|next| next.starts_with('\\'));
            let body = if bare { line[1..].trim_end_matches('\n') } else { &line[1..] };
            match line.as_bytes()[0] {
                b'@' => {
                    let range =
                        line.split([' ', ',']).nth(1).unwrap().trim_start_matches('-').parse::<usize>().unwrap();
                    let zero = line.split(' ').nth(1).unwrap().ends_with(",0");
                    let until = if zero { range } else { range - 1 };
                    result.extend(old_lines[at..until].concat());
                    at = until;
                }
                b' ' => {
                    assert_eq!(old_lines[at], body.as_bytes());
                    result.extend(body.as_bytes());
                    at += 1;
                }
                b'-' => {
                    assert_eq!(old_lines[at], body.as_bytes());
                    at += 1;
                }
                b'+' => result.extend(body.as_bytes()),
                b'\\' => {}
                other => panic!("{other}"),
            }
        }
        result.extend(old_lines[at..].concat());
        result
    }

    proptest! {
        #[test]
        fn applying_the_diff_gives_the_new_text(old in "([ab]?\n){0,30}[ab]?", new in "([ab]?\n){0,30}[ab]?") {
            let change = change("f", Some(old.as_bytes()), new.as_bytes());
            prop_assert_eq!(patched(old.as_bytes(), &change.diff.unified), new.as_bytes());
        }
    }
}
