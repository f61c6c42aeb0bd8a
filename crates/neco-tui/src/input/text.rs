//! A text with a cursor: moves and changes by the characters people see, never by bytes.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::term::ansi::is_steering;

/// Changes that can be taken back.
const UNDOS: usize = 100;

/// Bytes that they may take: of a long text fewer changes are kept.
const UNDO_BYTES: usize = 1024 * 1024;

/// A text that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// Always at the boundary of a character.
    cursor: usize,
    /// What was deleted last, or is kept as if it had been.
    pub(super) killed: String,
    /// How it was before a change, with the number of the change.
    undos: Vec<(String, usize, u64)>,
    pub(super) changes: u64,
}

/// Where to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One character back.
    Left,
    /// One character on.
    Right,
    /// To the beginning of the word.
    WordLeft,
    /// Behind the end of the word.
    WordRight,
    /// To the beginning of the next word.
    NextWord,
    /// To the last character of the word.
    WordEnd,
    /// To the beginning of the line.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the beginning.
    Start,
    /// To the end.
    End,
}

impl Text {
    /// The same text and cursor without its past.
    pub(super) fn bare(&self) -> Self {
        Self { text: self.text.clone(), cursor: self.cursor, ..Self::default() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where the cursor is, in bytes.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Another text, with the cursor at its end.
    pub fn set(&mut self, text: impl Into<String>) {
        self.remember();
        self.text = text.into();
        self.text.retain(is_shown);
        self.cursor = self.text.len();
    }

    /// Takes the text away.
    pub fn take(&mut self) -> String {
        self.cursor = 0;
        self.undos.clear();
        std::mem::take(&mut self.text)
    }

    /// Writes at the cursor.
    pub fn insert(&mut self, text: &str) {
        self.remember();
        let text: String = text.chars().filter(|char| is_shown(*char)).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Puts `text` in place of the bytes from `from` to the cursor.
    pub fn replace(&mut self, from: usize, text: &str) {
        if from > self.cursor || !self.text.is_char_boundary(from) {
            return;
        }
        self.remember();
        self.text.replace_range(from..self.cursor, text);
        self.cursor = from + text.len();
    }

    /// Puts `text` in place of what stands between two places; the cursor stays where it is in the rest.
    pub fn swap(&mut self, from: usize, until: usize, text: &str) {
        if self.text.get(from..until).is_none() {
            return;
        }
        self.remember();
        self.text.replace_range(from..until, text);
        if self.cursor >= until {
            self.cursor = self.cursor - (until - from) + text.len();
        } else if self.cursor > from {
            self.cursor = from + text.len();
        }
    }

    pub fn go(&mut self, to: Move) {
        self.cursor = self.target(to);
    }

    /// Deletes from the cursor to where `to` would go; more than a character can be put back.
    pub fn delete(&mut self, to: Move) {
        let target = self.target(to);
        let (from, until) = (target.min(self.cursor), target.max(self.cursor));
        if from == until {
            return;
        }
        self.remember();
        let gone: String = self.text.drain(from..until).collect();
        if !matches!(to, Move::Left | Move::Right) {
            self.killed = gone;
        }
        self.cursor = from;
    }

    /// Deletes from the cursor to a place.
    pub fn delete_to(&mut self, place: usize) {
        let (from, until) = (place.min(self.cursor), place.max(self.cursor));
        if from == until || !self.text.is_char_boundary(place) {
            return;
        }
        self.remember();
        self.killed = self.text.drain(from..until).collect();
        self.cursor = from;
    }

    /// Moves the cursor to a place.
    pub fn go_to(&mut self, place: usize) {
        if self.text.is_char_boundary(place) {
            self.cursor = place;
        }
    }

    /// Puts back what was deleted last.
    pub fn yank(&mut self) {
        let killed = self.killed.clone();
        if !killed.is_empty() {
            self.insert(&killed);
        }
    }

    /// Takes the last change back.
    pub fn undo(&mut self) {
        if let Some((text, cursor, _)) = self.undos.pop() {
            self.text = text;
            self.cursor = cursor;
        }
    }

    /// All changes since there were so many are taken back as one.
    pub fn as_one(&mut self, since: u64) {
        self.undos.retain(|(_, _, number)| *number <= since + 1);
    }

    /// What stands between two places.
    pub fn between(&self, from: usize, until: usize) -> &str {
        self.text.get(from..until).unwrap_or_default()
    }

    /// Deletes what stands between two places; it is not kept.
    pub fn remove(&mut self, from: usize, until: usize) {
        if from < until && self.text.get(from..until).is_some() {
            self.remember();
            self.text.drain(from..until);
            self.cursor = from;
        }
    }

    /// Where the line of the cursor begins and ends.
    pub fn line(&self) -> (usize, usize) {
        (self.target(Move::LineStart), self.target(Move::LineEnd))
    }

    /// One line up or down; false when there is none.
    pub fn vertical(&mut self, down: bool) -> bool {
        let column = self.before_cursor().rsplit('\n').next().unwrap_or_default().width();
        let begin = self.target(Move::LineStart);
        let line = if down {
            let end = self.target(Move::LineEnd);
            if end == self.text.len() {
                return false;
            }
            end + 1
        } else {
            if begin == 0 {
                return false;
            }
            self.text.get(..begin - 1).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
        };
        self.cursor = self.at_column(line, column);
        true
    }

    fn at_column(&self, line: usize, column: usize) -> usize {
        let rest = self.text.get(line..).unwrap_or_default();
        let rest = rest.split('\n').next().unwrap_or_default();
        let mut width = 0;
        for (at, glyph) in rest.grapheme_indices(true) {
            width += glyph.width();
            if width > column {
                return line + at;
            }
        }
        line + rest.len()
    }

    /// What stands before the cursor.
    pub fn before_cursor(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// What stands behind the cursor.
    pub fn after_cursor(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    fn target(&self, to: Move) -> usize {
        let (before, after) = (self.before_cursor(), self.after_cursor());
        match to {
            Move::Left => before.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
            Move::Right => self.cursor + after.graphemes(true).next().map_or(0, str::len),
            Move::WordLeft => {
                let trimmed = before.trim_end_matches(|char: char| !char.is_alphanumeric());
                let is_end = |char: char| !char.is_alphanumeric();
                let run = trimmed.rfind(is_end).map_or(0, |at| trimmed.ceil_char_boundary(at + 1));
                // Where words have no blanks between them, a run of letters is many of them.
                let mut words = trimmed.get(run..).unwrap_or_default().unicode_word_indices();
                run + words.next_back().map_or(0, |(at, _)| at)
            }
            Move::WordRight => {
                let skipped = after.find(char::is_alphanumeric).unwrap_or(after.len());
                let word = after.get(skipped..).unwrap_or_default();
                let length = word.find(|char: char| !char.is_alphanumeric()).unwrap_or(word.len());
                let first = word.get(..length).and_then(|run| run.unicode_word_indices().next());
                self.cursor + skipped + first.map_or(length, |(at, word)| at + word.len())
            }
            Move::NextWord => {
                let rest = after.trim_start_matches(|char: char| char.is_alphanumeric());
                let rest = if rest.len() == after.len() { skip_one(after) } else { rest };
                self.text.len() - rest.trim_start().len()
            }
            Move::WordEnd => {
                let next = skip_one(after).trim_start();
                let word = next.trim_start_matches(|char: char| char.is_alphanumeric());
                let end = if word.len() == next.len() { skip_one(next).len() } else { word.len() };
                let end = self.text.len() - end;
                let last = self.text.get(..end).and_then(|text| text.graphemes(true).next_back()).map_or(0, str::len);
                (end - last).max(self.cursor)
            }
            Move::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            Move::LineEnd => self.cursor + after.find('\n').unwrap_or(after.len()),
            Move::Start => 0,
            Move::End => self.text.len(),
        }
    }

    fn remember(&mut self) {
        let kept = (UNDO_BYTES / self.text.len().max(1)).clamp(2, UNDOS);
        let beyond = (self.undos.len() + 1).saturating_sub(kept);
        self.undos.drain(..beyond);
        self.changes += 1;
        self.undos.push((self.text.clone(), self.cursor, self.changes));
    }
}

/// Whether a character has a place in a field: what steers a terminal has none.
fn is_shown(char: char) -> bool {
    char == '\n' || char == '\t' || !is_steering(char)
}

/// Without the first character.
fn skip_one(text: &str) -> &str {
    let first = text.graphemes(true).next().map_or(0, str::len);
    text.get(first..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(text: &str) -> Text {
        let mut typed = Text::default();
        typed.insert(text);
        typed
    }

    #[test]
    fn moves_by_what_people_see() {
        let mut text = typed("héllo 👩‍👩‍👧漢");
        text.go(Move::Left);
        text.delete(Move::Left);
        assert_eq!(text.as_str(), "héllo 漢");
        text.go(Move::WordLeft);
        text.delete(Move::LineEnd);
        assert_eq!(text.as_str(), "");
        text.undo();
        assert_eq!(text.as_str(), "héllo 漢");
        text.delete(Move::End);
        text.yank();
        assert_eq!(text.as_str(), "héllo 漢");
    }

    #[test]
    fn words_end_where_a_script_ends_them() {
        for (before, after) in [
            ("say hello", "say "),
            ("上传失败", "上传失"),
            ("重试upload", "重试"),
            ("テスト", ""),
            ("src/main", "src/"),
            ("один два", "один "),
        ] {
            let mut text = typed(before);
            text.delete(Move::WordLeft);
            assert_eq!(text.as_str(), after, "{before}");
        }
        let mut text = typed("重试 once");
        text.go(Move::Start);
        text.delete(Move::WordRight);
        assert_eq!(text.as_str(), "试 once");
    }

    #[test]
    fn up_and_down_keep_the_column() {
        let mut text = typed("first line\nab\nthird line");
        assert!(text.vertical(false));
        assert!(text.vertical(false));
        assert_eq!(text.cursor(), 2);
        assert!(!text.vertical(false));
        assert!(text.vertical(true));
        assert!(text.vertical(true));
        assert!(!text.vertical(true));
    }

    proptest! {
        #[test]
        fn the_cursor_is_never_inside_a_character(steps in proptest::collection::vec((0u8..12, "[a漢é👍\n ]{0,3}"), 0..60)) {
            let mut text = Text::default();
            let moves = [Move::Left, Move::Right, Move::WordLeft, Move::WordRight, Move::LineStart, Move::LineEnd];
            for (step, piece) in steps {
                match step {
                    0..=5 => text.go(moves[usize::from(step)]),
                    6 => text.delete(Move::Left),
                    7 => text.delete(Move::WordLeft),
                    8 => drop(text.vertical(true)),
                    9 => drop(text.vertical(false)),
                    10 => text.undo(),
                    _ => text.insert(&piece),
                }
                prop_assert!(text.as_str().is_char_boundary(text.cursor()));
            }
        }
    }
}
